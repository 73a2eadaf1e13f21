package data

// Type is the type of a record.
type Type uint32

// The records of the kernel.
const (
	RecordMmap              Type = 1
	RecordLost              Type = 2
	RecordComm              Type = 3
	RecordExit              Type = 4
	RecordThrottle          Type = 5
	RecordUnthrottle        Type = 6
	RecordFork              Type = 7
	RecordRead              Type = 8
	RecordSample            Type = 9
	RecordMmap2             Type = 10
	RecordAux               Type = 11
	RecordItraceStart       Type = 12
	RecordLostSamples       Type = 13
	RecordSwitch            Type = 14
	RecordSwitchCPUWide     Type = 15
	RecordNamespaces        Type = 16
	RecordKsymbol           Type = 17
	RecordBPFEvent          Type = 18
	RecordCgroup            Type = 19
	RecordTextPoke          Type = 20
	RecordAuxOutputHWID     Type = 21
	RecordCallchainDeferred Type = 22
)

// The records of perf record, which [Reader.Next] takes on the way unless it is said
// otherwise.
const (
	recordUser          Type = 64 // the first of them
	recordAttr          Type = 64
	recordTracingData   Type = 66
	recordBuildID       Type = 67
	recordFinishedRound Type = 68
	recordAuxtrace      Type = 71
	RecordAuxtraceError Type = 72 // yielded
	recordEventUpdate   Type = 78
	RecordTimeConv      Type = 79 // yielded
	recordFeature       Type = 80
	recordCompressed    Type = 81
	recordCompressed2   Type = 83
)

// Bits of Record.Misc.
const (
	MiscCPUMode = 7 // where the CPU was:
	ModeUnknown = 0
	ModeKernel  = 1
	ModeUser    = 2
	ModeHyper   = 3
	ModeGuestK  = 4
	ModeGuestU  = 5

	MiscMmapData      = 1 << 13 // MMAP: not of code
	MiscCommExec      = 1 << 13 // COMM: the process began another program
	MiscForkExec      = 1 << 13 // FORK: made up by perf for a process that was there before
	MiscSwitchOut     = 1 << 13 // SWITCH: it left the CPU
	MiscSwitchPreempt = 1 << 14 // SWITCH: and could have gone on
	MiscMmapBuildID   = 1 << 14 // MMAP2: with a build-id in place of the inode
	miscBuildIDSize   = 1 << 15 // build-id records: the size of the id is in it
)

// A Record is one record of a recording. It is valid until the next call of [Reader.Next].
type Record struct {
	Type  Type
	Misc  uint16
	Body  []byte // what follows the header of 8 bytes
	Time  uint64 // that it was sorted by; NoTime where it has none
	Place int64  // offset of the record; in compressed data, of where its chunk began

	events *events
	order
	own *Event // of a record that is a sample, and others with an id, once it was found
}

// NoTime is the Time of a record that bears none.
const NoTime = ^uint64(0)

// Event returns the event that a record belongs to; nil where the recording does not say.
func (r *Record) Event() *Event {
	if r.own == nil {
		r.own = r.events.find(r.order, r.Type, r.Body)
	}
	return r.own
}

// tail returns the cursor over what all records but samples end with, and the body in
// front of it.
func (r *Record) split() (body, tail []byte) {
	l, ok := r.events.layout(r.order, r.Type, r.Body)
	if n := len(r.Body) - l.tailSize; ok && n >= 0 {
		return r.Body[:n], r.Body[n:]
	}
	return r.Body, nil
}

func (r *Record) fields() cursor { return cursor{order: r.order, b: r.Body} }

// An ID is who a record is about: PID, TID and CPU are -1 where it does not say.
type ID struct {
	PID, TID int32
	CPU      int32
	Time     uint64 // NoTime where it does not say
}

// ID returns what a record that is no sample bears at its end.
func (r *Record) ID() ID {
	id := ID{PID: -1, TID: -1, CPU: -1, Time: NoTime}
	e := r.Event()
	_, tail := r.split()
	if e == nil || len(tail) == 0 {
		return id
	}
	c := cursor{order: r.order, b: tail}
	if e.SampleType&SampleTID != 0 {
		id.PID, id.TID = int32(c.u32()), int32(c.u32())
	}
	if e.SampleType&SampleTime != 0 {
		id.Time = c.u64()
	}
	c.take(uint64(8 * count(e.SampleType&(SampleID|SampleStreamID))))
	if e.SampleType&SampleCPU != 0 {
		id.CPU = int32(c.u32())
	}
	return id
}

