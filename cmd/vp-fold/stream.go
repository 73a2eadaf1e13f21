package main

import (
	"vperf/lib/event"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
)

// streamSink writes samples as records of one stream. The stream begins with the first
// sample, so that a recording without any leaves nothing behind.
type streamSink struct {
	*record.Interner
	w       *record.Writer
	opt     *options
	begin   record.Stream
	meta    func() *record.Meta // of the recording, written in front; nil where there is none
	began   bool
	events  map[string]record.ID
	last    string
	lastID  record.ID
	order   []string
	threads map[int64]*threadSpan
	tids    []int64
	used    []bool // by stack: samples were taken in it
	stacks  int    // how many of these
	err     error  // of the output
}

type threadSpan struct {
	name        string
	pid         int64
	first, last int64
}

func newStreamSink(w *record.Writer, o *options, begin record.Stream) *streamSink {
	begin.Args = o.args
	return &streamSink{
		Interner: record.NewInterner(w), w: w, opt: o, begin: begin,
		events: map[string]record.ID{}, threads: map[int64]*threadSpan{},
	}
}

func (s *streamSink) start() {
	if !s.began {
		s.began = true
		s.w.Begin(s.begin)
		if s.meta == nil {
			return
		}
		if m := s.meta(); m != nil {
			s.w.Write(m)
		}
	}
}

// Frame begins the stream before the first frame is written into it.
func (s *streamSink) Frame(f record.Frame) record.ID {
	s.start()
	return s.Interner.Frame(f)
}

func (s *streamSink) root(*recording.Sample) string { return "" }

func (s *streamSink) sample(in *recording.Sample, id record.ID) {
	s.start()
	if in.Event != s.last || s.lastID == 0 {
		s.last, s.lastID = in.Event, s.event(in.Event)
	}
	out := record.Sample{Event: s.lastID, TID: in.TID, TimeNS: in.TimeNS, Weight: in.Weight, Stack: id, CPU: in.CPU, PID: in.PID}
	s.err = s.w.Write(&out)
	s.use(id)
	s.thread(in)
}

// use counts distinct stacks.
func (s *streamSink) use(id record.ID) {
	if int(id) >= len(s.used) {
		s.used = append(s.used, make([]bool, int(id)+1-len(s.used))...)
	}
	if !s.used[id] {
		s.used[id] = true
		s.stacks++
	}
}

func (s *streamSink) failed() bool { return s.err != nil }

func (s *streamSink) event(name string) record.ID {
	id, ok := s.events[name]
	if !ok {
		id = record.ID(len(s.events) + 1)
		s.events[name] = id
		s.order = append(s.order, name)
		e := record.Event{ID: id, Name: name, Unit: event.UnitOf(name), Kind: event.KindOf(name)}
		if s.opt.samples {
			e.Unit = event.Count
		}
		s.w.Write(&e)
	}
	return id
}

// thread extends the life that is known of a sample's thread. A thread that changed its
// name goes by the last one.
func (s *streamSink) thread(in *recording.Sample) {
	if in.TID == recording.None {
		return
	}
	t, ok := s.threads[in.TID]
	if !ok {
		t = &threadSpan{pid: recording.None, first: in.TimeNS, last: in.TimeNS}
		s.threads[in.TID] = t
		s.tids = append(s.tids, in.TID)
	}
	t.name = in.Comm
	if in.PID != recording.None {
		t.pid = in.PID
	}
	if in.TimeNS != recording.None {
		if t.first == recording.None || in.TimeNS < t.first {
			t.first = in.TimeNS
		}
		t.last = max(t.last, in.TimeNS)
	}
}

// end writes what only the end knows.
func (s *streamSink) end(notices []record.Notice, cause record.Cause) {
	s.start()
	for _, tid := range s.tids {
		t := s.threads[tid]
		r := record.Thread{TID: tid, Name: t.name}
		if t.pid != recording.None {
			r.PID = record.Int(t.pid)
		}
		if t.first != recording.None {
			r.StartNS, r.EndNS = record.Int(t.first), record.Int(t.last)
		}
		s.w.Write(&r)
	}
	for i := range notices {
		s.w.Write(&notices[i])
	}
	s.w.End(cause)
}
