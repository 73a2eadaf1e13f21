package sched

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"vperf/lib/perf/recording"
)

// A world is a machine whose threads switch at random, and what a recording of it holds.
type world struct {
	*rand.Rand
	now     int64
	cpus    []int64 // thread on each; 0 is idle
	threads []int64 // alive
	off     map[int64]Wait
	next    int64
	feed    []func(*Tracker)
	ours    func(tid int64) bool

	records, tracepoints bool // which are written
	wide                 bool // of the whole system: a tracepoint fires wherever a thread leaves
	repeats              bool // tracepoints fire several times

	waits []Wait
	born  map[int64]int64
	lives map[int64]int64 // length, by thread
}

func (w *world) task(kind recording.TaskKind, at, tid int64, cpu int) {
	if !w.ours(tid) || tid == 0 || !w.records && kind <= recording.TaskPreempt {
		return
	}
	e := recording.TaskEvent{Kind: kind, TimeNS: at, TID: tid, PID: 1, CPU: int64(cpu), Comm: "c"}
	w.feed = append(w.feed, func(t *Tracker) { t.Task(&e) })
}

func (w *world) fork(cpu int) {
	w.next++
	w.threads = append(w.threads, w.next)
	w.off[w.next] = Wait{TID: w.next, StartNS: w.now, State: Runnable}
	w.born[w.next] = w.now
	w.task(recording.TaskFork, w.now, w.next, cpu)
}

// leave has the thread on a CPU leave it and another come. A thread that ends writes its
// exit before.
func (w *world) leave(cpu int, ends bool) {
	prev := w.cpus[cpu]
	state, letter, kind := Sleep, "S", recording.TaskOut
	switch n := w.IntN(8); {
	case ends:
		state, letter = Ended, "X"
		w.task(recording.TaskExit, w.now, prev, cpu)
		w.lives[prev] = w.now - w.born[prev]
		w.threads = slices.DeleteFunc(w.threads, func(t int64) bool { return t == prev })
		w.now += 1 + w.Int64N(50)
	case n < 3:
		state, letter, kind = Runnable, []string{"R", "R+"}[w.IntN(2)], recording.TaskPreempt
	case n == 3:
		state, letter = Blocked, "D|K"
	case n == 4:
		state, letter = Stopped, "t"
	case n == 5:
		state, letter = Unknown, "Q"
	}
	next := int64(0)
	if n := len(w.threads); n > 0 {
		if t := w.threads[w.IntN(n)]; w.off[t].TID != 0 {
			next = t
		}
	}
	if next == prev {
		return
	}
	out := w.now
	traced := w.tracepoints && (w.wide || w.ours(prev) && prev != 0)
	in := out + 2
	if traced {
		in = out
		s := recording.Sample{
			Event: Tracepoint, TimeNS: out, TID: prev, PID: 1, CPU: int64(cpu), Stack: int(w.now%1000) + 1, Comm: "c",
			Payload: fmt.Appendf(nil, "prev_comm=c prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=d next_pid=%d next_prio=120", prev, letter, next),
		}
		if ends {
			s.TID, s.PID = recording.None, recording.None
		}
		n := 1
		if w.repeats {
			n += w.IntN(4)
		}
		for range n {
			w.feed = append(w.feed, func(t *Tracker) { t.Sample(&s) })
		}
	} else {
		out++
		if state != Runnable {
			state = Unknown
		}
	}
	if !ends {
		w.task(kind, w.now+1, prev, cpu)
	}
	w.task(recording.TaskIn, w.now+2, next, cpu)
	if !ends && prev != 0 {
		w.off[prev] = Wait{TID: prev, StartNS: out, State: state}
	}
	if next != 0 {
		x := w.off[next]
		x.DurationNS = in - x.StartNS
		if w.ours(next) {
			w.waits = append(w.waits, x)
		}
		delete(w.off, next)
	}
	w.cpus[cpu] = next
}

