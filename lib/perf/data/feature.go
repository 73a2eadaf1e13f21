package data

import (
	"bytes"
	"encoding/hex"
)

// Numbers of the features, the bits of the file's header.
const (
	featTracingData = 1
	featBuildID     = 2
	featHostname    = 3
	featRelease     = 4
	featVersion     = 5
	featArch        = 6
	featCPUs        = 7
	featCPUDesc     = 8
	featCPUID       = 9
	featMemory      = 10
	featCmdline     = 11
	featEventDesc   = 12
	featPMUs        = 16
	featSampleTime  = 21
	featClockID     = 23
	featCompressed  = 27
	featClockData   = 29
	features        = 256
)

// Info is what perf record wrote about the machine and itself. Fields without a value are
// empty.
type Info struct {
	Hostname  string
	Release   string // of the kernel
	Version   string // of perf
	Arch      string
	CPU       string // its name
	CPUID     string // "AuthenticAMD,25,17,1"
	CPUs      int    // online
	AllCPUs   int
	MemoryKiB uint64
	Command   []string // of perf record, with its arguments
	PMUs      map[uint32]string
	Clock     *Clock // nil: perf's own, which is close to CLOCK_MONOTONIC

	FirstSample, LastSample uint64 // times; 0 where it is not said

	// BuildIDs are those of the files in which samples fell, by path.
	BuildIDs map[string]BuildID
}

// A Clock is the one that times are of.
type Clock struct {
	ID         int32  // CLOCK_MONOTONIC is 1
	Resolution uint64 // nanoseconds; 0 where it is not said
	WallNS     uint64 // the time of day, and
	TimeNS     uint64 // that clock, at one moment; 0 where it is not said
}

// A BuildID identifies the contents of a file.
type BuildID struct {
	ID     string // lower-case hex
	Kernel bool   // of the kernel and its modules
}

// feature reads one feature. What is cut in it, or was never there, stays empty.
func (r *Reader) feature(number int, b []byte) {
	c := cursor{order: r.order, b: b}
	in := &r.info
	switch number {
	case featTracingData:
		r.formats = parseTracing(b)
	case featBuildID:
		r.buildIDs(b)
	case featHostname:
		in.Hostname = c.text()
	case featRelease:
		in.Release = c.text()
	case featVersion:
		in.Version = c.text()
	case featArch:
		in.Arch = c.text()
	case featCPUDesc:
		in.CPU = c.text()
	case featCPUID:
		in.CPUID = c.text()
	case featCPUs:
		in.AllCPUs, in.CPUs = int(c.u32()), int(c.u32())
	case featMemory:
		in.MemoryKiB = c.u64()
	case featCmdline:
		in.Command = nil
		for n := c.u32(); n > 0 && !c.short; n-- {
			if word := c.text(); !c.short {
				in.Command = append(in.Command, word)
			}
		}
	case featEventDesc:
		r.eventNames(&c)
	case featPMUs:
		in.PMUs = map[uint32]string{}
		for n := c.u32(); n > 0 && !c.short; n-- {
			id, name := c.u32(), c.text()
			if !c.short {
				in.PMUs[id] = name
			}
		}
	case featSampleTime:
		in.FirstSample, in.LastSample = c.u64(), c.u64()
	case featClockID:
		r.clock().Resolution = c.u64()
	case featClockData:
		c.u32() // version
		clock := r.clock()
		clock.ID, clock.WallNS, clock.TimeNS = int32(c.u32()), c.u64(), c.u64()
	}
}

func (r *Reader) clock() *Clock {
	if r.info.Clock == nil {
		r.info.Clock = &Clock{ID: -1}
		if list := r.events.list; len(list) > 0 && list[0].Flags&FlagUseClockID != 0 {
			r.info.Clock.ID = list[0].ClockID
		}
	}
	return r.info.Clock
}

// eventNames reads the names of the events, which perf wrote in their order.
//
//	n, size of an attribute u32, then each: attribute, ids u32, name, id u64 * ids
func (r *Reader) eventNames(c *cursor) {
	n, size := c.u32(), c.u32()
	for i := 0; i < int(n) && i < len(r.events.list); i++ {
		c.take(uint64(size))
		ids := c.u32()
		name := c.text()
		c.words(uint64(ids))
		if c.short {
			return
		}
		if e := r.events.list[i]; !e.named && name != "" {
			e.Name, e.named = name, true
		}
	}
}

// buildIDs reads records
//
//	type u32, misc u16, size u16, pid i32, build-id[20], its size u8, padding, path
//
// Early versions of perf had no pid; their records show it in the name of the kernel.
func (r *Reader) buildIDs(b []byte) {
	const withPID, kernelName = 36, "[kernel.kallsyms]"
	quirk := len(b) > withPID && bytes.HasPrefix(b[withPID:], []byte(kernelName[4:]))
	for len(b) >= withPID {
		size := int(r.u16(b[6:]))
		if size < withPID || size > len(b) {
			return
		}
		r.buildID(r.u16(b[4:]), b[8:size], quirk)
		b = b[size:]
	}
}

func (r *Reader) buildID(misc uint16, body []byte, quirk bool) {
	if quirk {
		body = append(make([]byte, 4), body...)
	}
	if len(body) < 28 {
		return
	}
	id := body[4:24]
	if misc&miscBuildIDSize != 0 {
		id = id[:min(int(body[24]), len(id))]
	}
	mode := misc & MiscCPUMode
	if path := cString(body[28:]); path != "" {
		r.info.BuildIDs[path] = BuildID{ID: hex.EncodeToString(id), Kernel: mode == ModeKernel}
	}
}
