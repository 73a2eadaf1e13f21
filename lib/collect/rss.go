package collect

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"vperf/lib/record"
)

// rssPeriod is the time between two readings.
const rssPeriod = 10 * time.Millisecond

// childrenShare bounds what looking after the command's descendants may cost: the next
// look is not before this many times the last one's duration. One process with a few
// threads is looked at every period, a thousand processes a few times a second.
const childrenShare = 50

// rssSampler reads the resident set size of a process and of its descendants: the second
// field of /proc/PID/statm, the number that top shows.
type rssSampler struct {
	pageSize int64
	procs    []*process // who is alive, the root first
	known    map[int]bool
	buf      []byte
	quit     chan struct{}
	finished chan struct{}

	mu       sync.Mutex
	readings []record.RSS
}

// process is one that is read. Its files stay open: reading them again is far cheaper than
// opening them, and they never show another process that got the same pid.
type process struct {
	pid      int
	statm    *os.File
	children *os.File // of its main thread
	tasks    string   // directory of its threads
}

// newRSS returns a sampler that does not read yet.
func newRSS(root int) *rssSampler {
	s := &rssSampler{
		pageSize: int64(os.Getpagesize()),
		known:    map[int]bool{},
		buf:      make([]byte, 4096),
		quit:     make(chan struct{}),
		finished: make(chan struct{}),
	}
	s.add(root)
	return s
}

// start starts reading.
func (s *rssSampler) start() { go s.run() }

// stop ends the reading.
func (s *rssSampler) stop() {
	close(s.quit)
	<-s.finished
}

// take returns the readings since the last take.
func (s *rssSampler) take() []record.RSS {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.readings
	s.readings = nil
	return taken
}

func (s *rssSampler) run() {
	defer close(s.finished)
	defer func() {
		for _, p := range s.procs {
			p.close()
		}
	}()
	tick := time.NewTicker(rssPeriod) // it skips beats that we are late for, and does not drift
	defer tick.Stop()
	var due time.Time // of the descendants
	for len(s.procs) > 0 {
		s.read(s.procs[0])
		if start := time.Now(); !start.Before(due) {
			for i := 0; i < len(s.procs); i++ { // it grows meanwhile
				s.find(s.procs[i])
			}
			for _, p := range s.procs[1:] {
				s.read(p)
			}
			s.procs = slices.DeleteFunc(s.procs, s.forget)
			due = start.Add(childrenShare * time.Since(start))
		}
		select {
		case <-tick.C:
		case <-s.quit:
			return
		}
	}
	<-s.quit
}

// add begins to read a process, unless it has ended.
func (s *rssSampler) add(pid int) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	statm, err := os.Open(dir + "statm")
	if err != nil {
		return
	}
	children, err := os.Open(dir + "task/" + strconv.Itoa(pid) + "/children")
	if err != nil { // it has just ended, or this kernel has no such file
		children = nil
	}
	s.known[pid] = true
	s.procs = append(s.procs, &process{pid, statm, children, dir + "task"})
}

// close closes the files of a process.
func (p *process) close() {
	p.statm.Close()
	if p.children != nil {
		p.children.Close()
	}
	p.statm = nil
}

// forget reports whether a process has ended, and forgets it if so.
func (s *rssSampler) forget(p *process) bool {
	if p.statm == nil {
		delete(s.known, p.pid)
	}
	return p.statm == nil
}

// find adds the children of a process that are not known yet.
func (s *rssSampler) find(p *process) {
	if p.statm == nil || p.children == nil {
		return
	}
	s.addAll(p.children)
	// The directory of the threads has two links and one for each of them: proc_task_getattr.
	var stat syscall.Stat_t
	if syscall.Stat(p.tasks, &stat) != nil || stat.Nlink <= 3 {
		return
	}
	threads, err := os.ReadDir(p.tasks)
	if err != nil {
		return // it has ended
	}
	for _, thread := range threads {
		if children, err := os.Open(p.tasks + "/" + thread.Name() + "/children"); err == nil {
			s.addAll(children)
			children.Close()
		}
	}
}

// addAll adds the processes that a children file lists.
func (s *rssSampler) addAll(list *os.File) {
	for offset := int64(0); ; {
		n, err := syscall.Pread(int(list.Fd()), s.buf, offset)
		if err != nil || n == 0 {
			return
		}
		fields := s.buf[:n]
		if n == len(s.buf) { // read on behind the last whole number
			fields = fields[:bytes.LastIndexByte(fields, ' ')+1]
		}
		offset += int64(len(fields))
		for field := range bytes.FieldsSeq(fields) {
			if pid, err := strconv.Atoi(string(field)); err == nil && !s.known[pid] {
				s.add(pid)
			}
		}
	}
}

// read takes one reading. A process that is a zombie, or is just becoming something else,
// has no memory and no reading.
func (s *rssSampler) read(p *process) {
	if p.statm == nil {
		return
	}
	n, err := syscall.Pread(int(p.statm.Fd()), s.buf, 0)
	if err != nil {
		p.close() // it has ended
		return
	}
	pages, ok := residentPages(s.buf[:n])
	if !ok {
		return
	}
	s.mu.Lock()
	s.readings = append(s.readings, record.RSS{PID: int64(p.pid), TimeNS: now(), Bytes: pages * s.pageSize})
	s.mu.Unlock()
}

// residentPages returns the second field of a line of statm: "size resident shared ...".
// It is not ok without address space (size 0).
func residentPages(statm []byte) (pages int64, ok bool) {
	size, rest, found := bytes.Cut(statm, []byte{' '})
	if !found || string(size) == "0" {
		return 0, false
	}
	resident, _, _ := bytes.Cut(rest, []byte{' '})
	pages, err := strconv.ParseInt(string(resident), 10, 64)
	return pages, err == nil
}
