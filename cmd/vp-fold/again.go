package main

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/sched"
	"vperf/lib/stack"
)

// A foldedStream sums up the samples, or the waits, of one stream of an earlier vp-fold.
// The names of their threads may come last.
type foldedStream struct {
	*stack.Stream
	early  *folder // filters by time and CPU
	events map[record.ID]string
	sums   map[sampleKey]*sampleSum
	order  []sampleKey
}

type sampleKey struct {
	event    record.ID
	tid, pid int64
	stack    int
}

type sampleSum struct{ n, weight uint64 }

// waitEvent is the event of waits: the ids of a stream are positive.
const waitEvent = 0

func newFoldedStream(o *options, p *profile) *foldedStream {
	s := &foldedStream{
		Stream: stack.NewStream(), early: newFolder(o, nil, p.run),
		events: map[record.ID]string{waitEvent: offCPU}, sums: map[sampleKey]*sampleSum{},
	}
	s.early.run.launcher = "" // its samples were left out then
	p.streams = append(p.streams, s)
	return s
}

// take takes the record that the reader is at.
func (s *foldedStream) take(r *record.Reader, p *profile) error {
	switch r.Type() {
	case record.TypeFrame:
		var f record.Frame
		if r.Decode(&f) {
			return s.AddFrame(&f)
		}
	case record.TypeStack:
		var k record.Stack
		if r.Decode(&k) {
			return s.AddStack(&k)
		}
	case record.TypeEvent:
		var e record.Event
		if r.Decode(&e) {
			s.events[e.ID] = e.Name
		}
	case record.TypeThread:
		var t record.Thread
		if r.Decode(&t) {
			p.threads[t.TID] = t
		}
	case record.TypeSample:
		var x record.Sample
		if !s.early.opt.offCPU && r.Decode(&x) {
			return s.sample(&x)
		}
	case record.TypeWait:
		var x record.Wait
		if s.early.opt.offCPU && r.Decode(&x) {
			return s.wait(&x)
		}
	}
	return nil
}

const undefined = "undefined ids"

func (s *foldedStream) sample(x *record.Sample) error {
	number, ok := s.Number(x.Stack)
	if !ok {
		s.early.leaveOut(undefined)
		return fmt.Errorf("sample of stack %d, which was not defined", x.Stack)
	}
	if _, ok := s.events[x.Event]; !ok {
		s.early.leaveOut(undefined)
		return fmt.Errorf("sample of event %d, which was not defined", x.Event)
	}
	if reason := s.early.early(&recording.Sample{PID: x.PID, TID: x.TID, CPU: x.CPU, TimeNS: x.TimeNS}); reason != "" {
		s.early.leaveOut(reason)
		return nil
	}
	s.add(sampleKey{x.Event, x.TID, x.PID, number}, x.Weight)
	return nil
}

func (s *foldedStream) wait(w *record.Wait) error {
	number, ok := s.Number(w.Stack)
	if !ok {
		s.early.leaveOut(undefined)
		return fmt.Errorf("wait in stack %d, which was not defined", w.Stack)
	}
	o, x := s.early.opt, recording.Sample{TimeNS: w.StartNS, Weight: uint64(w.DurationNS)}
	if w.DurationNS < 0 || w.StartNS < 0 || w.StartNS > math.MaxInt64-w.DurationNS {
		s.early.leaveOut("impossible times")
		return fmt.Errorf("wait of %d ns from %d on", w.DurationNS, w.StartNS)
	}
	isState := func(state sched.State) bool { return state.String() == w.State }
	if o.cpus != nil || o.states != nil && !slices.ContainsFunc(o.states, isState) || !s.early.clip(&x) {
		s.early.leaveOut("filtered") // a wait has no CPU
		return nil
	}
	s.add(sampleKey{waitEvent, w.TID, recording.None, number}, x.Weight)
	return nil
}

// add adds the weight of a sample to those like it.
func (s *foldedStream) add(key sampleKey, weight uint64) {
	sum, ok := s.sums[key]
	if !ok {
		sum = &sampleSum{}
		s.sums[key] = sum
		s.order = append(s.order, key)
	}
	sum.n++
	total, carry := bits.Add64(sum.weight, weight, 0)
	if carry != 0 {
		total = math.MaxUint64
	}
	sum.weight = total
}

// foldAgain folds the samples of a profile that were folded before.
func (a *app) foldAgain(p *profile) error {
	b := a.newBatch(p.name, record.Stream{})
	for _, s := range p.streams {
		f := newFolder(a.opt, a.folded, noRun)
		f.frames = s.Frames
		f.totals = s.early.totals
		for _, key := range s.order {
			sum, thread := s.sums[key], p.threads[key.tid]
			x := recording.Sample{
				Event: s.events[key.event], Comm: thread.Name, TID: key.tid, PID: key.pid,
				CPU: recording.None, TimeNS: recording.None, Weight: sum.weight, Stack: key.stack,
			}
			if x.PID == recording.None && thread.PID != nil {
				x.PID = *thread.PID
			}
			if a.opt.samples {
				x.Weight = sum.n
			}
			f.add(&x, sum.n)
		}
		f.finish()
		b.totals.add(&f.totals)
	}
	return b.end()
}
