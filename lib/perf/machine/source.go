package machine

import (
	"fmt"

	"vperf/lib/perf/data"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/symbol"
)

// Options say how addresses become frames.
type Options struct {
	Open      func(symbol.Module) Names // finds the names of a module; may be called by several goroutines
	Inlined   bool                      // inlined functions are frames of their own
	Addresses bool                      // frames bear their addresses, and so are as many
}

// NeedsUnwinding reports whether stacks of the recording have to be made of copies of the
// user stack.
func NeedsUnwinding(events []*data.Event) bool {
	for _, e := range events {
		if e.SampleType&data.SampleStackUser != 0 {
			return true
		}
	}
	return false
}

// A Source yields the samples of a recording. It implements [recording.TaskSource].
type Source struct {
	r      *data.Reader
	tasks  tasks
	kernel *space
	main   mapping // of the kernel itself; no module before it was recorded
	frames frames
	chains *chainMemo
	stacks *recording.Stacks
	tally  recording.Tally
	taken  []uint64 // samples by stack
	onTask func(*recording.TaskEvent)

	raw     data.Sample
	sample  recording.Sample
	also    []reading             // of the same record as sample
	moved   map[counter]uint64    // the last values of counters
	waiting map[int32][]*deferred // samples without their user part, by thread
	ready   []*deferred           // which have it
	formats map[*data.Event]*data.Format
	chain   []byte
	scratch []int32
	payload []byte
}

// A reading is how far a counter moved.
type reading struct {
	event *data.Event
	value uint64
}

type counter struct {
	id  uint64
	tid int32 // where each thread has its own
}

// A deferred sample waits for the user part of its call chain.
type deferred struct {
	sample recording.Sample
	chain  []byte
	cookie uint64
	mode   uint16
	ip     uint64
	thread *thread
}

// NewSource returns the samples of r, which must be at its beginning.
func NewSource(r *data.Reader, o Options) *Source {
	s := &Source{
		r: r, tasks: tasks{byTID: map[int32]*thread{}},
		frames: newFrames(o, r.Info()), chains: newChainMemo(), stacks: recording.NewStacks(),
		moved: map[counter]uint64{}, waiting: map[int32][]*deferred{}, formats: map[*data.Event]*data.Format{},
	}
	s.kernel = s.tasks.spaces.new()
	return s
}

// Next moves to the next sample.
func (s *Source) Next() bool {
	if len(s.also) > 0 {
		s.reading()
		return true
	}
	for {
		if len(s.ready) > 0 {
			d := s.ready[0]
			s.ready = s.ready[1:]
			s.sample = d.sample
			s.finish(d.thread, d.chain, d.mode, d.ip)
			return true
		}
		if !s.r.Next() {
			break
		}
		rec := s.r.Record()
		if rec.Type == data.RecordSample {
			if s.take(rec) {
				return true
			}
			continue
		}
		s.handle(rec)
	}
	return s.end()
}

// end gives out what still waits for its user part, and at last sums up.
func (s *Source) end() bool {
	for tid, list := range s.waiting {
		delete(s.waiting, tid)
		s.ready = append(s.ready, list...)
	}
	if len(s.ready) > 0 {
		return s.Next()
	}
	s.tally.Cut = s.tally.Cut || s.r.Fault() != nil
	return false
}

// Sample returns the sample that Next moved to.
func (s *Source) Sample() *recording.Sample { return &s.sample }

// Stack returns the frames of a stack, leaf first.
func (s *Source) Stack(i int) []int32 { return s.stacks.At(i) }

// Frame returns a frame.
func (s *Source) Frame(i int32) *record.Frame { return &s.frames.list[i] }

// BuildID returns the build-id of a module of frames, empty where it is not known.
func (s *Source) BuildID(module string) string { return s.frames.modules.buildID(module) }

// Tally returns what was counted.
func (s *Source) Tally() *recording.Tally { return &s.tally }

// Err returns why the recording could not be read to its end. A recording that is cut has
// no error, but a [data.Fault].
func (s *Source) Err() error { return s.r.Err() }

// OnTask has Next call f for what the recording tells of the life of threads.
func (s *Source) OnTask(f func(*recording.TaskEvent)) { s.onTask = f }