func (w *world) run(steps int) {
	for range 4 {
		w.now++
		w.fork(0)
	}
	for range steps {
		w.now += 5 + w.Int64N(1000)
		cpu := w.IntN(len(w.cpus))
		running := w.cpus[cpu] != 0
		switch w.IntN(10) {
		case 0:
			if running && len(w.threads) < 20 {
				w.fork(cpu)
				continue
			}
		case 1:
			if running && len(w.threads) > 2 {
				w.leave(cpu, true)
				continue
			}
		}
		w.leave(cpu, false)
	}
	w.now += 100
	end := w.now
	w.feed = append(w.feed, func(t *Tracker) { t.Seen(end) })
	for _, t := range w.threads {
		w.lives[t] = w.now - w.born[t]
	}
}

func newWorld(seed uint64) *world {
	return &world{
		Rand: rand.New(rand.NewPCG(seed, 7)), cpus: make([]int64, 3), next: 100,
		off: map[int64]Wait{}, born: map[int64]int64{}, lives: map[int64]int64{}, ours: func(int64) bool { return true },
	}
}

var worlds = []struct {
	name string
	set  func(*world)
}{
	{"switch records", func(w *world) { w.records = true }},
	{"tracepoints of the system", func(w *world) { w.tracepoints, w.wide = true, true }},
	{"both, of the system", func(w *world) { w.records, w.tracepoints, w.wide = true, true, true }},
	{"both, of a process", func(w *world) {
		w.records, w.tracepoints = true, true
		w.ours = func(tid int64) bool { return tid%2 == 0 }
	}},
	{"repeating", func(w *world) { w.records, w.tracepoints, w.wide, w.repeats = true, true, true, true }},
}

// TestRandomSchedules compares the waits of random schedules with what happened, and wants
// every life to be made up of its parts to the nanosecond.
func TestRandomSchedules(t *testing.T) {
	for _, c := range worlds {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(60) {
				w := newWorld(seed)
				c.set(w)
				w.run(400)
				got := newWitness(t)
				for _, f := range w.feed {
					f(got.Tracker)
				}
				got.end()
				for i := range got.waits {
					x := &got.waits[i]
					*x = Wait{TID: x.TID, StartNS: x.StartNS, DurationNS: x.DurationNS, State: x.State}
				}
				byStart := func(a, b Wait) int { return cmp.Or(cmp.Compare(a.TID, b.TID), cmp.Compare(a.StartNS, b.StartNS)) }
				slices.SortFunc(got.waits, byStart)
				slices.SortFunc(w.waits, byStart)
				if !slices.Equal(got.waits, w.waits) {
					t.Fatalf("seed %d: %d waits, want %d: %v, want %v", seed, len(got.waits), len(w.waits), got.waits[:3], w.waits[:3])
				}
				seen := 0
				for _, l := range got.lives {
					if l.NS() != w.lives[l.TID] || l.LostNS != 0 {
						t.Fatalf("seed %d: life of %d ns, want %d: %+v", seed, l.NS(), w.lives[l.TID], l)
					}
					seen++
				}
				for tid := range w.lives {
					if w.ours(tid) {
						seen--
					}
				}
				if seen != 0 {
					t.Fatalf("seed %d: %d lives too many", seed, seen)
				}
				for _, n := range got.totals.Counts {
					if n.Reason != Repeated && n.Reason != AfterEnd {
						t.Fatalf("seed %d: %+v", seed, n)
					}
				}
			}
		})
	}
}

// TestLostRecords drops records and repeats others late. What is left has to balance all
// the same: the witness looks.
func TestLostRecords(t *testing.T) {
	for _, c := range worlds {
		for seed := range uint64(60) {
			w := newWorld(seed)
			c.set(w)
			w.run(300)
			got := newWitness(t)
			for i := range w.feed {
				if w.IntN(5) == 0 {
					continue
				}
				if w.IntN(20) == 0 && i > 0 {
					w.feed[i-1](got.Tracker)
				}
				w.feed[i](got.Tracker)
			}
			got.end()
		}
	}
}
