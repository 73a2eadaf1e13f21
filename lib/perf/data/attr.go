package data

// SampleType says what a sample of an event holds: the bits of perf_event_attr.sample_type.
type SampleType uint64

// The parts of a sample.
const (
	SampleIP SampleType = 1 << iota
	SampleTID
	SampleTime
	SampleAddr
	SampleRead
	SampleCallchain
	SampleID
	SampleCPU
	SamplePeriod
	SampleStreamID
	SampleRaw
	SampleBranchStack
	SampleRegsUser
	SampleStackUser
	SampleWeight
	SampleDataSrc
	SampleIdentifier
	SampleTransaction
	SampleRegsIntr
	SamplePhysAddr
	SampleAux
	SampleCgroup
	SampleDataPageSize
	SampleCodePageSize
	SampleWeightStruct
)

// ReadFormat says what the value of a counter comes with: the bits of
// perf_event_attr.read_format.
type ReadFormat uint64

// The parts of a value.
const (
	ReadTotalTimeEnabled ReadFormat = 1 << iota
	ReadTotalTimeRunning
	ReadID
	ReadGroup
	ReadLost
)

// AttrFlags are the bits of perf_event_attr behind read_format, the lowest first.
type AttrFlags uint64

// The flags that matter to a reader.
const (
	FlagInherit       AttrFlags = 1 << 1
	FlagExcludeUser   AttrFlags = 1 << 4
	FlagExcludeKernel AttrFlags = 1 << 5
	FlagExcludeHV     AttrFlags = 1 << 6
	FlagFreq          AttrFlags = 1 << 10
	FlagSampleIDAll   AttrFlags = 1 << 18
	FlagExcludeHost   AttrFlags = 1 << 19
	FlagExcludeGuest  AttrFlags = 1 << 20
	FlagUseClockID    AttrFlags = 1 << 25
	FlagContextSwitch AttrFlags = 1 << 26
)

// PreciseIP returns how precise the instruction pointer was asked to be, 0 to 3.
func (f AttrFlags) PreciseIP() int { return int(f >> 15 & 3) }

// Bits of Attr.BranchSampleType that change what a sample holds.
const (
	BranchCallStack = 1 << 11 // the branches are the callers (--call-graph lbr)
	branchHWIndex   = 1 << 17
	branchCounters  = 1 << 19
)

// Types of Attr.Type; PMUs of the machine have larger ones.
const (
	TypeHardware = iota
	TypeSoftware
	TypeTracepoint
	TypeHWCache
	TypeRaw
	TypeBreakpoint
)

// Attr is what an event was opened with, struct perf_event_attr.
type Attr struct {
	Type             uint32
	Size             uint32 // of the kernel's struct; 0 before 2.6.32
	Config           uint64
	SamplePeriod     uint64 // the frequency with FlagFreq
	SampleType       SampleType
	ReadFormat       ReadFormat
	Flags            AttrFlags
	BPType           uint32
	Config1          uint64 // the address of a breakpoint
	Config2          uint64
	BranchSampleType uint64
	RegsUser         uint64
	StackUser        uint32
	ClockID          int32
	RegsIntr         uint64
	AuxSampleSize    uint32
	Config3          uint64
	SigData          uint64
	Rest             []byte // what a newer kernel has behind these
}

// attrKnown is the size of the struct up to SigData and Config3 (PERF_ATTR_SIZE_VER8), the
// fields of which every older one is a beginning.
const (
	attrFirst = 64 // PERF_ATTR_SIZE_VER0
	attrKnown = 136
)

// parseAttr reads an attribute of the size that it came in. Fields that it does not have
// are 0.
func parseAttr(o order, b []byte) (a Attr, ok bool) {
	if len(b) < attrFirst {
		return a, false
	}
	c := cursor{order: o, b: b}
	a.Type, a.Size = c.u32(), c.u32()
	a.Config, a.SamplePeriod = c.u64(), c.u64()
	a.SampleType, a.ReadFormat = SampleType(c.u64()), ReadFormat(c.u64())
	a.Flags = bitFlags(o, c.u64())
	c.u32() // wakeup_events
	a.BPType = c.u32()
	a.Config1, a.Config2 = c.u64(), c.u64()
	a.BranchSampleType, a.RegsUser = c.u64(), c.u64()
	a.StackUser, a.ClockID = c.u32(), int32(c.u32())
	a.RegsIntr = c.u64()
	c.u32() // aux_watermark
	c.u32() // sample_max_stack
	a.AuxSampleSize = c.u32()
	c.u32() // aux_action
	a.SigData, a.Config3 = c.u64(), c.u64()
	if len(b) > attrKnown {
		a.Rest = append([]byte(nil), b[attrKnown:]...)
	}
	return a, true
}

