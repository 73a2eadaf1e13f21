package machine

import (
	"strconv"

	"vperf/lib/perf/data"
)

// A process is what its threads share.
type process struct {
	space *space
	live  int // threads that did not end
}

// A thread is one that has the CPU at times.
type thread struct {
	pid, tid int32
	comm     string
	named    bool // comm is more than ":TID"
	ended    bool
	process  *process
}

// tasks are the threads by tid. Those that ended stay for a while, for samples of their
// last moments may follow; but a build starts and ends a hundred thousand of them.
type tasks struct {
	byTID  map[int32]*thread
	last   *thread   // that was looked up
	ended  []*thread // in the order in which they did
	spaces spaces
}

const keepEnded = 1024

// thread returns a thread, which is new if nothing was heard of it yet. pid may be -1.
func (s *tasks) thread(pid, tid int32) *thread {
	t := s.last
	if t == nil || t.tid != tid {
		t = s.byTID[tid]
	}
	if t == nil {
		t = &thread{pid: pid, tid: tid, comm: ":" + strconv.Itoa(int(tid))}
		if tid == 0 {
			t.comm = "swapper" // that runs when no one else does
		}
		s.byTID[tid] = t
		if pid == tid || pid == -1 {
			t.process = &process{space: s.spaces.new()}
		} else {
			t.process = s.thread(pid, pid).process
		}
		t.process.live++
	}
	if t.pid == -1 && pid != -1 {
		if t.pid = pid; pid != tid {
			t.process = s.thread(pid, pid).process
			t.process.live++
		}
	}
	s.last = t
	return t
}

// exit ends a thread. The first one of a process is kept as long as there are others.
func (s *tasks) exit(t *thread) {
	if t.ended {
		return
	}
	t.ended = true
	t.process.live--
	s.ended = append(s.ended, t)
	if len(s.ended) <= keepEnded {
		return
	}
	old := s.ended[0]
	s.ended = s.ended[1:]
	switch {
	case s.byTID[old.tid] != old: // replaced
	case old.pid == old.tid && old.process.live > 0:
		s.ended = append(s.ended, old)
	default:
		s.forget(old)
	}
}

func (s *tasks) forget(t *thread) {
	if !t.ended {
		t.ended = true
		t.process.live--
	}
	delete(s.byTID, t.tid)
	if s.last == t {
		s.last = nil
	}
}

// fork begins a thread, of a new process or of its parent's. known says that perf made the
// record up for one that was there before: its mappings are recorded apart.
func (s *tasks) fork(f data.Task, known bool) *thread {
	parent := s.thread(f.PPID, f.PTID)
	if parent.pid != f.PPID {
		s.forget(parent)
		parent = s.thread(f.PPID, f.PTID)
	}
	if old := s.byTID[f.TID]; old != nil {
		s.forget(old)
	}
	t := s.thread(f.PID, f.TID)
	if parent.named {
		t.comm, t.named = parent.comm, true
	}
	if t.pid != parent.pid && t.process != parent.process && !known {
		parent.process.space.shared = true
		t.process.space = parent.process.space
	}
	return t
}

// name gives a thread the name that it took. Where that came with another program the
// mappings of the old one stay until new ones take their place: samples inside of the system
// call have its caller in their chains.
func (s *tasks) name(t *thread, name string) {
	t.comm, t.named = name, true
}

// mapped puts a mapping into a process.
func (s *tasks) mapped(p *process, m mapping) {
	if len(p.space.maps) < maxMappings {
		p.space = s.spaces.writable(p.space)
		p.space.insert(m)
	}
}
