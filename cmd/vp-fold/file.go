package main

import (
	"fmt"
	"slices"
	"strconv"

	"vperf/lib/event"
	"vperf/lib/format"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// fileSink keeps samples by event, and writes those of one event in a file format. What it
// keeps follows distinct stacks, and for formats that are timed samples too.
type fileSink struct {
	*stack.Table
	opt      *options
	format   *fileFormat
	by       string // the command and its version
	events   catalogue
	buildIDs map[string]string // by module

	list  []*fileEvent // in order
	last  *fileEvent
	roots map[rootKey]string
}

type fileEvent struct {
	name    string
	samples uint64
	used    []bool          // by stack: it weighs something
	counted bool            // weights are numbers of samples
	uneven  bool            // and they were not, before the format asked for that
	weights stack.Weights   // where the format is not profiled
	profile *format.Profile // where it is
}

type rootKey struct {
	comm     string
	pid, tid int64
}

func newFileSink(o *options, f *fileFormat, events catalogue) *fileSink {
	return &fileSink{Table: stack.NewTable(), opt: o, format: f, events: events, buildIDs: map[string]string{}, roots: map[rootKey]string{}}
}

func (f *fileSink) root(s *recording.Sample) string {
	if !f.format.rooted || f.opt.root == "none" || s.Comm == "" && s.TID == recording.None {
		return ""
	}
	if f.opt.root == "comm" && s.Comm != "" {
		return s.Comm
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

func (f *fileSink) sample(s *recording.Sample, id record.ID, n uint64) {
	if s.Stack == 0 {
		id = f.Stack(id, f.Frame(format.NoStack))
	}
	e := f.event(s)
	e.samples += n
	if s.Weight > 0 {
		e.use(id)
	}
	if !f.format.profiled {
		e.weights.Add(id, s.Weight)
		return
	}
	if f.format.counts != nil && f.format.counts(e.profile.Event.Unit) && s.Weight != n {
		e.uneven = true
		counted := *s
		counted.Weight = n
		s = &counted
	}
	e.profile.Add(s, id, n)
}

func (e *fileEvent) use(id record.ID) {
	if int(id) >= len(e.used) {
		e.used = append(e.used, make([]bool, int(id)+1-len(e.used))...)
	}
	e.used[id] = true
}

func (f *fileSink) event(s *recording.Sample) *fileEvent {
	if f.last != nil && f.last.name == s.Event {
		return f.last
	}
	i := slices.IndexFunc(f.list, func(e *fileEvent) bool { return e.name == s.Event })
	if i < 0 {
		i = len(f.list)
		e := &fileEvent{name: s.Event, counted: f.opt.samples || s.NoPeriod}
		if f.format.profiled {
			e.profile = newProfile(f, e)
		}
		f.list = append(f.list, e)
	}
	f.last = f.list[i]
	return f.last
}

// span tells the event of the last sample of a time that belongs to it.
func (f *fileSink) span(timeNS int64) {
	if f.format.profiled {
		f.last.profile.Span(timeNS)
	}
}

// unit returns that of an event's weights.
func (f *fileSink) unit(name string, counted bool) string {
	if counted {
		return event.Count
	}
	return f.events.of(name).Unit
}

func (f *fileSink) failed() bool { return false }

// identified is a recording that knows the build ids of modules.
type identified interface {
	BuildID(module string) string // empty where it is not known
}

// identify asks a recording for the build ids of the modules that its stacks are in.
func (f *fileSink) identify(src identified) {
	for id := 1; id <= f.Frames(); id++ {
		module := f.FrameAt(record.ID(id)).Module
		if _, ok := f.buildIDs[module]; ok || module == "" {
			continue
		}
		if build := src.BuildID(module); build != "" {
			f.buildIDs[module] = build
		}
	}
}

// distinct returns how many stacks weigh something.
func (e *fileEvent) distinct() int {
	n := 0
	for _, used := range e.used {
		if used {
			n++
		}
	}
	return n
}

// choose returns the event that is written, and the names of the others. It is nil where
// none may be written unasked.
func (f *fileSink) choose() (chosen *fileEvent, others []string) {
	best := -1
	for _, e := range f.list {
		if r := rank(f.events.of(e.name), f.opt.event); r > best {
			best, chosen = r, e
		}
	}
	for _, e := range f.list {
		if e != chosen {
			others = append(others, e.name)
		}
	}
	return chosen, others
}

// rank orders events by how well they stand for where time went; less than 0 is not at
// all. Of equals the first of the recording wins.
func rank(e record.Event, asked string) int {
	switch {
	case asked != "" && e.Name == asked:
		return 5
	case asked != "":
		return 4
	case e.Kind == record.KindCPU && event.Base(e.Name) == "cycles":
		return 3
	case e.Kind == record.KindCPU && e.Unit == event.Nanoseconds:
		return 2
	case e.Kind == record.KindCPU:
		return 1
	case e.Kind == record.KindCounter:
		return 0
	}
	return -1
}
