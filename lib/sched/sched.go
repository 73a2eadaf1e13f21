// Package sched makes waits of what a recording tells of the scheduler: the intervals in
// which a thread did not run, why, and where in the program it left the CPU.
//
// Recordings tell it in two ways, alone or both at once:
//
//   - PERF_RECORD_SWITCH (perf record --switch-events) says that a thread got a CPU or left
//     it, and whether it was preempted. It needs no privilege. There is no state and no
//     stack, so a wait that is no preemption is of state unknown.
//   - The tracepoint sched:sched_switch says who left in which state, with its stack, and
//     who came. In a recording of one process it fires only where a thread of that process
//     leaves; that one returns is seen only if another of them made room. In one of the
//     whole system (-a) it should fire everywhere, but not every kernel lets it fire for
//     the idle threads. So either needs switch records too.
//
// Both are written within one switch, so where both are there they are put together: the
// state and the stack of the tracepoint, and one wait. Samples of the event
// context-switches (period 1, -g), which need no tracefs, lend their stacks to switch
// records in the same way.
//
// # Balance
//
// A [Tracker] follows every thread from its fork, or from the first it sees of it, to its
// exit (for which there is no switch), or to the end of the recording. Of that life each
// nanosecond is accounted for ([Life]): on a CPU, off it by state, open (off it when the
// recording ended: how long the wait would have been is not known), or lost (between two
// records that do not fit together, because one between them is missing). Without losses
// On + Off + Open is the life exactly.
//
// From its fork until it first gets a CPU a thread is runnable. The idle threads, tid 0,
// never wait.
package sched

import "vperf/lib/perf/recording"

// A Wait is an interval in which a thread did not run.
type Wait struct {
	TID        int64
	PID        int64 // [recording.None] where it was not recorded, as CPU
	CPU        int64 // that it left
	Comm       string
	StartNS    int64
	DurationNS int64
	State      State
	Stack      int // of the recording's source, where it left the CPU; 0 where that is unknown
}

// A Life is the account of one thread, or of several together.
type Life struct {
	TID, PID int64 // PID is [recording.None] where it was not recorded
	Comm     string

	StartNS, EndNS int64 // of what was observed
	Exited         bool

	OnNS   int64
	OffNS  [NumStates]int64 // of waits that ended
	OpenNS int64            // of a wait that did not: it took that long at least
	LostNS int64

	Waits     uint64 // that ended
	NoStack   uint64 // of these, waits of which is not known where the thread left its CPU
	Open      uint64 // that did not end
	OpenState State  // of the one that did not
	Voluntary uint64 // departures to sleep, to block, to be stopped
	Preempted uint64 // departures of a thread that could have run on
}

// NS returns how long the life was: the sum of its parts.
func (l *Life) NS() int64 { return l.OnNS + l.Off() + l.OpenNS + l.LostNS }

// Off returns the length of all waits that ended.
func (l *Life) Off() (ns int64) {
	for _, n := range l.OffNS {
		ns += n
	}
	return ns
}

// add sums up the parts of lives.
func (l *Life) add(m *Life) {
	l.OnNS += m.OnNS
	for i, n := range m.OffNS {
		l.OffNS[i] += n
	}
	l.OpenNS += m.OpenNS
	l.LostNS += m.LostNS
	l.Waits += m.Waits
	l.NoStack += m.NoStack
	l.Open += m.Open
	l.Voluntary += m.Voluntary
	l.Preempted += m.Preempted
}

// Reason names what a recording should not hold, or what no wait can be made of.
type Reason string

// The reasons. Repeated and Ended records cost nothing: the same was told before.
const (
	Repeated Reason = "repeated switches"                        // an inherited tracepoint fires once for each copy
	AfterEnd Reason = "switches of threads that had ended"       // the last of each, in recordings of the whole system
	NoReturn Reason = "departures that no return follows"        // but the next departure, or the exit
	NoLeave  Reason = "returns that no departure precedes"       // but a return
	NoExit   Reason = "threads that were made before they ended" // their ids are used again
	Disorder Reason = "switches out of order"                    // earlier than one of the same thread before them
	Unread   Reason = "unreadable switches"
	Untimed  Reason = "switches without a time"
)

// A Count is how often a Reason occurred.
type Count struct {
	Reason Reason
	N      uint64
	Place  int64 // of the first: line of the text, or offset in the file
}

// Totals are the sums over all threads.
type Totals struct {
	Life            // of all threads together; its StartNS and EndNS are those of the recording
	Threads  uint64 // whose lives were observed
	LateSeen uint64 // of these, threads that were off the CPU when the recording of them began: that wait is not counted
	Counts   []Count
}

// N returns how often a reason occurred.
func (t *Totals) N(r Reason) uint64 {
	for i := range t.Counts {
		if t.Counts[i].Reason == r {
			return t.Counts[i].N
		}
	}
	return 0
}

func (t *Totals) count(r Reason, place int64) {
	for i := range t.Counts {
		if t.Counts[i].Reason == r {
			t.Counts[i].N++
			return
		}
	}
	t.Counts = append(t.Counts, Count{r, 1, place})
}

// known returns a when it is known, else b.
func known(a, b int64) int64 {
	if a != recording.None {
		return a
	}
	return b
}
