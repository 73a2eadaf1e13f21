package data

// A Sample is what a SAMPLE record holds. Its byte slices are parts of the record, in the
// byte order of the recording, and valid as long as it.
type Sample struct {
	IP       uint64
	PID, TID int32 // -1 where it does not say, as CPU
	CPU      int32
	Time     uint64 // NoTime where it does not say
	Addr     uint64
	ID       uint64
	StreamID uint64
	Period   uint64 // that of the event where the sample has none

	Values []byte // counters, see [Record.Values]
	Chain  []byte // call chain: addresses of 8 bytes and contexts, the leaf first
	Raw    []byte // what a tracepoint or PMU has written

	Branches     []byte // of 24 bytes: from, to, flags; the latest first
	UserABI      uint64 // of the registers: 0 none, 1 of 32 and 2 of 64 bits
	UserRegs     []byte
	UserStack    []byte // what was copied from the stack pointer on
	IntrABI      uint64
	IntrRegs     []byte
	Weight       uint64 // with WEIGHT_STRUCT: weight in the lower 32 bits, then 16 and 16 more
	DataSrc      uint64
	Transaction  uint64
	PhysAddr     uint64
	Cgroup       uint64
	DataPageSize uint64
	CodePageSize uint64
	Aux          []byte
}

// Contexts in call chains: where the addresses behind them are.
const (
	ContextHV           = ^uint64(32 - 1)
	ContextKernel       = ^uint64(128 - 1)
	ContextUser         = ^uint64(512 - 1)
	ContextUserDeferred = ^uint64(640 - 1) // a cookie follows: see [Record.Deferred]
	ContextGuest        = ^uint64(2048 - 1)
	ContextGuestKernel  = ^uint64(2176 - 1)
	ContextGuestUser    = ^uint64(2560 - 1)
	ContextMax          = ^uint64(4095 - 1) // what is not less is a context
)

// Sample reads a SAMPLE record of the event e into s. Where it is shorter than its event
// demands, it reports false.
func (r *Record) Sample(e *Event, s *Sample) bool {
	c := r.fields()
	t := e.SampleType
	*s = Sample{PID: -1, TID: -1, CPU: -1, Time: NoTime, Period: e.SamplePeriod}
	if t&SampleIdentifier != 0 {
		s.ID = c.u64()
	}
	if t&SampleIP != 0 {
		s.IP = c.u64()
	}
	if t&SampleTID != 0 {
		s.PID, s.TID = int32(c.u32()), int32(c.u32())
	}
	if t&SampleTime != 0 {
		s.Time = c.u64()
	}
	if t&SampleAddr != 0 {
		s.Addr = c.u64()
	}
	if t&SampleID != 0 {
		s.ID = c.u64()
	}
	if t&SampleStreamID != 0 {
		s.StreamID = c.u64()
	}
	if t&SampleCPU != 0 {
		s.CPU = int32(c.u32())
		c.u32()
	}
	if t&SamplePeriod != 0 {
		s.Period = c.u64()
	}
	if t&SampleRead != 0 {
		s.Values = takeValues(&c, e.ReadFormat)
	}
	if t&SampleCallchain != 0 {
		s.Chain = c.words(c.u64())
	}
	if t&SampleRaw != 0 {
		// The size is padded so that it and the data together are whole words.
		s.Raw = c.take(uint64(c.u32()))
	}
	const rare = SampleBranchStack | SampleRegsUser | SampleStackUser | SampleWeight | SampleDataSrc | SampleTransaction |
		SampleRegsIntr | SamplePhysAddr | SampleAux | SampleCgroup | SampleDataPageSize | SampleCodePageSize | SampleWeightStruct
	if t&rare != 0 {
		sampleRest(&c, e, s)
	}
	return !c.short
}

