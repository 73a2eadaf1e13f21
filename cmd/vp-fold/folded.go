package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"vperf/lib/event"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// noStack stands for the frames of a sample that has none.
var noStack = record.Frame{Symbol: "[no stack]"}

// foldedSink keeps weights by event, root and stack, and writes those of one event.
type foldedSink struct {
	*stack.Table
	opt    *options
	events []*foldedEvent
	last   *foldedEvent
	roots  map[rootKey]string
}

type foldedEvent struct {
	name    string
	weights stack.Weights
}

type rootKey struct {
	comm     string
	pid, tid int64
}

func newFoldedSink(o *options) *foldedSink {
	return &foldedSink{Table: stack.NewTable(), opt: o, roots: map[rootKey]string{}}
}

func (f *foldedSink) root(s *recording.Sample) string {
	switch f.opt.root {
	case "none":
		return ""
	case "comm":
		if s.Comm != "" {
			return s.Comm
		}
	}
	key := rootKey{s.Comm, s.PID, s.TID}
	root, ok := f.roots[key]
	if !ok {
		root = threadName(s)
		if f.opt.root == "thread" && s.TID != recording.None {
			pid := "?" // as stackcollapse-perf.pl has it
			if s.PID != recording.None {
				pid = strconv.FormatInt(s.PID, 10)
			}
			root = fmt.Sprintf("%s-%s/%d", root, pid, s.TID)
		}
		f.roots[key] = root
	}
	return root
}

func (f *foldedSink) sample(s *recording.Sample, id record.ID) {
	if s.Stack == 0 {
		id = f.Stack(id, f.Frame(noStack))
	}
	e := f.event(s.Event)
	e.weights.Add(id, s.Weight)
}

func (f *foldedSink) event(name string) *foldedEvent {
	if f.last != nil && f.last.name == name {
		return f.last
	}
	i := slices.IndexFunc(f.events, func(e *foldedEvent) bool { return e.name == name })
	if i < 0 {
		i = len(f.events)
		f.events = append(f.events, &foldedEvent{name: name})
	}
	f.last = f.events[i]
	return f.last
}

func (f *foldedSink) failed() bool { return false }

// distinct returns how many stacks have weight, of whatever event.
func (f *foldedSink) distinct() int {
	n := 0
	for id := 1; id <= f.Stacks(); id++ {
		if slices.ContainsFunc(f.events, func(e *foldedEvent) bool { return e.weights.At(record.ID(id)) > 0 }) {
			n++
		}
	}
	return n
}

// choose returns the event that is written, and the names of the others. It is nil where
// none may be written unasked.
func (f *foldedSink) choose() (chosen *foldedEvent, others []string) {
	best := -1
	for _, e := range f.events {
		if r := rank(e.name, f.opt.event); r > best {
			best, chosen = r, e
		}
	}
	for _, e := range f.events {
		if e != chosen {
			others = append(others, e.name)
		}
	}
	return chosen, others
}

// rank orders events by how well they stand for where time went; less than 0 is not at
// all. Of equals the first of the recording wins.
func rank(name, asked string) int {
	switch kind := event.KindOf(name); {
	case asked != "" && name == asked:
		return 5
	case asked != "":
		return 4
	case kind == record.KindCPU && event.Base(name) == "cycles":
		return 3
	case kind == record.KindCPU && event.UnitOf(name) == event.Nanoseconds:
		return 2
	case kind == record.KindCPU:
		return 1
	case kind == record.KindCounter:
		return 0
	}
	return -1
}

func (f *foldedSink) write(out io.Writer, e *foldedEvent) error {
	return stack.WriteFolded(out, f.Table, e.weights, f.opt.naming)
}
