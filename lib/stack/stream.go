package stack

import (
	"fmt"

	"vperf/lib/record"
)

// A Stream holds the frames and stacks of one record stream. It numbers the stacks from 1
// in the order in which they come, whatever their ids are.
type Stream struct {
	frames []record.Frame
	stacks []node // of positions in frames and stacks, not of ids
	frame  map[record.ID]int
	stack  map[record.ID]int
}

// NewStream returns an empty Stream. Ids are scoped to a stream: every stream record
// needs a new one.
func NewStream() *Stream {
	return &Stream{stacks: make([]node, 1), frame: map[record.ID]int{}, stack: map[record.ID]int{0: 0}}
}

// AddFrame takes a frame record.
func (s *Stream) AddFrame(f *record.Frame) error {
	if _, ok := s.frame[f.ID]; ok || f.ID == 0 {
		return fmt.Errorf("frame %d was defined before", f.ID)
	}
	s.frame[f.ID] = len(s.frames)
	s.frames = append(s.frames, *f)
	return nil
}

// AddStack takes a stack record. What it refers to must have come before it, so no stack
// is its own caller.
func (s *Stream) AddStack(k *record.Stack) error {
	frame, ok := s.frame[k.Frame]
	if !ok {
		return fmt.Errorf("stack %d is of frame %d, which was not defined", k.ID, k.Frame)
	}
	parent, ok := s.stack[k.Parent]
	if !ok {
		return fmt.Errorf("stack %d is called from stack %d, which was not defined", k.ID, k.Parent)
	}
	if _, ok := s.stack[k.ID]; ok {
		return fmt.Errorf("stack %d was defined before", k.ID)
	}
	s.stack[k.ID] = len(s.stacks)
	s.stacks = append(s.stacks, node{parent: record.ID(parent), frame: record.ID(frame)})
	return nil
}

// Number returns the number of the stack with an id; that of id 0, no frames, is 0.
func (s *Stream) Number(id record.ID) (n int, ok bool) {
	n, ok = s.stack[id]
	return n, ok
}

// Frames appends the frames of a stack, by number, to dst, leaf first.
func (s *Stream) Frames(dst []record.Frame, number int) []record.Frame {
	for number != 0 {
		n := s.stacks[number]
		dst = append(dst, s.frames[n.frame])
		number = int(n.parent)
	}
	return dst
}
