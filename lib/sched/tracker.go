package sched

import (
	"maps"
	"math"
	"slices"

	"vperf/lib/event"
	"vperf/lib/perf/recording"
)

// The events whose samples tell of switches.
const (
	Tracepoint = "sched:sched_switch"
	Counter    = "context-switches"
)

// IsSwitch reports whether an event is one of them, whatever its modifiers.
func IsSwitch(name string) bool {
	base := event.Base(name)
	return base == Tracepoint || base == Counter
}

// A Tracker follows threads through a recording. Hand it what the recording holds in the
// order of the times, then call End.
type Tracker struct {
	// OnWait is called for each wait when it ends, OnLife for each life when that ends. Both
	// may be nil. What they are given is valid until they return.
	OnWait func(*Wait)
	OnLife func(*Life)

	threads map[int64]*thread
	ended   map[int64]ending
	local   map[int64]int64 // threads of another pid namespace, see Sample
	totals  Totals

	lastEvent string // of a sample
	isCounter bool   // lastEvent is
}

// NewTracker returns a Tracker that has seen nothing.
func NewTracker() *Tracker {
	t := &Tracker{threads: map[int64]*thread{}, ended: map[int64]ending{}, local: map[int64]int64{}}
	t.totals.StartNS, t.totals.EndNS = math.MaxInt64, math.MinInt64
	return t
}

// source is one of the two ways in which a switch is recorded.
type source uint8

const (
	bySwitch source = iota
	byTracepoint
)

type phase uint8

const (
	unseen  phase = iota // known by name only
	guessed              // got a CPU as another's successor: of interest once it has a record of its own
	running
	waiting
)

// A thread is what is known of a living one. Its life's parts add up to the time from
// StartNS to since.
type thread struct {
	Life
	phase phase
	since int64 // of the last switch, or of the fork
	wait  Wait  // being made, in phase waiting

	// The last switch was told by a source, and by the other one too if both is set.
	by      source
	both    bool
	otherNS int64 // when the other did

	// Where the thread is about to leave its CPU, by a sample of Counter; 0 if there is none.
	leavingStack int
	leavingNS    int64
}

// sameSwitch is how far apart the two records of one switch may be. They are written with
// interrupts off, within microseconds; only a hypervisor can come between.
const sameSwitch = 10_000_000

// Task takes a record of a thread's life.
func (t *Tracker) Task(e *recording.TaskEvent) {
	switch {
	case e.TID <= 0: // idle, or ended and without a number
		return
	case e.TimeNS <= 0: // perf made it up when it began
		if e.Kind == recording.TaskFork {
			t.thread(e.TID).PID = e.PID
		} else if e.Kind != recording.TaskExec {
			t.totals.count(Untimed, e.Place)
		}
		return
	}
	t.Seen(e.TimeNS)
	if e.Kind == recording.TaskFork {
		t.fork(e)
		return
	}
	if t.hasEnded(e.TID, e.TimeNS) {
		t.totals.count(AfterEnd, e.Place)
		return
	}
	h := t.thread(e.TID)
	h.name(e.PID, e.Comm)
	if e.TimeNS < h.since && h.phase > guessed {
		t.totals.count(Disorder, e.Place)
		return
	}
	switch e.Kind {
	case recording.TaskIn:
		t.in(h, e.TimeNS, bySwitch, e.Place)
	case recording.TaskOut:
		t.out(h, &departure{at: e.TimeNS, cpu: e.CPU, by: bySwitch, state: Unknown, place: e.Place})
	case recording.TaskPreempt:
		t.out(h, &departure{at: e.TimeNS, cpu: e.CPU, by: bySwitch, state: Runnable, place: e.Place})
	case recording.TaskExec:
		t.begin(h, e.TimeNS)
	case recording.TaskExit:
		t.exit(h, e.TimeNS, goesOn, e.Place)
	}
}

// An ending is when a thread ended, and when it left its CPU for the last time.
type ending struct{ exit, last int64 }

// goesOn is when an ended thread leaves its CPU for the last time, while that is to come.
const goesOn = math.MaxInt64

// hasEnded reports whether a thread has ended, and its number was not given to another:
// that needs a fork, or, where forks are not recorded, a last switch some time ago.
func (t *Tracker) hasEnded(tid, at int64) bool {
	end, ended := t.ended[tid]
	if ended && at-end.last > sameSwitch {
		delete(t.ended, tid)
		return false
	}
	return ended
}

// Seen says that the recording goes on until a time at least.
func (t *Tracker) Seen(at int64) {
	t.totals.StartNS = min(t.totals.StartNS, at)
	t.totals.EndNS = max(t.totals.EndNS, at)
}