// A Mapping is memory that was mapped, of MMAP and MMAP2 records. Its byte slices are
// valid as long as the record.
type Mapping struct {
	PID, TID int32 // -1: of the kernel
	Start    uint64
	Size     uint64
	Offset   uint64 // in the file, in bytes; of the kernel: the address of its reference symbol
	Code     bool   // it can be executed
	BuildID  []byte // nil where it is not said
	Path     []byte
}

// Mapping reads a MMAP or MMAP2 record.
//
//	MMAP:  pid tid u32, address, size, offset u64, path
//	MMAP2: ...offset u64, major minor u32, inode, generation u64, protection flags u32, path
//	       ...offset u64, size u8, padding, build-id[20],         protection flags u32, path
func (r *Record) Mapping() (m Mapping, ok bool) {
	c := r.fields()
	m.PID, m.TID = int32(c.u32()), int32(c.u32())
	m.Start, m.Size, m.Offset = c.u64(), c.u64(), c.u64()
	m.Code = r.Misc&MiscMmapData == 0
	if r.Type == RecordMmap2 {
		who := c.take(24)
		const executable = 4
		m.Code = c.u32()&executable != 0
		c.u32() // flags
		if r.Misc&MiscMmapBuildID != 0 && who != nil {
			m.BuildID = who[4 : 4+min(who[0], 20)]
		}
	}
	m.Path = untilZero(c.b)
	return m, !c.short
}

// A Comm is the name that a thread took.
type Comm struct {
	PID, TID int32
	Exec     bool // with another program
	Name     []byte
}

// Comm reads a COMM record: pid tid u32, name.
func (r *Record) Comm() (m Comm, ok bool) {
	c := r.fields()
	m.PID, m.TID = int32(c.u32()), int32(c.u32())
	m.Exec = r.Misc&MiscCommExec != 0
	m.Name = untilZero(c.b)
	return m, !c.short
}

// A Task is a thread that began or ended, and its parent.
type Task struct {
	PID, PPID int32
	TID, PTID int32
	Time      uint64
}

// Task reads a FORK or EXIT record: pid ppid tid ptid u32, time u64.
func (r *Record) Task() (t Task, ok bool) {
	c := r.fields()
	t.PID, t.PPID = int32(c.u32()), int32(c.u32())
	t.TID, t.PTID = int32(c.u32()), int32(c.u32())
	t.Time = c.u64()
	return t, !c.short
}

// Lost returns how many records (LOST) or samples (LOST_SAMPLES) the kernel could not
// write.
func (r *Record) Lost() (n uint64, ok bool) {
	c := r.fields()
	if r.Type == RecordLost {
		c.u64() // id of the event
	}
	n = c.u64()
	return n, !c.short
}

// A Ksymbol is code that the kernel made or forgot: BPF programs, trampolines.
type Ksymbol struct {
	Address uint64
	Size    uint32
	Gone    bool
	Name    []byte
}

// Ksymbol reads a KSYMBOL record: address u64, size u32, type flags u16, name.
func (r *Record) Ksymbol() (k Ksymbol, ok bool) {
	c := r.fields()
	k.Address, k.Size = c.u64(), c.u32()
	c.u16() // what kind of code it is
	const unregister = 1
	k.Gone = c.u16()&unregister != 0
	k.Name = untilZero(c.b)
	return k, !c.short
}

// A Switch is a thread that got a CPU or left it.
type Switch struct {
	ID      // whose switch it is
	Out     bool
	Preempt bool // it left although it could have gone on
}

// Switch reads a SWITCH or SWITCH_CPU_WIDE record. What the latter has in front, the
// thread on the other side, is not needed: that one has a record of its own.
func (r *Record) Switch() Switch {
	return Switch{ID: r.ID(), Out: r.Misc&MiscSwitchOut != 0, Preempt: r.Misc&MiscSwitchPreempt != 0}
}

// Deferred reads a CALLCHAIN_DEFERRED record: the user part of the call chains whose
// samples bear its cookie.
//
//	cookie, n u64, address u64 * n
func (r *Record) Deferred() (cookie uint64, chain []byte, ok bool) {
	c := r.fields()
	cookie = c.u64()
	chain = c.words(c.u64())
	return cookie, chain, !c.short
}
