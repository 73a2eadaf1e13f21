package sched

import "vperf/lib/perf/recording"

// A departure is a thread's leaving a CPU, as one of the sources tells it.
type departure struct {
	at, cpu int64
	by      source
	state   State
	stack   int
	place   int64
}

// name takes what a record says of its thread.
func (h *thread) name(pid int64, comm string) {
	h.PID = known(pid, h.PID)
	if comm != "" {
		h.Comm = comm
	}
}

// begin begins the life of a thread that is found running, if it has not begun.
func (t *Tracker) begin(h *thread, at int64) {
	switch h.phase {
	case guessed:
		t.totals.LateSeen++
		at = min(at, h.since)
	case unseen:
	default:
		return
	}
	h.phase, h.StartNS, h.since = running, at, at
}

// fork begins a life.
func (t *Tracker) fork(e *recording.TaskEvent) {
	h := t.threads[e.TID]
	living := h != nil && h.phase > guessed
	switch end, ended := t.ended[e.TID]; {
	case living && e.TimeNS < h.since || ended && e.TimeNS < end.exit:
		t.totals.count(Disorder, e.Place)
		return
	case living && h.since == e.TimeNS && h.StartNS == e.TimeNS:
		t.totals.count(Repeated, e.Place)
		return
	case living:
		t.totals.count(NoExit, e.Place)
		t.close(h, h.since) // what came after is not known
	}
	delete(t.threads, e.TID)
	delete(t.ended, e.TID)
	h = t.thread(e.TID)
	h.name(e.PID, e.Comm)
	h.phase, h.StartNS, h.since = waiting, e.TimeNS, e.TimeNS
	h.wait = Wait{State: Runnable, CPU: e.CPU}
	h.both = true // no second record will tell of this departure
}

// out has a thread leave its CPU. It reports whether that was told before by the same
// source.
func (t *Tracker) out(h *thread, d *departure) (repeated bool) {
	t.begin(h, d.at)
	if h.phase == waiting {
		switch {
		case h.repeats(d.by, d.at):
			return true
		case h.completes(d.by, d.at):
			h.complete(d)
			return false
		}
		t.totals.count(NoReturn, d.place)
		h.LostNS += d.at - h.since
	} else {
		h.OnNS += d.at - h.since
	}
	h.phase, h.since = waiting, d.at
	h.by, h.both = d.by, false
	h.wait = Wait{CPU: d.cpu, Comm: h.Comm, State: d.state, Stack: d.stack}
	if d.stack == 0 && d.at >= h.leavingNS && d.at-h.leavingNS <= sameSwitch {
		h.wait.Stack = h.leavingStack
	}
	h.leavingStack = 0
	if d.state == Runnable {
		h.Preempted++
	} else {
		h.Voluntary++
	}
	return false
}

// complete takes what the second record of a departure adds to the first.
func (h *thread) complete(d *departure) {
	h.both, h.otherNS = true, d.at
	w := &h.wait
	w.CPU = known(w.CPU, d.cpu)
	if d.stack != 0 {
		w.Stack = d.stack
	}
	// A switch record that says preempted knows it from the run queue, and later than the
	// tracepoint: a thread that was about to sleep may have been woken in between.
	was := w.State
	if d.by == byTracepoint && w.State != Runnable && d.state != Unknown || d.state == Runnable {
		w.State = d.state
	}
	if was != Runnable && w.State == Runnable {
		h.Voluntary--
		h.Preempted++
	}
}

// in gives a thread a CPU. It reports whether that was told before by the same source.
func (t *Tracker) in(h *thread, at int64, by source, place int64) (repeated bool) {
	switch h.phase {
	case unseen, guessed:
		// A guess may be the same return, told by a tracepoint just before, or an old one.
		if at-h.since > sameSwitch {
			h.phase = unseen
		}
		if h.phase == unseen {
			t.totals.LateSeen++
		}
		t.begin(h, at)
		h.by, h.both = by, false
		return false
	case running:
		switch {
		case h.repeats(by, at):
			return true
		case h.completes(by, at):
			h.both, h.otherNS = true, at
			return false
		}
		t.totals.count(NoLeave, place)
		h.LostNS += at - h.since
	case waiting:
		t.endWait(h, at)
	}
	h.phase, h.since = running, at
	h.by, h.both = by, false
	return false
}

func (t *Tracker) endWait(h *thread, at int64) {
	w := &h.wait
	w.TID, w.PID = h.TID, h.PID
	if w.Comm == "" {
		w.Comm = h.Comm // of a thread that was just made
	}
	w.StartNS, w.DurationNS = h.since, at-h.since
	h.OffNS[w.State] += w.DurationNS
	h.Waits++
	if w.Stack == 0 && h.since != h.StartNS { // before its first CPU it was nowhere
		h.NoStack++
	}
	if t.OnWait != nil {
		t.OnWait(w)
	}
}

// repeats reports whether a source told of the last switch at that time.
func (h *thread) repeats(by source, at int64) bool {
	return by == h.by && at == h.since || by != h.by && h.both && at == h.otherNS
}

// completes reports whether a record is the other one of the last switch.
func (h *thread) completes(by source, at int64) bool {
	return by != h.by && !h.both && at-h.since <= sameSwitch
}

// exit ends a life. last is the time of the thread's last switch, or goesOn.
func (t *Tracker) exit(h *thread, at, last, place int64) {
	t.ended[h.TID] = ending{at, last}
	if h.phase == guessed {
		t.begin(h, at)
	}
	switch h.phase {
	case unseen:
		delete(t.threads, h.TID)
		return
	case running:
		h.OnNS += at - h.since
	case waiting:
		t.totals.count(NoReturn, place)
		h.LostNS += at - h.since
	}
	h.Exited = true
	t.close(h, at)
}