// handle takes a record that is no sample.
func (s *Source) handle(rec *data.Record) {
	switch rec.Type {
	case data.RecordMmap, data.RecordMmap2:
		if m, ok := rec.Mapping(); ok {
			s.mapping(rec, &m)
		}
	case data.RecordComm:
		if c, ok := rec.Comm(); ok {
			t := s.tasks.thread(c.PID, c.TID)
			s.tasks.name(t, valid(c.Name))
			if c.Exec {
				s.task(rec, recording.TaskExec, t, rec.ID())
			}
		}
	case data.RecordFork:
		if f, ok := rec.Task(); ok {
			s.task(rec, recording.TaskFork, s.tasks.fork(f, rec.Misc&data.MiscForkExec != 0), rec.ID())
		}
	case data.RecordExit:
		if f, ok := rec.Task(); ok {
			t := s.tasks.thread(f.PID, f.TID)
			s.task(rec, recording.TaskExit, t, rec.ID())
			s.tasks.exit(t)
		}
	case data.RecordSwitch, data.RecordSwitchCPUWide:
		s.switched(rec)
	case data.RecordKsymbol:
		if k, ok := rec.Ksymbol(); ok {
			s.ksymbol(&k)
		}
	case data.RecordLost, data.RecordLostSamples:
		const filtered = 1 << 15 // by a BPF program: nobody wanted them
		if n, ok := rec.Lost(); ok && (rec.Type == data.RecordLost || rec.Misc&filtered == 0) && n > 0 {
			s.tally.Add(recording.Lost, n, rec.Place, fmt.Sprintf("%d at once", n))
		}
	case data.RecordCallchainDeferred:
		if cookie, chain, ok := rec.Deferred(); ok {
			s.completed(rec, cookie, chain)
		}
	}
}

// mapping takes a mapping of a process, or of the kernel.
func (s *Source) mapping(rec *data.Record, m *data.Mapping) {
	end := m.Start + m.Size
	if end < m.Start {
		end = ^uint64(0)
	}
	if mode := rec.Misc & data.MiscCPUMode; mode == data.ModeKernel || mode == data.ModeGuestK {
		if _, isMain := kernelName(m.Path); isMain && m.Start == 0 && m.Size == 0 {
			end = ^uint64(0) // early versions of perf did not know where the kernel is
		}
		if mode == data.ModeKernel {
			s.kernel = s.tasks.spaces.writable(s.kernel)
			k := mapping{m.Start, end, m.Start, s.frames.modules.kernel(m)}
			if s.kernel.insert(k); k.module.found.Kind == symbol.Kernel {
				s.main = k
			}
		}
		return
	}
	t := s.tasks.thread(m.PID, m.TID)
	s.tasks.mapped(t.process, mapping{m.Start, end, m.Offset, s.frames.modules.user(m, t.pid)})
}

// ksymbol takes code that the kernel made, or forgot.
func (s *Source) ksymbol(k *data.Ksymbol) {
	s.kernel = s.tasks.spaces.writable(s.kernel)
	old := s.kernel.find(k.Address)
	if k.Gone {
		if old != nil && old.module.only != "" {
			s.kernel.remove(k.Address)
		}
		return
	}
	name := valid(k.Name)
	path := name
	if old != nil && old.module.only == "" {
		path = old.module.name // inside of what is a module already
	}
	s.kernel.insert(mapping{k.Address, k.Address + uint64(k.Size), k.Address, s.frames.modules.code(path, name)})
}

// switched takes a thread that got the CPU, or left it.
func (s *Source) switched(rec *data.Record) {
	if s.onTask == nil {
		return
	}
	w := rec.Switch()
	kind := recording.TaskIn
	switch {
	case w.Out && w.Preempt:
		kind = recording.TaskPreempt
	case w.Out:
		kind = recording.TaskOut
	}
	if w.TID >= 0 {
		s.task(rec, kind, s.tasks.thread(w.PID, w.TID), w.ID)
	}
}

// task tells of the life of a thread.
func (s *Source) task(rec *data.Record, kind recording.TaskKind, t *thread, id data.ID) {
	if s.onTask == nil {
		return
	}
	e := recording.TaskEvent{
		Kind: kind, TimeNS: known(id.Time), TID: int64(t.tid), PID: knownID(t.pid), CPU: knownID(id.CPU), Place: rec.Place,
	}
	if t.named {
		e.Comm = t.comm
	}
	s.onTask(&e)
}

func known(t uint64) int64 {
	if t == data.NoTime || int64(t) < 0 {
		return recording.None
	}
	return int64(t)
}

func knownID(n int32) int64 {
	if n < 0 {
		return recording.None
	}
	return int64(n)
}

