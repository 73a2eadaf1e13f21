package event

import "vperf/lib/record"

// What a profile asks for: the software events and the generic hardware ones. What they
// count is said in perf_event_open(2); where they are mapped, in
// arch/x86/events/{amd,intel}/core.c of Linux 6.x:
//
//   - AMD since family 17h (Zen) maps no last-level-cache event: the L3 has a PMU of its
//     own, which cannot tell processes apart (amd_hw_cache_event_ids_f17h);
//   - Intel since Haswell (2013) maps no stalled-cycles event (intel_hsw_*, intel_skl_*).
var asked = []Event{
	{Name: "task-clock", Unit: Nanoseconds, Kind: record.KindCPU, Software: true, Text: "CPU time of the threads"},
	{Name: "context-switches", Unit: Count, Kind: record.KindSched, Software: true, Text: "switches to another thread"},
	{Name: "cpu-migrations", Unit: Count, Kind: record.KindSched, Software: true, Text: "moves of a thread to another CPU"},
	{Name: "page-faults", Unit: Count, Kind: record.KindCounter, Software: true, Text: "page faults, minor and major"},
	{Name: "minor-faults", Unit: Count, Kind: record.KindCounter, Software: true, Text: "page faults that needed no I/O"},
	{Name: "major-faults", Unit: Count, Kind: record.KindCounter, Software: true, Text: "page faults that waited for I/O"},
	{Name: "cycles", Unit: Cycles, Kind: record.KindCPU, Text: "core clock cycles while not halted"},
	{Name: "instructions", Unit: Count, Kind: record.KindCounter, Text: "instructions retired"},
	{Name: "branches", Unit: Count, Kind: record.KindCounter, Text: "branches retired"},
	{Name: "branch-misses", Unit: Count, Kind: record.KindCounter, Text: "branches mispredicted"},
	{
		Name: "stalled-cycles-frontend", Unit: Cycles, Kind: record.KindCounter,
		Text: "cycles in which the front end delivered nothing", Unmapped: []string{Intel},
	},
	{
		Name: "stalled-cycles-backend", Unit: Cycles, Kind: record.KindCounter,
		Text: "cycles in which the back end took nothing", Unmapped: []string{Intel},
	},
	{Name: "cache-references", Unit: Count, Kind: record.KindCounter, Text: "cache accesses (AMD: of the L2; Intel: of the L3)"},
	{Name: "cache-misses", Unit: Count, Kind: record.KindCounter, Text: "cache misses (AMD: of the L2; Intel: of the L3)"},
	{Name: "L1-dcache-loads", Unit: Count, Kind: record.KindCounter, Text: "loads from the L1 data cache"},
	{Name: "L1-dcache-load-misses", Unit: Count, Kind: record.KindCounter, Text: "L1 data cache misses (AMD: with prefetches)"},
	{Name: "L1-icache-load-misses", Unit: Count, Kind: record.KindCounter, Text: "L1 instruction cache misses"},
	{Name: "dTLB-loads", Unit: Count, Kind: record.KindCounter, Text: "data TLB look-ups (AMD: those that missed the first level)"},
	{Name: "dTLB-load-misses", Unit: Count, Kind: record.KindCounter, Text: "data TLB misses that walked the page table"},
	{
		Name: "LLC-loads", Unit: Count, Kind: record.KindCounter,
		Text: "loads that reached the last-level cache", Unmapped: []string{AMD},
	},
	{
		Name: "LLC-load-misses", Unit: Count, Kind: record.KindCounter,
		Text: "loads that missed the last-level cache", Unmapped: []string{AMD},
	},
}

// Known but not asked for: they repeat one of the above, need privileges that one of them
// does not, or exist only for sampling.
var known = []Event{
	{Name: "cpu-clock", Unit: Nanoseconds, Kind: record.KindCPU, Software: true, Text: "CPU time of the CPUs"},
	{Name: "duration_time", Unit: Nanoseconds, Kind: record.KindCounter, Software: true, Text: "wall time of the run"},
	{Name: "user_time", Unit: Nanoseconds, Kind: record.KindCounter, Software: true, Text: "CPU time in user mode, from rusage"},
	{Name: "system_time", Unit: Nanoseconds, Kind: record.KindCounter, Software: true, Text: "CPU time in the kernel, from rusage"},
	{Name: "alignment-faults", Unit: Count, Kind: record.KindCounter, Software: true, Text: "unaligned accesses the kernel handled"},
	{Name: "emulation-faults", Unit: Count, Kind: record.KindCounter, Software: true, Text: "instructions the kernel emulated"},
	{Name: "offcpu-time", Unit: Nanoseconds, Kind: record.KindSched, Software: true, Text: "time that threads were off the CPU"},
	{Name: "cgroup-switches", Unit: Count, Kind: record.KindSched, Software: true, Text: "switches to another control group"},
	{Name: "bpf-output", Unit: Count, Kind: record.KindCounter, Software: true, Text: "records that BPF programs wrote"},
	{Name: "dummy", Unit: Count, Kind: record.KindCounter, Software: true, Text: "nothing: it carries side-band records"},
	{Name: "ref-cycles", Unit: Cycles, Kind: record.KindCPU, Text: "cycles of the reference clock while not halted"},
	{Name: "bus-cycles", Unit: Cycles, Kind: record.KindCounter, Text: "bus cycles"},
	{Name: "slots", Unit: Count, Kind: record.KindCounter, Text: "issue slots"},
	{Name: "mem-loads", Unit: Count, Kind: record.KindMemory, Text: "sampled loads with their latency"},
	{Name: "mem-loads-aux", Unit: Count, Kind: record.KindMemory, Text: "companion of mem-loads"},
	{Name: "mem-stores", Unit: Count, Kind: record.KindMemory, Text: "sampled stores"},
}
