package metric

import "vperf/lib/event"

// Sources of the definitions.
const (
	perfStat = "perf stat (tools/perf/util/stat-shadow.c)"
	vtune    = "Intel VTune, CPU metrics reference"
	procfs   = "proc_pid_statm(5)"
	intelPMU = "Intel perfmon event lists (SKX, ICX, SPR)"
	amdPMU   = "AMD PPR for families 17h, 19h and 1Ah; tools/perf/pmu-events/arch/x86/amdzen*"
	papi     = "PAPI preset events"
)

// Table holds the formulas, in the order in which they are shown; a formula refers only to
// those before it.
var Table = []Formula{
	{
		Name: "elapsed_s", Unit: "s", Label: "Elapsed time",
		Ways: []Way{
			{Expr: "meta.target.duration_ns / 1e9", Source: "from the release of the target to its end"},
			{Expr: "duration_time / 1e9", Source: perfStat},
			{Expr: "interval.end_ns / 1e9", Note: "end of the last interval", Source: perfStat},
			{Expr: "samples.span_ns / 1e9", Note: "from the first sample to the last", Source: "perf record"},
		},
	},
	{
		Name: "cpu_time_s", Unit: "s", Label: "CPU time", PerThread: true,
		Ways: []Way{
			{Expr: "task-clock / 1e9", Source: vtune},
			{Expr: "( user_time + system_time ) / 1e9", Source: "getrusage(2)"},
			{Expr: "samples.clock_ns / 1e9", Note: "samples of a clock", Source: "perf record"},
		},
	},
	{
		Name: "ipc", Unit: "instructions/cycle", Label: "IPC", PerThread: true,
		Ways: []Way{{Expr: "instructions / cycles", Source: perfStat}},
	},
	{
		Name: "cpi", Unit: "cycles/instruction", Label: "CPI", PerThread: true,
		Ways: []Way{{Expr: "cycles / instructions", Source: vtune}},
	},
	{
		Name: "busy_cores", Unit: "cores", Label: "Effective CPU utilization", PerThread: true,
		Ways: []Way{{Expr: "cpu_time_s / elapsed_s", Source: vtune}},
	},
	{
		Name: "cpu_utilization", Unit: "ratio", Label: "  of the machine's CPUs",
		Ways: []Way{{Expr: "cpu_time_s / ( elapsed_s * meta.host.ncpu )", Source: vtune}},
	},
	{
		Name: "instructions", Unit: event.Count, Label: "Instructions retired", PerThread: true,
		Ways: []Way{{Expr: "instructions", Source: perfStat}},
	},
	{
		Name: "cycles", Unit: event.Cycles, Label: "Clockticks", PerThread: true,
		Ways: []Way{{Expr: "cycles", Source: perfStat}},
	},
	{
		Name: "frequency_hz", Unit: "Hz", Label: "Frequency while running", PerThread: true,
		Ways: []Way{{Expr: "cycles / cpu_time_s", Whole: true, Source: perfStat}},
	},
	{
		Name: "branch_misprediction_rate", Unit: "ratio", Label: "Branch mispredictions", PerThread: true,
		Ways: []Way{
			{Expr: "branch-misses / branches", Source: perfStat},
			{Expr: "br_misp_retired.all_branches / br_inst_retired.all_branches", Vendor: event.Intel, Source: intelPMU},
			{Expr: "ex_ret_brn_misp / ex_ret_brn", Vendor: event.AMD, Source: amdPMU},
		},
	},
	{
		Name: "l1d_miss_rate", Unit: "ratio", Label: "L1D misses", PerThread: true,
		Ways: []Way{
			{Expr: "L1-dcache-load-misses / L1-dcache-loads", Vendor: event.AMD, Note: "misses include prefetches", Source: perfStat},
			{Expr: "L1-dcache-load-misses / L1-dcache-loads", Source: perfStat},
			{Expr: "L1-dcache-load-misses / instructions", Note: "per instruction", Source: papi},
		},
	},
	{
		Name: "llc_miss_rate", Unit: "ratio", Label: "LLC misses", PerThread: true,
		Ways: []Way{
			{
				Expr:   "ls_any_fills_from_sys.dram_io_all / ( ls_any_fills_from_sys.local_ccx + ls_any_fills_from_sys.dram_io_all )",
				Vendor: event.AMD, Note: "fills from DRAM or I/O per L3 lookup", Source: amdPMU,
			},
			{
				Expr:   "ls_any_fills_from_sys.all_dram_io / ( ls_any_fills_from_sys.local_ccx + ls_any_fills_from_sys.all_dram_io )",
				Vendor: event.AMD, Note: "fills from DRAM or I/O per L3 lookup", Source: amdPMU,
			},
			{Expr: "LLC-load-misses / LLC-loads", Note: "of the L1 misses that reached the L3; not DRAM traffic", Source: perfStat},
		},
	},
	{
		Name: "cache_miss_rate", Unit: "ratio", Label: "Cache misses (generic)", PerThread: true,
		Ways: []Way{
			{Expr: "cache-misses / cache-references", Vendor: event.AMD, Note: "of the L2", Source: amdPMU},
			{Expr: "cache-misses / cache-references", Vendor: event.Intel, Note: "of the L3", Source: intelPMU},
			{Expr: "cache-misses / cache-references", Note: "of whichever level the kernel maps them to", Source: perfStat},
		},
	},
	{
		Name: "dtlb_miss_rate", Unit: "ratio", Label: "dTLB misses", PerThread: true,
		Ways: []Way{
			{Expr: "dTLB-load-misses / dTLB-loads", Vendor: event.AMD, Note: "of the look-ups that missed the first level", Source: amdPMU},
			{Expr: "dTLB-load-misses / dTLB-loads", Source: perfStat},
			{Expr: "dTLB-load-misses / instructions", Note: "per instruction", Source: papi},
		},
	},
	{
		Name: "stalled_frontend_fraction", Unit: "ratio", Label: "Front-end stall cycles", PerThread: true,
		Ways: []Way{{Expr: "stalled-cycles-frontend / cycles", Note: "a share of cycles, not of slots", Source: perfStat}},
	},
	{
		Name: "stalled_backend_fraction", Unit: "ratio", Label: "Back-end stall cycles", PerThread: true,
		Ways: []Way{{Expr: "stalled-cycles-backend / cycles", Note: "a share of cycles, not of slots", Source: perfStat}},
	},
	{
		Name: "context_switches", Unit: event.Count, Label: "Context switches", PerThread: true,
		Ways: []Way{{Expr: "context-switches", Source: perfStat}},
	},
	{
		Name: "context_switches_per_s", Unit: "1/s", Label: "  per second", PerThread: true,
		Ways: perSecond("context-switches"),
	},
	{
		Name: "cpu_migrations", Unit: event.Count, Label: "CPU migrations", PerThread: true,
		Ways: []Way{{Expr: "cpu-migrations", Source: perfStat}},
	},
	{
		Name: "cpu_migrations_per_s", Unit: "1/s", Label: "  per second", PerThread: true,
		Ways: perSecond("cpu-migrations"),
	},
	{
		Name: "page_faults", Unit: event.Count, Label: "Page faults", PerThread: true,
		Ways: []Way{{Expr: "page-faults", Source: perfStat}},
	},
	{
		Name: "page_faults_per_s", Unit: "1/s", Label: "  per second", PerThread: true,
		Ways: perSecond("page-faults"),
	},
	{
		Name: "package_energy_j", Unit: "J", Label: "Energy of the package", Optional: true,
		Ways: []Way{{Expr: "power/energy-pkg/", Note: "of everything that ran", Source: "RAPL"}},
	},
	{
		Name: "package_power_w", Unit: "W", Label: "Power of the package", Optional: true,
		Ways: []Way{{Expr: "power/energy-pkg/ / elapsed_s", Note: "of everything that ran", Source: "RAPL"}},
	},
	{
		Name: "peak_rss", Unit: event.Bytes, Label: "Peak resident set",
		Ways: []Way{{Expr: "rss.peak_bytes", Note: "the largest of the readings", Source: procfs}},
	},
	{
		Name: "samples", Unit: event.Count, Label: "Samples",
		Ways: []Way{{Expr: "samples.count", Source: "perf record"}},
	},
	{
		Name: "sample_weight", Unit: "", Label: "Weight of the samples", // in the unit of their event
		Ways: []Way{{Expr: "samples.weight", Source: "perf record"}},
	},
}

// perSecond divides by the time of the run, as what the machine did meanwhile; where that is
// not known by the CPU time, as perf stat does.
func perSecond(name string) []Way {
	return []Way{
		{Expr: name + " / elapsed_s", Source: vtune},
		{Expr: name + " / cpu_time_s", Note: "per second of CPU time", Source: perfStat},
	}
}

var byName = func() map[string]*Formula {
	m := make(map[string]*Formula, len(Table))
	for i := range Table {
		m[Table[i].Name] = &Table[i]
	}
	return m
}()

// Lookup returns the formula of a metric.
func Lookup(name string) (*Formula, bool) {
	f, ok := byName[name]
	return f, ok
}
