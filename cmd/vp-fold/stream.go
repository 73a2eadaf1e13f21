package main

import (
	"vperf/lib/event"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
)

// A streamSink writes samples as the records of one stream. The stream begins with the
// first sample, so that a recording without any leaves nothing behind.
type streamSink struct {
	opt    *options
	events catalogue
	open   func() (*record.Writer, error)
	begin  record.Stream
	meta   func() *record.Meta // of the recording, asked for at the beginning; may be nil

	w        *record.Writer // nil until the stream began
	interner *record.Interner
	err      error // of the output

	eventIDs   map[string]record.ID
	eventNames []string // in order
	lastName   string
	lastID     record.ID

	threads map[int64]*threadSpan
	tids    []int64 // in order

	used   []bool // by stack: samples were taken in it
	stacks int    // how many of these
}

// threadSpan is what the samples of a thread say about it.
type threadSpan struct {
	name        string
	pid         int64
	first, last int64
}

func newStreamSink(open func() (*record.Writer, error), o *options, events catalogue, begin record.Stream) *streamSink {
	begin.Args = o.args
	return &streamSink{opt: o, events: events, open: open, begin: begin, eventIDs: map[string]record.ID{}, threads: map[int64]*threadSpan{}}
}

// start begins the stream, and reports whether records can be written.
func (s *streamSink) start() bool {
	if s.w != nil || s.err != nil {
		return s.err == nil
	}
	w, err := s.open()
	if err != nil {
		s.err = err
		return false
	}
	s.w, s.interner = w, record.NewInterner(w)
	s.err = w.Begin(s.begin)
	if s.meta != nil {
		if m := s.meta(); m != nil {
			s.write(m)
		}
	}
	return s.err == nil
}

func (s *streamSink) write(r record.Record) {
	if err := s.w.Write(r); err != nil {
		s.err = err
	}
}

// Frame and Stack make the sink an interner.
func (s *streamSink) Frame(f record.Frame) record.ID {
	if !s.start() {
		return 1
	}
	return s.interner.Frame(f)
}

func (s *streamSink) Stack(parent, frame record.ID) record.ID {
	if !s.start() {
		return 1
	}
	return s.interner.Stack(parent, frame)
}

func (s *streamSink) root(*recording.Sample) string { return "" }
func (s *streamSink) failed() bool                  { return s.err != nil }

func (s *streamSink) sample(in *recording.Sample, id record.ID, _ uint64) {
	if !s.start() {
		return
	}
	if in.Event != s.lastName || s.lastID == 0 {
		s.lastName, s.lastID = in.Event, s.event(in)
	}
	s.write(&record.Sample{Event: s.lastID, TID: in.TID, TimeNS: in.TimeNS, Weight: in.Weight, Stack: id, CPU: in.CPU, PID: in.PID})
	s.use(id)
	s.span(in, in.TimeNS)
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

func (s *streamSink) event(in *recording.Sample) record.ID {
	name := in.Event
	id, ok := s.eventIDs[name]
	if !ok {
		s.eventNames = append(s.eventNames, name)
		id = record.ID(len(s.eventNames))
		s.eventIDs[name] = id
		e := s.events.of(name)
		e.ID = id
		if s.opt.samples || in.NoPeriod {
			e.Unit = event.Count
		}
		s.write(&e)
	}
	return id
}

// span extends the life that is known of a sample's thread, to end. A thread that changed
// its name goes by the last one.
func (s *streamSink) span(in *recording.Sample, end int64) {
	if in.TID == recording.None {
		return
	}
	t, ok := s.threads[in.TID]
	if !ok {
		t = &threadSpan{pid: recording.None, first: in.TimeNS, last: end}
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
		t.last = max(t.last, end)
	}
}

// end writes what only the end knows, and closes the stream.
func (s *streamSink) end(notices []record.Notice, cause record.Cause) {
	if !s.start() {
		return
	}
	for _, tid := range s.tids {
		t := s.threads[tid]
		r := record.Thread{TID: tid, Name: t.name}
		if t.pid != recording.None {
			r.PID = record.Int(t.pid)
		}
		if t.first != recording.None {
			r.StartNS, r.EndNS = record.Int(t.first), record.Int(t.last)
		}
		s.write(&r)
	}
	for i := range notices {
		s.write(&notices[i])
	}
	if err := s.w.End(cause); err != nil {
		s.err = err
	}
}