func sampleRest(c *cursor, e *Event, s *Sample) {
	t := e.SampleType
	if t&SampleBranchStack != 0 {
		n := c.u64()
		if e.BranchSampleType&branchHWIndex != 0 {
			c.u64()
		}
		if n > uint64(len(c.b))/24 {
			c.short, c.b = true, nil
		}
		s.Branches = c.take(24 * n)
		if e.BranchSampleType&branchCounters != 0 {
			c.words(n)
		}
	}
	if t&SampleRegsUser != 0 {
		s.UserABI, s.UserRegs = takeRegs(c, e.RegsUser)
	}
	if t&SampleStackUser != 0 {
		if size := c.u64(); size > 0 {
			s.UserStack = c.take(size)
			if n := c.u64(); n < size {
				s.UserStack = s.UserStack[:min(n, uint64(len(s.UserStack)))]
			}
		}
	}
	if t&(SampleWeight|SampleWeightStruct) != 0 {
		s.Weight = c.u64()
	}
	if t&SampleDataSrc != 0 {
		s.DataSrc = c.u64()
	}
	if t&SampleTransaction != 0 {
		s.Transaction = c.u64()
	}
	if t&SampleRegsIntr != 0 {
		s.IntrABI, s.IntrRegs = takeRegs(c, e.RegsIntr)
	}
	if t&SamplePhysAddr != 0 {
		s.PhysAddr = c.u64()
	}
	if t&SampleCgroup != 0 {
		s.Cgroup = c.u64()
	}
	if t&SampleDataPageSize != 0 {
		s.DataPageSize = c.u64()
	}
	if t&SampleCodePageSize != 0 {
		s.CodePageSize = c.u64()
	}
	if t&SampleAux != 0 {
		s.Aux = c.take(c.u64())
	}
}

func takeRegs(c *cursor, mask uint64) (abi uint64, regs []byte) {
	if abi = c.u64(); abi != 0 {
		regs = c.words(uint64(count(SampleType(mask))))
	}
	return abi, regs
}

// takeValues returns the part of c that holds the values of counters.
//
//	one:   value [enabled] [running] [id] [lost]
//	group: n [enabled] [running] (value [id] [lost]) * n
func takeValues(c *cursor, f ReadFormat) []byte {
	times := count(SampleType(f & (ReadTotalTimeEnabled | ReadTotalTimeRunning)))
	each := 1 + count(SampleType(f&(ReadID|ReadLost)))
	if f&ReadGroup == 0 {
		return c.words(uint64(times + each))
	}
	rest := cursor{order: c.order, b: c.b}
	n := rest.u64()
	if n > uint64(len(c.b))/8 {
		c.short, c.b = true, nil
		return nil
	}
	return c.words(1 + uint64(times) + n*uint64(each))
}

// A Value is that of a counter.
type Value struct {
	Value uint64
	ID    uint64 // of the event; 0 where the recording has none
	Lost  uint64
}

// Values calls f for each value of Sample.Values, and returns how long the counters were
// enabled and running, in nanoseconds.
func (r *Record) Values(e *Event, values []byte, f func(Value)) (enabled, running uint64) {
	c := cursor{order: r.order, b: values}
	n := uint64(1)
	group := e.ReadFormat&ReadGroup != 0
	one := func() (v Value) {
		v.Value = c.u64()
		return v
	}
	ids := func(v *Value) {
		if e.ReadFormat&ReadID != 0 {
			v.ID = c.u64()
		}
		if e.ReadFormat&ReadLost != 0 {
			v.Lost = c.u64()
		}
	}
	var single Value
	if group {
		n = c.u64()
	} else {
		single = one()
	}
	if e.ReadFormat&ReadTotalTimeEnabled != 0 {
		enabled = c.u64()
	}
	if e.ReadFormat&ReadTotalTimeRunning != 0 {
		running = c.u64()
	}
	if !group {
		ids(&single)
		f(single)
		return enabled, running
	}
	for ; n > 0 && !c.short; n-- {
		v := one()
		if ids(&v); !c.short {
			f(v)
		}
	}
	return enabled, running
}

// A Reading is a counter's final value for a thread, of a READ record.
type Reading struct {
	PID, TID int32
	Values   []byte
}

// Reading reads a READ record: pid tid u32, values.
func (r *Record) Reading(e *Event) (x Reading, ok bool) {
	c := r.fields()
	x.PID, x.TID = int32(c.u32()), int32(c.u32())
	x.Values = takeValues(&c, e.ReadFormat)
	return x, !c.short
}

// Words returns the number of 8-byte numbers in b, such as Sample.Chain.
func Words(b []byte) int { return len(b) / 8 }

// Word returns the i-th number of 8 bytes.
func (r *Record) Word(b []byte, i int) uint64 { return r.u64(b[8*i:]) }
