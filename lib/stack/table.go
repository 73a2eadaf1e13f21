// Package stack keeps call stacks as a trie of interned frames, so that a prefix that
// stacks share is stored once, and folds samples over it: weights per stack, self and
// inclusive weights per function, folded text.
package stack

import "vperf/lib/record"

// An Interner gives frames and stacks their ids. [Table] keeps them in memory,
// [record.Interner] writes them into a stream.
type Interner interface {
	// Frame returns the id of a frame, whose ID field is not looked at.
	Frame(record.Frame) record.ID
	// Stack returns the id of the stack that frame makes when called from parent, which is
	// 0 for a root.
	Stack(parent, frame record.ID) record.ID
}

var (
	_ Interner = (*Table)(nil)
	_ Interner = (*record.Interner)(nil)
)

// A Table holds distinct frames and stacks. Ids count from 1, and a stack's id is larger
// than its parent's, so that one pass in the order of ids meets callers before callees.
type Table struct {
	frames  []record.Frame
	stacks  []node
	byFrame map[record.Frame]record.ID
	byStack map[node]record.ID
}

type node struct{ parent, frame record.ID }

// NewTable returns an empty Table.
func NewTable() *Table {
	return &Table{
		frames:  make([]record.Frame, 1),
		stacks:  make([]node, 1),
		byFrame: map[record.Frame]record.ID{},
		byStack: map[node]record.ID{},
	}
}

// Frame implements [Interner].
func (t *Table) Frame(f record.Frame) record.ID {
	f.ID = 0
	id, ok := t.byFrame[f]
	if !ok {
		id = record.ID(len(t.frames))
		t.byFrame[f] = id
		f.ID = id
		t.frames = append(t.frames, f)
	}
	return id
}

// Stack implements [Interner].
func (t *Table) Stack(parent, frame record.ID) record.ID {
	n := node{parent, frame}
	id, ok := t.byStack[n]
	if !ok {
		id = record.ID(len(t.stacks))
		t.byStack[n] = id
		t.stacks = append(t.stacks, n)
	}
	return id
}

// FrameAt returns the frame with an id that the table gave.
func (t *Table) FrameAt(id record.ID) *record.Frame { return &t.frames[id] }

// Frames returns how many distinct frames there are: their ids are 1 to that.
func (t *Table) Frames() int { return len(t.frames) - 1 }

// Leaf returns the frame of a stack, and Parent the stack that called it: 0 at the root.
func (t *Table) Leaf(stack record.ID) *record.Frame { return &t.frames[t.stacks[stack].frame] }

// Parent returns the stack of the caller, 0 at the root.
func (t *Table) Parent(stack record.ID) record.ID { return t.stacks[stack].parent }

// Path appends the ids of a stack's frames to dst, leaf first.
func (t *Table) Path(dst []int32, stack record.ID) []int32 {
	for ; stack != 0; stack = t.stacks[stack].parent {
		dst = append(dst, int32(t.stacks[stack].frame))
	}
	return dst
}

// Stacks returns how many distinct stacks there are, prefixes included.
func (t *Table) Stacks() int { return len(t.stacks) - 1 }

// children returns the stacks of the table sorted by parent: those that stack s calls are
// order[start[s]:start[s+1]], and the roots are those of stack 0.
func (t *Table) children() (order []record.ID, start []int32) {
	start = make([]int32, len(t.stacks)+1)
	for _, n := range t.stacks[1:] {
		start[n.parent+1]++
	}
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	order = make([]record.ID, len(t.stacks)-1)
	next := make([]int32, len(t.stacks))
	copy(next, start)
	for id := 1; id < len(t.stacks); id++ {
		p := t.stacks[id].parent
		order[next[p]] = record.ID(id)
		next[p]++
	}
	return order, start
}