// take makes s.sample of a record, and reports whether it is one.
func (s *Source) take(rec *data.Record) bool {
	e, raw := rec.Event(), &s.raw
	switch {
	case e == nil:
		s.tally.Add(recording.Cut, 1, rec.Place, "a sample of an event that the recording does not describe")
		return false
	case !rec.Sample(e, raw):
		s.tally.Add(recording.Cut, 1, rec.Place, "a sample that is shorter than its event demands")
		return false
	}
	t := s.tasks.thread(raw.PID, raw.TID)
	s.sample = recording.Sample{
		Event: e.Name, Comm: t.comm, PID: knownID(raw.PID), TID: knownID(raw.TID), CPU: knownID(raw.CPU),
		TimeNS: known(raw.Time), Weight: raw.Period, Place: rec.Place,
	}
	if e.SampleType&data.SamplePeriod == 0 && (e.Flags&data.FlagFreq != 0 || raw.Period == 0) {
		s.sample.Weight = 1
	}
	if e.Type == data.TypeTracepoint && raw.Raw != nil {
		s.tracepoint(rec, e)
	}
	mode := rec.Misc & data.MiscCPUMode
	chain := raw.Chain
	if e.BranchSampleType&data.BranchCallStack != 0 {
		chain = s.lbr(rec, chain)
	}
	if d := s.isDeferred(rec, chain); d != nil {
		d.sample, d.thread, d.mode, d.ip = s.sample, t, mode, raw.IP
		d.sample.Payload = nil
		s.waiting[raw.TID] = append(s.waiting[raw.TID], d)
		return false
	}
	if e.SampleType&data.SampleRead != 0 && !s.readings(rec, e) {
		return false
	}
	if len(s.also) > 0 {
		s.sample.Event, s.sample.Weight = s.also[0].event.Name, s.also[0].value
		s.also = s.also[1:]
	}
	s.finish(t, chain, mode, raw.IP)
	return true
}

// tracepoint makes the payload.
func (s *Source) tracepoint(rec *data.Record, e *data.Event) {
	format, ok := s.formats[e]
	if !ok {
		format = s.r.Format(e)
		s.formats[e] = format
	}
	if format != nil {
		s.payload = rec.AppendPayload(s.payload[:0], format, s.raw.Raw)
		s.sample.Payload = s.payload
	}
}

// finish gives the sample its stack.
func (s *Source) finish(t *thread, chain []byte, mode uint16, ip uint64) {
	s.sample.Stack = int(s.stack(t, chain, mode, ip))
	s.count()
}

// count counts the sample.
func (s *Source) count() {
	stack := s.sample.Stack
	s.tally.Samples++
	if len(s.stacks.At(stack)) > 1 {
		s.tally.Deep++
	}
	if stack >= len(s.taken) {
		s.taken = append(s.taken, make([]uint64, s.stacks.Len()+1-len(s.taken))...)
	}
	s.taken[stack]++
}

// readings sets s.also to how far the counters of a sample moved, and reports whether any
// of them did.
func (s *Source) readings(rec *data.Record, e *data.Event) bool {
	s.also = s.also[:0]
	rec.Values(e, s.raw.Values, func(v data.Value) {
		id := v.ID
		if e.ReadFormat&data.ReadID == 0 {
			id = s.raw.ID
		}
		of := s.r.EventByID(id)
		if of == nil {
			of = e
		}
		key := counter{id: id}
		if e.Flags&data.FlagInherit != 0 {
			key.tid = s.raw.TID
		}
		if moved := v.Value - s.moved[key]; moved > 0 && v.Value >= s.moved[key] {
			s.also = append(s.also, reading{of, moved})
		}
		s.moved[key] = v.Value
	})
	return len(s.also) > 0
}

// reading moves to the next counter that moved.
func (s *Source) reading() {
	s.sample.Event, s.sample.Weight = s.also[0].event.Name, s.also[0].value
	s.also = s.also[1:]
	s.count()
}

// isDeferred returns what waits for its user part, nil for a sample that is whole.
func (s *Source) isDeferred(rec *data.Record, chain []byte) *deferred {
	n := data.Words(chain)
	if n < 2 || rec.Word(chain, n-2) != data.ContextUserDeferred {
		return nil
	}
	return &deferred{chain: append([]byte(nil), chain[:8*(n-2)]...), cookie: rec.Word(chain, n-1)}
}

// completed gives the samples of a thread the user part of their chains.
func (s *Source) completed(rec *data.Record, cookie uint64, chain []byte) {
	tid := rec.ID().TID
	rest := s.waiting[tid][:0]
	for _, d := range s.waiting[tid] {
		if d.cookie != cookie {
			rest = append(rest, d)
			continue
		}
		d.chain = append(d.chain, chain...)
		s.ready = append(s.ready, d)
	}
	if s.waiting[tid] = rest; len(rest) == 0 {
		delete(s.waiting, tid)
	}
}

// lbr returns a chain whose user part is that of the branch records: where the latest
// branch went, and from where each one came.
func (s *Source) lbr(rec *data.Record, chain []byte) []byte {
	n := data.Words(s.raw.Branches) / 3
	for i := range data.Words(chain) {
		if n == 0 || rec.Word(chain, i) != data.ContextUser {
			continue
		}
		s.chain = append(s.chain[:0], chain[:8*(i+1)]...)
		s.chain = append(s.chain, s.raw.Branches[8:16]...)
		for j := range n {
			s.chain = append(s.chain, s.raw.Branches[24*j:24*j+8]...)
		}
		return s.chain
	}
	return chain
}
