// Package format is what the file formats of other tools have in common: the samples of
// one event over the stacks of a [stack.Table], and the threads that they belong to. The
// packages below it write and read the formats; none of them knows where samples come
// from.
//
//	p := format.NewProfile(stack.NewTable(), record.Event{Name: "cycles", Unit: "cycles"})
//	p.Timed = true
//	p.Add(sample, stackID, 1)
//	speedscope.Write(out, p)
package format

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// NoStack is the frame that stands for those of a sample that has none, so that the totals
// of every format are those of the samples.
var NoStack = record.Frame{Symbol: "[no stack]"}

// A Profile is the samples of one event.
type Profile struct {
	Table    *stack.Table
	Event    record.Event      // Name and Unit are looked at
	By       string            // tool and version that wrote it
	Args     []string          // the options that changed the result
	BuildIDs map[string]string // by module, in hexadecimal, as far as they are known
	Threads  []*Thread         // in the order in which they appear

	// Timed keeps every sample in the Series of its thread, 16 bytes each. Without it
	// samples of equal thread and stack are one Sum, and memory follows what is distinct.
	Timed bool
	Sums  []Sum

	First, Last int64 // times of the samples; None where they have none

	index   map[threadKey]int
	sumOf   map[sumKey]int
	last    threadKey // of lastIdx
	lastIdx int
}

// A Thread is one that was sampled.
type Thread struct {
	PID, TID int64  // None where they are not known
	Name     string // the last one it had; empty where it is not known
	Series   Series
}

// String returns "NAME-PID/TID", as folded stacks begin with for --root thread.
func (t *Thread) String() string {
	name := t.Name
	switch {
	case name == "" && t.TID == recording.None:
		return "all threads"
	case name == "":
		name = fmt.Sprintf(":%d", t.TID)
	}
	switch {
	case t.TID == recording.None:
		return name
	case t.PID == recording.None:
		return fmt.Sprintf("%s-?/%d", name, t.TID)
	}
	return fmt.Sprintf("%s-%d/%d", name, t.PID, t.TID)
}

// A Sum is the samples of one thread in one stack.
type Sum struct {
	Thread int // in Threads
	Stack  record.ID
	N      uint64 // samples
	Weight uint64 // theirs together, in the event's unit
}

type (
	threadKey struct {
		pid, tid int64
		name     string // where there is no tid
	}
	sumKey struct {
		thread int
		stack  record.ID
	}
)

// NewProfile returns a Profile without samples.
func NewProfile(t *stack.Table, event record.Event) *Profile {
	return &Profile{
		Table: t, Event: event, First: recording.None, Last: recording.None,
		index: map[threadKey]int{}, sumOf: map[sumKey]int{}, lastIdx: -1,
	}
}

// Add takes a sample that stands for n, in a stack of the table.
func (p *Profile) Add(s *recording.Sample, id record.ID, n uint64) {
	i := p.thread(s)
	p.Span(s.TimeNS)
	if p.Timed {
		p.Threads[i].Series.Add(s.TimeNS, uint32(id), s.Weight)
		return
	}
	key := sumKey{i, id}
	j, ok := p.sumOf[key]
	if !ok {
		j = len(p.Sums)
		p.sumOf[key] = j
		p.Sums = append(p.Sums, Sum{Thread: i, Stack: id})
	}
	p.Sums[j].N = stack.Plus(p.Sums[j].N, n)
	p.Sums[j].Weight = stack.Plus(p.Sums[j].Weight, s.Weight)
}

// Span widens the time of the samples to one that may be None.
func (p *Profile) Span(timeNS int64) {
	if timeNS == recording.None {
		return
	}
	if p.First == recording.None || timeNS < p.First {
		p.First = timeNS
	}
	p.Last = max(p.Last, timeNS)
}

func (p *Profile) thread(s *recording.Sample) int {
	key := threadKey{pid: s.PID, tid: s.TID}
	if s.TID == recording.None {
		key.name = s.Comm
	}
	i := p.lastIdx
	if i < 0 || key != p.last {
		var ok bool
		if i, ok = p.index[key]; !ok {
			i = len(p.Threads)
			p.index[key] = i
			p.Threads = append(p.Threads, &Thread{PID: s.PID, TID: s.TID})
		}
		p.last, p.lastIdx = key, i
	}
	if s.Comm != "" {
		p.Threads[i].Name = s.Comm
	}
	return i
}

// Process returns the name of a thread's process, which is that of its main thread; empty
// where that one has no sample.
func (p *Profile) Process(t *Thread) string {
	if t.PID == recording.None {
		return ""
	}
	if i, ok := p.index[threadKey{pid: t.PID, tid: t.PID}]; ok {
		return p.Threads[i].Name
	}
	return ""
}

// A Series is samples in columns: a time, a number that says what was sampled, a weight.
// It takes 16 bytes a sample.
type Series struct {
	times   []int64
	refs    []uint32
	weights []uint32       // large where it does not fit
	large   map[int]uint64 // by position
	late    bool           // times do not ascend
}

const large = math.MaxUint32

// Add adds a sample; timeNS may be None.
func (s *Series) Add(timeNS int64, ref uint32, weight uint64) {
	if n := len(s.times); n > 0 && timeNS < s.times[n-1] {
		s.late = true
	}
	small := uint32(large)
	if weight < large {
		small = uint32(weight)
	} else {
		if s.large == nil {
			s.large = map[int]uint64{}
		}
		s.large[len(s.times)] = weight
	}
	s.times, s.refs, s.weights = append(s.times, timeNS), append(s.refs, ref), append(s.weights, small)
}

// Len returns how many samples there are.
func (s *Series) Len() int { return len(s.times) }

// At returns a sample.
func (s *Series) At(i int) (timeNS int64, ref uint32, weight uint64) {
	weight = uint64(s.weights[i])
	if weight == large {
		weight = s.large[i]
	}
	return s.times[i], s.refs[i], weight
}

// Order returns the positions of the samples in the order of their times; samples of the
// same time stay as they were added.
func (s *Series) Order() []int32 {
	order := make([]int32, len(s.times))
	for i := range order {
		order[i] = int32(i)
	}
	if s.late {
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(s.times[a], s.times[b]) })
	}
	return order
}