// Sample takes a sample of an event for which [IsSwitch].
//
// One of the counter tells no more than the stack of the switch record that follows.
// The tracepoint numbers threads as the first pid namespace does, everything else in a
// recording as that of perf. The thread that leaves has both numbers, which tells those
// who come later.
func (t *Tracker) Sample(s *recording.Sample) {
	if s.TimeNS < 0 {
		t.totals.count(Untimed, s.Place)
		return
	}
	t.Seen(s.TimeNS)
	if s.Event != t.lastEvent {
		t.lastEvent, t.isCounter = s.Event, event.Base(s.Event) == Counter
	}
	if t.isCounter {
		if s.TID > 0 && !t.hasEnded(s.TID, s.TimeNS) {
			h := t.thread(s.TID)
			h.leavingStack, h.leavingNS = s.Stack, s.TimeNS
		}
		return
	}
	x, ok := ParseSwitch(s.Payload)
	if !ok {
		t.totals.count(Unread, s.Place)
		return
	}
	prev, next := x.PrevTID, x.NextTID
	if s.TID > 0 && prev > 0 && s.TID != prev {
		t.local[prev] = s.TID
	}
	if len(t.local) > 0 {
		prev, next = t.localID(prev), t.localID(next)
	}
	repeated := prev > 0 && t.leave(prev, s, &x)
	if next > 0 && next != prev {
		repeated = t.enter(next, s, &x) || repeated
	}
	if repeated {
		t.totals.count(Repeated, s.Place)
	}
}

func (t *Tracker) localID(tid int64) int64 {
	if local, ok := t.local[tid]; ok {
		return local
	}
	return tid
}

// leave has the thread of a sample leave the CPU.
func (t *Tracker) leave(tid int64, s *recording.Sample, x *Switch) (repeated bool) {
	if t.hasEnded(tid, s.TimeNS) {
		if x.State == Ended {
			t.ended[tid] = ending{t.ended[tid].exit, s.TimeNS}
		}
		t.totals.count(AfterEnd, s.Place)
		return false
	}
	h := t.thread(tid)
	if s.TID > 0 {
		h.name(s.PID, s.Comm)
	} else {
		h.name(recording.None, string(x.PrevComm))
	}
	if s.TimeNS < h.since && h.phase > guessed {
		t.totals.count(Disorder, s.Place)
		return false
	}
	if x.State == Ended {
		t.exit(h, s.TimeNS, s.TimeNS, s.Place)
		return false
	}
	return t.out(h, &departure{at: s.TimeNS, cpu: s.CPU, by: byTracepoint, state: x.State, stack: s.Stack, place: s.Place})
}

// enter has a thread get the CPU that another left. Of a thread that has no record of its
// own it cannot be told whether it belongs to what was recorded.
func (t *Tracker) enter(tid int64, s *recording.Sample, x *Switch) (repeated bool) {
	if t.hasEnded(tid, s.TimeNS) {
		return false
	}
	h := t.thread(tid)
	if h.Comm == "" {
		h.Comm = string(x.NextComm)
	}
	switch {
	case h.phase == unseen || h.phase == guessed:
		repeated = h.phase == guessed && h.since == s.TimeNS
		h.phase, h.since = guessed, s.TimeNS
		return repeated
	case s.TimeNS < h.since:
		t.totals.count(Disorder, s.Place)
		return false
	}
	return t.in(h, s.TimeNS, byTracepoint, s.Place)
}

func (t *Tracker) thread(tid int64) *thread {
	h, ok := t.threads[tid]
	if !ok {
		h = &thread{Life: Life{TID: tid, PID: recording.None}}
		t.threads[tid] = h
	}
	return h
}

// End closes the lives that go on when the recording ends, in the order of their ids, and
// returns the sums over all.
func (t *Tracker) End() *Totals {
	for _, tid := range slices.Sorted(maps.Keys(t.threads)) {
		h := t.threads[tid]
		switch end := t.totals.EndNS; h.phase {
		case running:
			h.OnNS += end - h.since
			t.close(h, end)
		case waiting:
			h.Open, h.OpenNS, h.OpenState = 1, end-h.since, h.wait.State
			t.close(h, end)
		}
	}
	clear(t.threads)
	if t.totals.EndNS < t.totals.StartNS { // nothing was seen
		t.totals.StartNS, t.totals.EndNS = 0, 0
	}
	return &t.totals
}

// close ends a life.
func (t *Tracker) close(h *thread, at int64) {
	h.EndNS = at
	t.totals.Threads++
	t.totals.add(&h.Life)
	delete(t.threads, h.TID)
	if t.OnLife != nil {
		t.OnLife(&h.Life)
	}
}
