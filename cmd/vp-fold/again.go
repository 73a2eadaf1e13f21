package main

import (
	"fmt"
	"math"
	"slices"

	"vperf/lib/format"
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
	learn  func(record.Event)
	sums   map[sampleKey]int // positions in order
	order  []sampleSum

	timed  bool          // every sample matters
	series format.Series // then: of positions in order
}

type sampleKey struct {
	event    record.ID
	tid, pid int64
	stack    int
}

type sampleSum struct {
	sampleKey
	n, weight   uint64
	first, last int64 // times
}

// waitEvent is the event of waits: the ids of a stream are positive.
const waitEvent = 0

func newFoldedStream(a *app, p *profile) *foldedStream {
	s := &foldedStream{
		Stream: stack.NewStream(), early: newFolder(a.opt, nil, p.run), learn: a.events.learn,
		events: map[record.ID]string{waitEvent: offCPU}, sums: map[sampleKey]int{}, timed: a.file.format.timed,
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
			s.learn(e)
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
	s.add(sampleKey{x.Event, x.TID, x.PID, number}, x.TimeNS, x.Weight)
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
	s.add(sampleKey{waitEvent, w.TID, recording.None, number}, x.TimeNS, x.Weight)
	return nil
}

// add adds the weight of a sample to those like it, or remembers which it is like.
func (s *foldedStream) add(key sampleKey, timeNS int64, weight uint64) {
	i, ok := s.sums[key]
	if !ok {
		i = len(s.order)
		s.sums[key] = i
		s.order = append(s.order, sampleSum{sampleKey: key, first: timeNS, last: timeNS})
	}
	if s.timed {
		s.series.Add(timeNS, uint32(i), weight)
		return
	}
	sum := &s.order[i]
	sum.n++
	sum.weight = stack.Plus(sum.weight, weight)
	sum.first, sum.last = min(sum.first, timeNS), max(sum.last, timeNS)
}

// foldAgain folds the samples of a profile that were folded before.
func (a *app) foldAgain(p *profile) error {
	b := a.newBatch(p.name, record.Stream{})
	for _, s := range p.streams {
		f := newFolder(a.opt, a.file, noRun)
		f.frames = s.Frames
		f.totals = s.early.totals
		add := func(sum *sampleSum, timeNS int64, weight, n uint64) {
			thread := p.threads[sum.tid]
			x := recording.Sample{
				Event: s.events[sum.event], Comm: thread.Name, TID: sum.tid, PID: sum.pid,
				CPU: recording.None, TimeNS: timeNS, Weight: weight, Stack: sum.stack,
			}
			if x.PID == recording.None && thread.PID != nil {
				x.PID = *thread.PID
			}
			if a.opt.samples {
				x.Weight = n
			}
			f.add(&x, n)
		}
		for i := range s.series.Len() {
			timeNS, sum, weight := s.series.At(i)
			add(&s.order[sum], timeNS, weight, 1)
		}
		for i := range s.order {
			sum, before := &s.order[i], f.out
			if sum.n == 0 {
				continue
			}
			if add(sum, sum.first, sum.weight, sum.n); f.out > before {
				a.file.span(sum.last)
			}
		}
		f.finish()
		b.totals.add(&f.totals)
	}
	return b.end()
}
