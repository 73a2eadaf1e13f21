package data

import (
	"fmt"
	"strings"
)

var hardwareNames = []string{
	"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles",
	"stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
}

var softwareNames = []string{
	"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults",
	"alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches",
}

var (
	cacheNames = []string{"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"}
	cacheOps   = [][2]string{{"load", "loads"}, {"store", "stores"}, {"prefetch", "prefetches"}}
)

// name returns what perf calls an event whose recording does not name it, with modifiers:
// "cycles:u", "L1-dcache-load-misses", "raw 0x1c2".
func (a *Attr) name() string {
	switch a.Type {
	case TypeHardware:
		return a.pick(hardwareNames, "unknown-hardware") + a.modifiers()
	case TypeSoftware:
		return a.pick(softwareNames, "unknown-software") + a.modifiers()
	case TypeTracepoint:
		return "unknown tracepoint"
	case TypeHWCache:
		return a.cacheName() + a.modifiers()
	case TypeRaw:
		return fmt.Sprintf("raw 0x%x%s", a.Config, a.modifiers())
	case TypeBreakpoint:
		const read, write, execute = 1, 2, 4
		var access strings.Builder
		for _, bit := range []struct {
			is   uint32
			name byte
		}{{read, 'r'}, {write, 'w'}, {execute, 'x'}} {
			if a.BPType&bit.is != 0 {
				access.WriteByte(bit.name)
			}
		}
		return fmt.Sprintf("mem:0x%x:%s%s", a.Config1, access.String(), a.modifiers())
	}
	return fmt.Sprintf("unknown attr type: %d", a.Type)
}

func (a *Attr) pick(names []string, unknown string) string {
	if a.Config < uint64(len(names)) {
		return names[a.Config]
	}
	return unknown
}

func (a *Attr) cacheName() string {
	cache, op, result := a.Config&0xff, a.Config>>8&0xff, a.Config>>16&0xff
	switch {
	case cache >= uint64(len(cacheNames)):
		return "unknown-ext-hardware-cache-type"
	case op >= uint64(len(cacheOps)):
		return "unknown-ext-hardware-cache-op"
	case result == 0:
		return cacheNames[cache] + "-" + cacheOps[op][1]
	case result == 1:
		return cacheNames[cache] + "-" + cacheOps[op][0] + "-misses"
	}
	return "unknown-ext-hardware-cache-result"
}

// modifiers returns what follows the name of an event that does not count everywhere:
// ":u", ":ppp", ":kH".
func (a *Attr) modifiers() string {
	var m []byte
	add := func(excluded AttrFlags, letter byte) {
		if a.Flags&excluded == 0 {
			m = append(m, letter)
		}
	}
	// Without another modifier perf leaves guests out, and does not say so.
	guest := false
	if a.Flags&(FlagExcludeKernel|FlagExcludeUser|FlagExcludeHV) != 0 {
		add(FlagExcludeKernel, 'k')
		add(FlagExcludeUser, 'u')
		add(FlagExcludeHV, 'h')
		guest = true
	}
	if n := a.Flags.PreciseIP(); n > 0 {
		m = append(m, "ppp"[:n]...)
		guest = true
	}
	if a.Flags&FlagExcludeHost != 0 || a.Flags&FlagExcludeGuest != 0 == guest {
		add(FlagExcludeHost, 'H')
		add(FlagExcludeGuest, 'G')
	}
	if len(m) == 0 {
		return ""
	}
	return ":" + string(m)
}
