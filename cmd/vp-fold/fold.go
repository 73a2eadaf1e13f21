package main

import (
	"fmt"
	"slices"
	"strings"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// A sink takes the samples that passed the filters.
type sink interface {
	stack.Interner
	// root returns the name that the stacks of a sample begin with, "" for none. Samples
	// with equal stacks and roots are folded into one.
	root(*recording.Sample) string
	// sample takes a sample and its stack: 0 where it has neither frames nor root.
	sample(s *recording.Sample, stack record.ID)
	// failed reports that going on makes no sense, because nothing can be written.
	failed() bool
}

// run describes the profiled run, as far as the input knows it.
type profiledRun struct {
	launcher string // name of the process before it became the target
	pid      int64
	start    int64 // None where it is not known
}

// totals balance: in = out + what was dropped, by reason.
type totals struct {
	in, out uint64
	stacks  int // distinct ones that came out
	dropped []dropCount
	quality quality
}

type dropCount struct {
	reason string
	n      uint64
}

func (t *totals) drop(reason string, n uint64) {
	for i := range t.dropped {
		if t.dropped[i].reason == reason {
			t.dropped[i].n += n
			return
		}
	}
	t.dropped = append(t.dropped, dropCount{reason, n})
}

func (t *totals) allDropped() (n uint64) {
	for _, d := range t.dropped {
		n += d.n
	}
	return n
}

func (t *totals) add(u *totals) {
	t.in += u.in
	t.out += u.out
	t.stacks += u.stacks
	for _, d := range u.dropped {
		t.drop(d.reason, d.n)
	}
	t.quality.sum(&u.quality)
}

// String returns "261900 samples in, 261850 out, 50 dropped (launcher 50)".
func (t *totals) String() string {
	text := fmt.Sprintf("%d samples in, %d out", t.in, t.out)
	if n := t.allDropped(); n > 0 {
		var parts []string
		for _, d := range t.dropped {
			parts = append(parts, fmt.Sprintf("%s %d", d.reason, d.n))
		}
		text += fmt.Sprintf(", %d dropped (%s)", n, strings.Join(parts, ", "))
	}
	return text
}

// A folder moves the samples of one recording into a sink.
type folder struct {
	opt    *options
	sink   sink
	run    profiledRun
	frames func(dst []record.Frame, stack int) []record.Frame // of the recording, leaf first
	totals

	began    bool  // the first time was seen
	origin   int64 // what --from and --to count from
	launched bool  // the target's own name was seen

	memos    map[string]*rootMemo
	lastRoot string
	lastMemo *rootMemo
	scratch  []record.Frame
}

// rootMemo remembers what the stacks of a source became under one root.
type rootMemo struct{ shaped []shaped }

type shaped struct {
	stack record.ID
	state shapedState
	stack.Quality
}

type shapedState uint8

const (
	notSeen shapedState = iota
	kept
	unmatched  // --module or --function
	kernelOnly // nothing is left of it
)

func newFolder(o *options, s sink, run profiledRun) *folder {
	return &folder{opt: o, sink: s, run: run, memos: map[string]*rootMemo{}}
}

// fold reads src to its end.
func (f *folder) fold(src recording.Source) {
	f.frames = func(dst []record.Frame, stack int) []record.Frame {
		for _, i := range src.Stack(stack) {
			dst = append(dst, *src.Frame(i))
		}
		return dst
	}
	for !f.sink.failed() && src.Next() {
		s := src.Sample()
		if reason := f.early(s); reason != "" {
			f.in++
			f.drop(reason, 1)
			continue
		}
		if f.opt.samples {
			s.Weight = 1
		}
		f.add(s, 1)
	}
	if cut := src.Tally().N(recording.Cut); cut > 0 {
		f.in += cut
		f.drop("cut off", cut)
	}
}

// add passes a sample on that stands for n. Its weight is theirs together.
func (f *folder) add(s *recording.Sample, n uint64) {
	f.in += n
	if reason := f.take(s, n); reason != "" {
		f.drop(reason, n)
	} else {
		f.out += n
	}
}

func (f *folder) take(s *recording.Sample, n uint64) (dropped string) {
	o := f.opt
	if !o.wantsEvent(s.Event) || !wants(o.tids, s.TID) || !wants(o.pids, s.PID) || !wants(o.comms, s.Comm) {
		return "filtered"
	}
	root := f.sink.root(s)
	if f.lastMemo == nil || root != f.lastRoot {
		m, ok := f.memos[root]
		if !ok {
			m = &rootMemo{}
			f.memos[root] = m
		}
		f.lastRoot, f.lastMemo = root, m
	}
	m := f.lastMemo
	if s.Stack >= len(m.shaped) {
		m.shaped = append(m.shaped, make([]shaped, s.Stack+1-len(m.shaped))...)
	}
	p := &m.shaped[s.Stack]
	if p.state == notSeen {
		*p = f.shape(s.Stack, root)
	}
	switch p.state {
	case unmatched:
		return "filtered"
	case kernelOnly:
		return "kernel only"
	}
	f.quality.add(&p.Quality, n)
	f.sink.sample(s, p.stack)
	return ""
}

// early says why a sample is left out before it is looked at together with others: for
// its time and its CPU.
func (f *folder) early(s *recording.Sample) (dropped string) {
	if f.run.launcher != "" && !f.launched && f.ofTarget(s) {
		if s.Comm == f.run.launcher {
			return "launcher " + f.run.launcher
		}
		f.launched = true
	}
	o := f.opt
	if o.timed() {
		if s.TimeNS == recording.None {
			return "without time"
		}
		if !f.began {
			f.began, f.origin = true, s.TimeNS
			if f.run.start != recording.None {
				f.origin = f.run.start
			}
		}
		if at := s.TimeNS - f.origin; at < o.from || at >= o.to {
			return "filtered"
		}
	}
	if !wants(o.cpus, s.CPU) {
		return "filtered"
	}
	return ""
}

func (f *folder) ofTarget(s *recording.Sample) bool {
	if s.PID != recording.None {
		return s.PID == f.run.pid
	}
	return s.TID == f.run.pid
}

// shape makes the stack that a source's stack becomes under a root.
func (f *folder) shape(number int, root string) shaped {
	f.scratch = f.frames(f.scratch[:0], number)
	if !f.opt.matches(f.scratch) {
		return shaped{state: unmatched}
	}
	base := record.ID(0)
	if root != "" {
		base = f.sink.Stack(0, f.sink.Frame(record.Frame{Symbol: root}))
	}
	id, q := f.opt.shape.Add(f.sink, base, f.scratch)
	if id == base && q.Frames > 0 {
		return shaped{state: kernelOnly}
	}
	return shaped{id, kept, q}
}

// matches reports whether a stack passes --module and --function.
func (o *options) matches(frames []record.Frame) bool {
	if o.module != nil && !slices.ContainsFunc(frames, func(f record.Frame) bool { return o.module.MatchString(f.Module) }) {
		return false
	}
	return o.function == nil || slices.ContainsFunc(frames, func(f record.Frame) bool { return o.function.MatchString(f.Symbol) })
}

// threadName returns the name of a sample's thread; a thread without one is called after
// its id, as perf does it.
func threadName(s *recording.Sample) string {
	switch {
	case s.Comm != "":
		return s.Comm
	case s.TID != recording.None:
		return fmt.Sprintf(":%d", s.TID)
	}
	return "[unknown]"
}
