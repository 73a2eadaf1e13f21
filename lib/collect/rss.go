package collect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
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
	root     int
	pageSize int64
	procs    map[int]*os.File // statm of everyone who is alive
	order    []int            // pids as found, the root first
	buf      []byte
	quit     chan struct{}
	finished chan struct{}

	mu       sync.Mutex
	readings []record.RSS
}

// startRSS starts reading.
func startRSS(root int) *rssSampler {
	s := &rssSampler{
		root:     root,
		pageSize: int64(os.Getpagesize()),
		procs:    map[int]*os.File{},
		buf:      make([]byte, 256),
		quit:     make(chan struct{}),
		finished: make(chan struct{}),
	}
	go s.run()
	return s
}

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
		for _, file := range s.procs {
			file.Close()
		}
	}()
	tick := time.NewTicker(rssPeriod) // it skips beats that we are late for, and does not drift
	defer tick.Stop()
	s.add(s.root)
	var children time.Time // when they are due
	for {
		s.read(s.root)
		if start := time.Now(); !start.Before(children) {
			s.find(s.root)
			for _, pid := range slices.Clone(s.order) {
				if pid != s.root {
					s.read(pid)
				}
			}
			children = start.Add(childrenShare * time.Since(start))
		}
		select {
		case <-tick.C:
		case <-s.quit:
			return
		}
	}
}

func (s *rssSampler) add(pid int) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return // it has ended
	}
	s.procs[pid] = file
	s.order = append(s.order, pid)
}

// find adds the descendants of a process that are not known yet.
func (s *rssSampler) find(pid int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // only a bad pattern fails
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range bytes.Fields(text) {
			child, err := strconv.Atoi(string(field))
			if err != nil {
				continue
			}
			if s.procs[child] == nil {
				s.add(child)
			}
			s.find(child)
		}
	}
}

// read takes one reading. A process that has ended is forgotten; one that is a zombie, or
// is just becoming something else, has no memory and no reading.
func (s *rssSampler) read(pid int) {
	file := s.procs[pid]
	if file == nil {
		return
	}
	n, err := syscall.Pread(int(file.Fd()), s.buf, 0)
	if err != nil {
		file.Close()
		delete(s.procs, pid)
		s.order = slices.DeleteFunc(s.order, func(p int) bool { return p == pid })
		return
	}
	pages, ok := residentPages(s.buf[:n])
	if !ok {
		return
	}
	s.mu.Lock()
	s.readings = append(s.readings, record.RSS{PID: int64(pid), TimeNS: now(), Bytes: pages * s.pageSize})
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