// bitFlags returns a word of C bit fields with the first field in its lowest bit. Machines
// with the big end first begin at the highest.
func bitFlags(o order, v uint64) AttrFlags {
	if !o.big {
		return AttrFlags(v)
	}
	var f AttrFlags
	for i := range 64 {
		f |= AttrFlags(v>>(63-i)&1) << i
	}
	// precise_ip is the one field of two bits: they change places with each other.
	f = f&^(3<<15) | f>>1&(1<<15) | f<<1&(1<<16)
	return f
}

// An Event is one of the events of a recording.
type Event struct {
	Attr
	Name  string   // as perf prints it, with modifiers
	IDs   []uint64 // that its records bear, one per CPU and thread it was opened for
	Index int      // its place among the events

	named bool // the recording names it
	layout
}

// layout is where the records of an event have what is needed to put them in order, in
// bytes; -1 where they do not have it.
type layout struct {
	sampleTime int // from the beginning of a sample's body
	tailTime   int // from the end of any other record
	tailSize   int // of what such a record ends with
}

func layoutOf(a *Attr) layout {
	t := a.SampleType
	l := layout{sampleTime: -1, tailTime: -1}
	if t&SampleTime != 0 {
		l.sampleTime = 8 * count(t&(SampleIdentifier|SampleIP|SampleTID))
	}
	if a.Flags&FlagSampleIDAll != 0 {
		l.tailSize = 8 * count(t&(SampleTID|SampleTime|SampleID|SampleStreamID|SampleCPU|SampleIdentifier))
		if t&SampleTime != 0 {
			l.tailTime = 8 * count(t&(SampleTime|SampleID|SampleStreamID|SampleCPU|SampleIdentifier))
		}
	}
	return l
}

func count(t SampleType) int {
	n := 0
	for ; t != 0; t &= t - 1 {
		n++
	}
	return n
}

// positions returns where the id of an event is: in a sample, in 8-byte words from the
// beginning of its body, and in other records from their end.
func (a *Attr) positions() (sample, tail int, ok bool) {
	t := a.SampleType
	switch {
	case t&SampleIdentifier != 0:
		return 0, 1, true
	case t&SampleID == 0:
		return 0, 0, false
	}
	return count(t & (SampleIP | SampleTID | SampleTime | SampleAddr)), 1 + count(t&(SampleCPU|SampleStreamID)), true
}

// The events of a recording, found by the ids in its records.
type events struct {
	list   []*Event
	byID   map[uint64]*Event
	sample int // where the first one's records have their ids; all the others have it there
	tail   int
	hasIDs bool
	same   bool // all have the same layout: it need not be known which one a record is of
}

func (s *events) add(a Attr, ids []uint64) *Event {
	e := &Event{Attr: a, IDs: ids, Index: len(s.list), layout: layoutOf(&a)}
	if len(s.list) == 0 {
		s.sample, s.tail, s.hasIDs = a.positions()
		s.byID, s.same = map[uint64]*Event{}, true
	} else if e.layout != s.list[0].layout {
		s.same = false
	}
	for _, id := range ids {
		s.byID[id] = e
	}
	s.list = append(s.list, e)
	return e
}

// find returns the event of a record; nil where its id is not known. The rules are perf's:
// records that it makes up itself, with the id 0, are of the first event.
func (s *events) find(o order, t Type, body []byte) *Event {
	if len(s.list) == 0 {
		return nil
	}
	first := s.list[0]
	if len(s.list) == 1 || !s.hasIDs || t != RecordSample && first.Flags&FlagSampleIDAll == 0 {
		return first
	}
	words := len(body) / 8
	at := s.sample
	if t != RecordSample {
		at = words - s.tail
	}
	if at < 0 || at >= words {
		return nil
	}
	id := o.u64(body[8*at:])
	if id == 0 {
		return first
	}
	return s.byID[id]
}

// layout returns where a record of type t has what puts it in order.
func (s *events) layout(o order, t Type, body []byte) (l layout, ok bool) {
	if len(s.list) == 0 {
		return layout{sampleTime: -1, tailTime: -1}, true
	}
	if s.same {
		return s.list[0].layout, true
	}
	if e := s.find(o, t, body); e != nil {
		return e.layout, true
	}
	return layout{}, false
}
