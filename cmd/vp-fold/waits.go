package main

import (
	"fmt"
	"math"
	"strings"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/sched"
)

// offCPU is the event that waits are samples of where a format knows only samples: their
// weight is the time that a thread was off the CPU. It is what perf calls it.
const offCPU = "offcpu-time"

// A waitSink takes waits as what they are. x is the wait as a sample of the event offCPU,
// and stack its stack.
type waitSink interface {
	wait(x *recording.Sample, state sched.State, stack record.ID)
	life(l *sched.Life)
}

// follow makes the folder look for switches in a recording, if somebody wants waits.
func (f *folder) follow(src recording.Source) {
	f.waitSink, _ = f.sink.(waitSink)
	if f.waitSink == nil && !f.opt.offCPU {
		return
	}
	f.tracker = sched.NewTracker()
	f.tracker.OnWait = f.wait
	if f.waitSink != nil {
		f.tracker.OnLife = f.life
	}
	if s, ok := src.(recording.TaskSource); ok {
		s.OnTask(f.tracker.Task)
	}
}

// observe tells the tracker of a sample.
func (f *folder) observe(s *recording.Sample) {
	if s.Event != f.seenEvent {
		f.seenEvent, f.isSwitch = s.Event, sched.IsSwitch(s.Event)
	}
	if f.isSwitch {
		f.tracker.Sample(s)
	} else if s.TimeNS != recording.None {
		f.tracker.Seen(s.TimeNS)
	}
}

// wait passes a wait on.
func (f *folder) wait(w *sched.Wait) {
	count := &f.waits
	if f.opt.offCPU {
		count = &f.totals
	}
	x := recording.Sample{
		Event: offCPU, Comm: w.Comm, PID: w.PID, TID: w.TID, CPU: w.CPU,
		TimeNS: w.StartNS, Weight: uint64(w.DurationNS), Stack: w.Stack,
	}
	count.in++
	if reason := f.takeWait(&x, w.State); reason != "" {
		count.drop(reason, 1)
	} else {
		count.out++
	}
}

func (f *folder) takeWait(x *recording.Sample, state sched.State) (dropped string) {
	if reason := f.launching(x); reason != "" {
		return reason
	}
	o := f.opt
	if !wants(o.cpus, x.CPU) || !wants(o.states, state) || !f.clip(x) {
		return "filtered"
	}
	m, reason := f.stackOf(x)
	if reason != "" {
		return reason
	}
	if f.waitSink != nil {
		f.waitSink.wait(x, state, m.id)
		return ""
	}
	m.n++
	if o.samples {
		x.Weight = 1
	}
	f.sink.sample(x, m.id, 1)
	return ""
}

// clip cuts a wait to what lies between --from and --to, and reports whether it does.
func (f *folder) clip(x *recording.Sample) bool {
	o := f.opt
	if !o.timed() {
		return true
	}
	start, end := x.TimeNS, x.TimeNS+int64(x.Weight)
	f.beginAt(start)
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if o.from > 0 {
		from = f.origin + o.from
	}
	if o.to < math.MaxInt64-f.origin {
		to = f.origin + o.to
	}
	if start >= to || start < from && end <= from {
		return false
	}
	start, end = max(start, from), min(end, to)
	x.TimeNS, x.Weight = start, uint64(end-start)
	return true
}

// life passes on when a thread lived. That of a part of the run is not known, nor when the
// target took the place of its launcher.
func (f *folder) life(l *sched.Life) {
	o := f.opt
	target := f.run.launcher != "" && f.ofTarget(&recording.Sample{PID: l.PID, TID: l.TID})
	if !o.timed() && o.cpus == nil && wants(o.tids, l.TID) && wants(o.pids, l.PID) && wants(o.comms, l.Comm) && !target {
		f.waitSink.life(l)
	}
}

// wait writes a wait.
func (s *streamSink) wait(x *recording.Sample, state sched.State, id record.ID) {
	if !s.start() {
		return
	}
	s.write(&record.Wait{TID: x.TID, StartNS: x.TimeNS, DurationNS: int64(x.Weight), State: state.String(), Stack: id})
	s.use(id)
	s.span(x, x.TimeNS+int64(x.Weight))
}

// life extends what is known of a thread to the whole of its life. A wait that had not
// ended is left out, so that the time on a CPU is that of the life without the waits.
func (s *streamSink) life(l *sched.Life) {
	if s.start() {
		s.span(&recording.Sample{TID: l.TID, PID: l.PID, Comm: l.Comm, TimeNS: l.StartNS}, l.EndNS-l.OpenNS)
	}
}

// schedNotices says what is to be known about the waits of a recording. The first is the
// account of all threads. folding says that waits are what was asked for.
func schedNotices(t *sched.Totals, folding bool) []record.Notice {
	if t.Voluntary+t.Preempted == 0 && !folding {
		return nil // forks and exits alone: nobody recorded switches
	}
	if t.Threads == 0 && len(t.Counts) == 0 {
		return nil
	}
	var list []record.Notice
	say := func(severity record.Severity, cause record.Cause, fix, format string, a ...any) {
		list = append(list, record.Notice{Severity: severity, Cause: cause, Text: fmt.Sprintf(format, a...), Fix: fix})
	}
	var states []string
	for state, ns := range t.OffNS {
		if ns > 0 {
			states = append(states, fmt.Sprintf("%v %s", sched.State(state), seconds(ns)))
		}
	}
	parts := []string{seconds(t.OnNS) + " on a CPU", fmt.Sprintf("%s off it in %d waits", seconds(t.Off()), t.Waits)}
	if states != nil {
		parts[1] += " (" + strings.Join(states, ", ") + ")"
	}
	if t.Open > 0 {
		parts = append(parts, fmt.Sprintf("%s and more in %d waits that had not ended and are left out", seconds(t.OpenNS), t.Open))
	}
	if t.LostNS > 0 {
		parts = append(parts, seconds(t.LostNS)+" not recorded")
	}
	say(record.Info, "", "", "%d threads lived %s together: %s; %d switches, %d of them preemptions",
		t.Threads, seconds(t.NS()), strings.Join(parts, ", "), t.Voluntary+t.Preempted, t.Preempted)
	if t.LateSeen > 0 {
		say(record.Info, "", "", "%d threads were off the CPU when the recording of them began: how long is not known", t.LateSeen)
	}
	if t.NoStack > 0 {
		fix := ""
		if folding {
			fix = "perf record -g --switch-events -e sched:sched_switch, or -e context-switches/period=1/ without access to tracefs"
		}
		say(record.Info, "", fix, "of %d waits is not known where the thread left the CPU", t.NoStack)
	}
	for _, c := range t.Counts {
		switch c.Reason {
		case sched.Repeated, sched.AfterEnd:
			say(record.Info, "", "", "%d %s were read over", c.N, c.Reason)
		case sched.NoReturn, sched.NoLeave:
			say(record.Warning, "", "perf record --switch-events records both, -m 16M loses less",
				"%d %s, the first at %d: their waits are left out", c.N, c.Reason, c.Place)
		default:
			say(record.Warning, record.CauseBadInput, "", "%d %s, the first at %d", c.N, c.Reason, c.Place)
		}
	}
	return list
}

// seconds writes a duration with three digits.
func seconds(ns int64) string {
	value, unit := float64(ns)/1e9, "s"
	switch {
	case value >= 1000 || value == 0:
		return fmt.Sprintf("%.0f s", value)
	case value < 1e-3:
		value, unit = value*1e6, "us"
	case value < 1:
		value, unit = value*1e3, "ms"
	}
	return fmt.Sprintf("%.3g %s", value, unit)
}
