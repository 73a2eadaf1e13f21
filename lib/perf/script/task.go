package script

import (
	"bytes"

	"vperf/lib/perf/recording"
)

var _ recording.TaskSource = (*Reader)(nil)

// OnTask has every Next call f for what the text tells of the life of threads, if `perf
// script` was asked to print it (--show-task-events, --show-switch-events).
func (r *Reader) OnTask(f func(*recording.TaskEvent)) { r.onTask = f }

// taskRecord hands the record in r.head to the caller of OnTask, if it is one of a thread's
// life. A record that ends a call chain has to wait until its sample was handed out.
func (r *Reader) taskRecord(place int64, inChain bool) bool {
	if r.onTask == nil {
		return false
	}
	h := &r.head
	e := recording.TaskEvent{TimeNS: h.time, TID: h.tid, PID: h.pid, CPU: h.cpu, Place: place}
	if !parseTask(h.record, &e) || e.TID == recording.None {
		return false
	}
	if e.Comm == "" && e.Kind != recording.TaskFork { // the columns of a fork are its parent's
		e.Comm = r.name(h.comm, "")
	}
	if inChain {
		r.held, r.holding = e, true
	} else {
		r.onTask(&e)
	}
	return true
}

// release hands out the record that ended the sample before.
func (r *Reader) release() {
	if r.holding {
		r.holding = false
		r.onTask(&r.held)
	}
}

// parseTask reads what stands behind PERF_RECORD_:
//
//	SWITCH IN
//	SWITCH OUT preempt
//	SWITCH_CPU_WIDE OUT          next pid/tid: 11906/11909
//	FORK(11830:11832):(11830:11830)
//	EXIT(11830:11836):(11828:11828)
//	COMM exec: threads:11830/11830
//
// A switch is one of the thread in the columns in front of it, the others name theirs.
func parseTask(text []byte, e *recording.TaskEvent) bool {
	if rest, ok := bytes.CutPrefix(text, []byte("SWITCH")); ok {
		words := bytes.Fields(rest)
		if len(words) > 0 && string(words[0]) == "_CPU_WIDE" {
			words = words[1:]
		}
		switch {
		case len(words) == 0:
			return false
		case string(words[0]) == "IN":
			e.Kind = recording.TaskIn
		case string(words[0]) != "OUT":
			return false
		case len(words) > 1 && string(words[1]) == "preempt":
			e.Kind = recording.TaskPreempt
		default:
			e.Kind = recording.TaskOut
		}
		return true
	}
	if rest, ok := bytes.CutPrefix(text, []byte("FORK(")); ok {
		e.Kind = recording.TaskFork
		return parseIDs(rest, e)
	}
	if rest, ok := bytes.CutPrefix(text, []byte("EXIT(")); ok {
		e.Kind = recording.TaskExit
		return parseIDs(rest, e)
	}
	if rest, ok := bytes.CutPrefix(text, []byte("COMM exec: ")); ok {
		e.Kind = recording.TaskExec
		i := bytes.LastIndexByte(rest, ':') // a name may hold others
		if i < 0 {
			return false
		}
		pid, tid, ok := parseThread(bytes.TrimSpace(rest[i+1:]))
		e.PID, e.TID, e.Comm = pid, tid, valid(bytes.TrimSpace(rest[:i]))
		return ok
	}
	return false
}

// parseIDs reads "PID:TID)".
func parseIDs(text []byte, e *recording.TaskEvent) bool {
	ids, _, closed := bytes.Cut(text, []byte(")"))
	left, right, both := bytes.Cut(ids, []byte(":"))
	pid, ok := parseID(left)
	tid, ok2 := parseID(right)
	e.PID, e.TID = pid, tid
	return closed && both && ok && ok2
}
