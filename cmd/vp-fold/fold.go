package main

import (
	"fmt"
	"slices"
	"strings"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/sched"
	"vperf/lib/stack"
)

// A sink takes the samples that passed the filters.
type sink interface {
	stack.Interner
	// root returns the name that the stacks of a sample begin with, "" for none. Samples
	// with equal stacks and roots are folded into one.
	root(*recording.Sample) string
	// sample takes a sample that stands for n, and its stack: 0 where it has neither frames
	// nor root.
	sample(s *recording.Sample, stack record.ID, n uint64)
	// failed reports that going on makes no sense, because nothing can be written.
	failed() bool
}

// run describes the profiled run, as far as the input knows it.
type profiledRun struct {
	launcher string // name of the process before it became the target
	pid      int64
	start    int64 // None where it is not known
}

// launcherReason begins the reason why samples from before the target's exec are dropped.
const launcherReason = "launcher "

// totals balance: in = out + what was dropped, by reason.
type totals struct {
	of      string // what is counted
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

// leaveOut counts a sample that does not come out.
func (t *totals) leaveOut(reason string) {
	t.in++
	t.drop(reason, 1)
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
	text := fmt.Sprintf("%d %s in, %d out", t.in, t.of, t.out)
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
	waits totals // of waits, where they come beside the samples

	tracker   *sched.Tracker // nil if nobody wants waits
	waitSink  waitSink       // nil if waits become samples
	switches  *sched.Totals  // what became of all threads, at the end
	seenEvent string         // of the sample that the tracker was told of last
	isSwitch  bool           // seenEvent is

	began    bool  // the first time was seen
	origin   int64 // what --from and --to count from
	launched bool  // the target's own name was seen

	lastEvent string
	wanted    bool // lastEvent is

	interner frameMemo
	roots    map[string]int
	lastRoot string
	lastID   int         // of lastRoot; 0 before the first sample
	stacks   []stackMemo // by number of the source's stack
	ids      map[uint64]record.ID
	scratch  []record.Frame
}

// A stackMemo is what a stack of the source became.
type stackMemo struct {
	state shapedState
	root  int       // that id was made for
	id    record.ID // ids has those for other roots
	n     uint64    // samples that came out
	stack.Quality
}

type shapedState uint8

const (
	notSeen shapedState = iota
	kept
	unmatched  // --module or --function
	kernelOnly // nothing is left of it
)

// newFolder returns a folder for one recording of a run.
func newFolder(o *options, s sink, run profiledRun) *folder {
	return &folder{opt: o, sink: s, run: run, interner: frameMemo{Interner: s}, roots: map[string]int{}, ids: map[uint64]record.ID{}}
}

// fold reads src to its end.
func (f *folder) fold(src recording.Source) {
	f.frames = func(dst []record.Frame, stack int) []record.Frame {
		for _, i := range src.Stack(stack) {
			dst = append(dst, *src.Frame(i))
		}
		return dst
	}
	f.follow(src)
	sums, _ := src.(summed)
	for !f.sink.failed() && src.Next() {
		s := src.Sample()
		if f.tracker != nil {
			f.observe(s)
		}
		if f.opt.offCPU {
			continue
		}
		n := uint64(1)
		if sums != nil {
			n = sums.Count()
		}
		if reason := f.early(s); reason != "" {
			f.in += n
			f.drop(reason, n)
			continue
		}
		if f.opt.samples {
			s.Weight = n
		}
		f.add(s, n)
	}
	if f.tracker != nil {
		f.switches = f.tracker.End()
	}
	for _, gone := range []struct {
		reason recording.Reason
		word   string
	}{{recording.Cut, "cut off"}, {recording.BadValue, "negative"}} {
		if n := src.Tally().N(gone.reason); n > 0 && !f.opt.offCPU {
			f.in += n
			f.drop(gone.word, n)
		}
	}
	f.finish()
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
	if s.Event != f.lastEvent {
		f.lastEvent, f.wanted = s.Event, f.opt.wantsEvent(s.Event)
	}
	if !f.wanted {
		return "filtered"
	}
	m, reason := f.stackOf(s)
	if reason != "" {
		return reason
	}
	m.n += n
	f.sink.sample(s, m.id, n)
	return ""
}

// stackOf returns what the stack of a sample became, if its thread and its stack are
// wanted.
func (f *folder) stackOf(s *recording.Sample) (m *stackMemo, dropped string) {
	o := f.opt
	if !wants(o.tids, s.TID) || !wants(o.pids, s.PID) || !wants(o.comms, s.Comm) {
		return nil, "filtered"
	}
	root := f.sink.root(s)
	if f.lastID == 0 || root != f.lastRoot {
		id, ok := f.roots[root]
		if !ok {
			id = len(f.roots) + 1
			f.roots[root] = id
		}
		f.lastRoot, f.lastID = root, id
	}
	for s.Stack >= len(f.stacks) {
		f.stacks = append(f.stacks, stackMemo{})
	}
	m = &f.stacks[s.Stack]
	if m.state == notSeen || m.state == kept && m.root != f.lastID {
		key := uint64(f.lastID)<<32 | uint64(s.Stack)
		id, ok := f.ids[key]
		if !ok {
			id = f.shape(m, s.Stack, root)
			f.ids[key] = id
		}
		m.root, m.id = f.lastID, id
	}
	switch m.state {
	case unmatched:
		return nil, "filtered"
	case kernelOnly:
		return nil, "kernel only"
	}
	return m, ""
}

// finish sums up what the stacks consist of.
func (f *folder) finish() {
	for i := range f.stacks {
		f.quality.add(&f.stacks[i].Quality, f.stacks[i].n)
	}
}

// early says why a sample is left out before it is looked at together with others: for
// its time and its CPU.
func (f *folder) early(s *recording.Sample) (dropped string) {
	if reason := f.launching(s); reason != "" {
		return reason
	}
	o := f.opt
	if o.timed() {
		if s.TimeNS == recording.None {
			return "without time"
		}
		f.beginAt(s.TimeNS)
		if at := s.TimeNS - f.origin; o.from > 0 && at < o.from || at >= o.to {
			return "filtered"
		}
	}
	if !wants(o.cpus, s.CPU) {
		return "filtered"
	}
	return ""
}

// launching says why a sample is none of the target: it was taken before that was there.
func (f *folder) launching(s *recording.Sample) (dropped string) {
	if f.run.launcher != "" && !f.launched && f.ofTarget(s) {
		if s.Comm == f.run.launcher {
			return launcherReason + f.run.launcher
		}
		f.launched = true
	}
	return ""
}

// beginAt sets what --from and --to count from: the start of the run, or the first time of
// the recording where the run is not known.
func (f *folder) beginAt(first int64) {
	if !f.began {
		f.began, f.origin = true, first
		if f.run.start != recording.None {
			f.origin = f.run.start
		}
	}
}

func (f *folder) ofTarget(s *recording.Sample) bool {
	if s.PID != recording.None {
		return s.PID == f.run.pid
	}
	return s.TID == f.run.pid
}

// shape makes the stack that a source's stack becomes under a root.
func (f *folder) shape(m *stackMemo, number int, root string) record.ID {
	f.scratch = f.frames(f.scratch[:0], number)
	if !f.opt.matches(f.scratch) {
		m.state = unmatched
		return 0
	}
	base := record.ID(0)
	if root != "" {
		base = f.sink.Stack(0, f.sink.Frame(record.Frame{Symbol: root}))
	}
	id, q := f.opt.shape.Add(&f.interner, base, f.scratch)
	m.state, m.Quality = kept, q
	if id == base && q.Frames > 0 {
		m.state = kernelOnly
	}
	return id
}

// A frameMemo remembers the ids of a source's frames, so that a frame of ten thousand
// stacks is hashed once. An inlined frame is not the same in every stack: it takes its
// module from the function that holds it.
type frameMemo struct {
	stack.Interner
	ids []record.ID // by the source's id
}

// memoFrames bounds the memo: the ids of a record stream may be any numbers.
const memoFrames = 1 << 20

// Frame returns the id of a frame, whose ID field is the source's.
func (m *frameMemo) Frame(f record.Frame) record.ID {
	if f.ID == 0 || f.ID >= memoFrames || f.Inlined {
		return m.Interner.Frame(f)
	}
	if int(f.ID) >= len(m.ids) {
		m.ids = append(m.ids, make([]record.ID, int(f.ID)+1-len(m.ids))...)
	}
	if m.ids[f.ID] == 0 {
		m.ids[f.ID] = m.Interner.Frame(f)
	}
	return m.ids[f.ID]
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
