package record

// FrameKind tells where code runs.
type FrameKind string

// The frame kinds.
const (
	KindUser    FrameKind = "user"
	KindKernel  FrameKind = "kernel"
	KindUnknown FrameKind = "unknown"
)

// Frame is a place in the code. Frames that differ only in ID are the same frame.
type Frame struct {
	ID      ID
	Symbol  string // without offset; empty where it could not be resolved
	Module  string // path of the ELF file or its likeness ("[vdso]", "[kernel.kallsyms]"); empty where unknown
	Kind    FrameKind
	File    string
	Line    int
	Inlined bool   // the compiler put it into the frame that calls it
	Address string // hex, "0x1149"; only where the producer was asked to keep addresses
}

// Stack is a call stack as a node of a trie: its leaf frame and the stack of its caller.
type Stack struct {
	ID     ID
	Frame  ID
	Parent ID // absent (0) at the root
}

// Sample is one sample of an event.
type Sample struct {
	Event  ID
	TID    int64  // None where the recording has no thread
	TimeNS int64  // None where it has no time
	Weight uint64 // period in the event's unit, 1 where the recording has none
	Stack  ID     // 0 where it has no frames
	CPU    int64  // None where it was not recorded
	PID    int64  // None where it was not recorded
}

// Wait is an interval in which a thread did not run.
type Wait struct {
	TID        int64
	StartNS    int64
	DurationNS int64
	State      string // sleep, blocked, runnable, stopped, unknown
	Stack      ID     // where it went to sleep; 0 where unknown
}

// Type returns [TypeFrame].
func (*Frame) Type() Type { return TypeFrame }

// Type returns [TypeStack].
func (*Stack) Type() Type { return TypeStack }

// Type returns [TypeSample].
func (*Sample) Type() Type { return TypeSample }

// Type returns [TypeWait].
func (*Wait) Type() Type { return TypeWait }

func (f *Frame) appendTo(b []byte) ([]byte, error) {
	b = append(b, `{"type":"frame","id":`...)
	b = appendUint(b, uint64(f.ID))
	b = appendText(b, `,"symbol":`, f.Symbol)
	b = appendText(b, `,"module":`, f.Module)
	b = appendText(b, `,"kind":`, string(f.Kind))
	b = appendText(b, `,"file":`, f.File)
	if f.Line != 0 {
		b = append(b, `,"line":`...)
		b = appendInt(b, int64(f.Line))
	}
	if f.Inlined {
		b = append(b, `,"inlined":true`...)
	}
	b = appendText(b, `,"address":`, f.Address)
	return append(b, '}'), nil
}

func (s *Stack) appendTo(b []byte) ([]byte, error) {
	b = append(b, `{"type":"stack","id":`...)
	b = appendUint(b, uint64(s.ID))
	b = append(b, `,"frame":`...)
	b = appendUint(b, uint64(s.Frame))
	if s.Parent != 0 {
		b = append(b, `,"parent":`...)
		b = appendUint(b, uint64(s.Parent))
	}
	return append(b, '}'), nil
}

func (s *Sample) appendTo(b []byte) ([]byte, error) {
	b = append(b, `{"type":"sample","event":`...)
	b = appendUint(b, uint64(s.Event))
	b = appendKnown(b, `,"tid":`, s.TID)
	b = appendKnown(b, `,"time_ns":`, s.TimeNS)
	b = append(b, `,"weight":`...)
	b = appendUint(b, s.Weight)
	if s.Stack != 0 {
		b = append(b, `,"stack":`...)
		b = appendUint(b, uint64(s.Stack))
	}
	b = appendKnown(b, `,"cpu":`, s.CPU)
	b = appendKnown(b, `,"pid":`, s.PID)
	return append(b, '}'), nil
}

func (w *Wait) appendTo(b []byte) ([]byte, error) {
	b = append(b, `{"type":"wait","tid":`...)
	b = appendInt(b, w.TID)
	b = append(b, `,"start_ns":`...)
	b = appendInt(b, w.StartNS)
	b = append(b, `,"duration_ns":`...)
	b = appendInt(b, w.DurationNS)
	b = appendText(b, `,"state":`, w.State)
	if w.Stack != 0 {
		b = append(b, `,"stack":`...)
		b = appendUint(b, uint64(w.Stack))
	}
	return append(b, '}'), nil
}

// The parsers below read lines as this package writes them: the keys in their order, no
// blanks, strings without escapes. Whatever else JSON allows goes to the library, which
// is slower and always right.

func (f *Frame) parse(line []byte) error {
	last := *f // neighbours share module and file
	*f = Frame{}
	s := scanner{b: line}
	s.want(`{"type":"frame","id":`)
	f.ID = s.id()
	if s.has(`,"symbol":`) {
		f.Symbol = s.text()
	}
	if s.has(`,"module":`) {
		f.Module = s.again(last.Module)
	}
	if s.has(`,"kind":`) {
		f.Kind = s.kind()
	}
	if s.has(`,"file":`) {
		f.File = s.again(last.File)
	}
	if s.has(`,"line":`) {
		f.Line = int(s.int())
	}
	f.Inlined = s.has(`,"inlined":true`)
	if s.has(`,"address":`) {
		f.Address = s.text()
	}
	if !s.end() {
		return f.parseOdd(line)
	}
	return requireID(f.ID, "frame", "id")
}

func (k *Stack) parse(line []byte) error {
	*k = Stack{}
	s := scanner{b: line}
	s.want(`{"type":"stack","id":`)
	k.ID = s.id()
	s.want(`,"frame":`)
	k.Frame = s.id()
	if s.has(`,"parent":`) {
		k.Parent = s.id()
	}
	if !s.end() {
		return k.parseOdd(line)
	}
	return k.check()
}

func (k *Stack) check() error {
	if err := requireID(k.ID, "stack", "id"); err != nil {
		return err
	}
	return requireID(k.Frame, "stack", "frame")
}

func (p *Sample) parse(line []byte) error {
	*p = Sample{TID: None, TimeNS: None, CPU: None, PID: None}
	s := scanner{b: line}
	s.want(`{"type":"sample","event":`)
	p.Event = s.id()
	if s.has(`,"tid":`) {
		p.TID = s.int()
	}
	if s.has(`,"time_ns":`) {
		p.TimeNS = s.int()
	}
	s.want(`,"weight":`)
	p.Weight = s.uint()
	if s.has(`,"stack":`) {
		p.Stack = s.id()
	}
	if s.has(`,"cpu":`) {
		p.CPU = s.int()
	}
	if s.has(`,"pid":`) {
		p.PID = s.int()
	}
	if !s.end() {
		return p.parseOdd(line)
	}
	return requireID(p.Event, "sample", "event")
}

func (w *Wait) parse(line []byte) error {
	last := w.State
	*w = Wait{}
	s := scanner{b: line}
	s.want(`{"type":"wait","tid":`)
	w.TID = s.int()
	s.want(`,"start_ns":`)
	w.StartNS = s.int()
	s.want(`,"duration_ns":`)
	w.DurationNS = s.int()
	if s.has(`,"state":`) {
		w.State = s.again(last)
	}
	if s.has(`,"stack":`) {
		w.Stack = s.id()
	}
	if !s.end() {
		return w.parseOdd(line)
	}
	return nil
}
