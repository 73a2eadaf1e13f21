package metric

import (
	"math"
	"slices"
	"strings"
	"testing"

	"vperf/lib/event"
	"vperf/lib/record"
)

// counters returns a run with these counts, of a machine with 4 CPUs and a target that ran
// for 2 s.
func counters(vendor string, counts map[string]float64) *Run {
	r := &Run{}
	r.AddMeta(&record.Meta{
		Host:   &record.Host{NCPU: 4, CPU: &record.CPU{Vendor: vendor}},
		Target: &record.Target{DurationNS: record.Int(2e9)},
	})
	for name, v := range counts {
		r.AddCounter(&record.Counter{Event: name, Scope: "all", Value: record.Float(v), Quality: record.Count})
	}
	return r
}

// find returns a metric, with a value or without one.
func find(t *testing.T, r *Run, scope, name string) record.Metric {
	t.Helper()
	for _, m := range r.Metrics() {
		if m.Scope == scope && m.Name == name {
			return m
		}
	}
	t.Fatalf("no metric %s in scope %s", name, scope)
	return record.Metric{}
}

func check(t *testing.T, m record.Metric, value float64, formula string, q record.Quality) {
	t.Helper()
	switch {
	case m.Value == nil:
		t.Errorf("%s is missing (%s), want %v", m.Name, m.Missing, value)
	case math.Abs(*m.Value-value) > 1e-12*math.Abs(value):
		t.Errorf("%s = %v, want %v", m.Name, *m.Value, value)
	}
	if m.Formula != formula {
		t.Errorf("%s: formula %q, want %q", m.Name, m.Formula, formula)
	}
	if m.Quality != q {
		t.Errorf("%s: quality %q, want %q", m.Name, m.Quality, q)
	}
}

// Every formula in every way, computed by hand.
func TestFormulas(t *testing.T) {
	type counts = map[string]float64
	for _, test := range []struct {
		metric, vendor string
		counts         counts
		value          float64
		formula        string
	}{
		{"elapsed_s", "", nil, 2, "meta.target.duration_ns / 1e9"},
		{"cpu_time_s", "", counts{"task-clock": 3e9}, 3, "task-clock / 1e9"},
		{"cpu_time_s", "", counts{"user_time": 4e8, "system_time": 1e8}, 0.5, "(user_time + system_time) / 1e9"},
		{"ipc", "", counts{"instructions": 300, "cycles": 200}, 1.5, "instructions / cycles"},
		{"cpi", "", counts{"instructions": 200, "cycles": 300}, 1.5, "cycles / instructions"},
		{"busy_cores", "", counts{"task-clock": 3e9}, 1.5, "cpu_time_s / elapsed_s"},
		{"cpu_utilization", "", counts{"task-clock": 3e9}, 0.375, "cpu_time_s / (elapsed_s * meta.host.ncpu)"},
		{"instructions", "", counts{"instructions": 300}, 300, "instructions"},
		{"cycles", "", counts{"cpu-cycles": 300}, 300, "cycles"},
		{"frequency_hz", "", counts{"cycles": 6e9, "task-clock": 2e9}, 3e9, "cycles / cpu_time_s"},
		{"branch_misprediction_rate", "", counts{"branch-misses": 3, "branches": 60}, 0.05, "branch-misses / branches"},
		{
			"branch_misprediction_rate", event.Intel,
			counts{"br_misp_retired.all_branches": 3, "br_inst_retired.all_branches": 60},
			0.05,
			"br_misp_retired.all_branches / br_inst_retired.all_branches",
		},
		{"branch_misprediction_rate", event.AMD, counts{"ex_ret_brn_misp": 3, "ex_ret_brn": 60}, 0.05, "ex_ret_brn_misp / ex_ret_brn"},
		{"l1d_miss_rate", "", counts{"L1-dcache-load-misses": 4, "L1-dcache-loads": 100, "instructions": 400}, 0.04, "L1-dcache-load-misses / L1-dcache-loads"},
		{"l1d_miss_rate", "", counts{"L1-dcache-load-misses": 4, "instructions": 400}, 0.01, "L1-dcache-load-misses / instructions"},
		{"l1d_miss_rate", "", counts{"L1-dcache-load-misses": 4, "L1-dcache-loads": 0, "instructions": 400}, 0.01, "L1-dcache-load-misses / instructions"},
		{"llc_miss_rate", event.Intel, counts{"LLC-load-misses": 30, "LLC-loads": 40}, 0.75, "LLC-load-misses / LLC-loads"},
		{
			"llc_miss_rate", event.AMD,
			counts{"ls_any_fills_from_sys.local_ccx": 30, "ls_any_fills_from_sys.dram_io_all": 10},
			0.25,
			"ls_any_fills_from_sys.dram_io_all / (ls_any_fills_from_sys.local_ccx + ls_any_fills_from_sys.dram_io_all)",
		},
		{
			"llc_miss_rate", event.AMD,
			counts{"ls_any_fills_from_sys.local_ccx": 30, "ls_any_fills_from_sys.all_dram_io": 10, "LLC-loads": 1, "LLC-load-misses": 1},
			0.25,
			"ls_any_fills_from_sys.all_dram_io / (ls_any_fills_from_sys.local_ccx + ls_any_fills_from_sys.all_dram_io)",
		},
		{
			"llc_miss_rate", event.Intel,
			counts{"ls_any_fills_from_sys.local_ccx": 30, "ls_any_fills_from_sys.all_dram_io": 10, "LLC-loads": 10, "LLC-load-misses": 1},
			0.1,
			"LLC-load-misses / LLC-loads",
		},
		{"cache_miss_rate", "", counts{"cache-misses": 1, "cache-references": 8}, 0.125, "cache-misses / cache-references"},
		{"dtlb_miss_rate", "", counts{"dTLB-load-misses": 1, "dTLB-loads": 8}, 0.125, "dTLB-load-misses / dTLB-loads"},
		{"dtlb_miss_rate", "", counts{"dTLB-load-misses": 1, "instructions": 16}, 0.0625, "dTLB-load-misses / instructions"},
		{"stalled_frontend_fraction", event.AMD, counts{"stalled-cycles-frontend": 25, "cycles": 100}, 0.25, "stalled-cycles-frontend / cycles"},
		{"stalled_backend_fraction", "", counts{"stalled-cycles-backend": 75, "cycles": 100}, 0.75, "stalled-cycles-backend / cycles"},
		{"context_switches", "", counts{"cs": 10}, 10, "context-switches"},
		{"context_switches_per_s", "", counts{"context-switches": 10}, 5, "context-switches / elapsed_s"},
		{"cpu_migrations", "", counts{"cpu-migrations": 0}, 0, "cpu-migrations"},
		{"cpu_migrations_per_s", "", counts{"migrations": 3}, 1.5, "cpu-migrations / elapsed_s"},
		{"page_faults", "", counts{"faults": 12}, 12, "page-faults"},
		{"page_faults_per_s", "", counts{"page-faults": 12}, 6, "page-faults / elapsed_s"},
		{"package_energy_j", "", counts{"power/energy-pkg/": 50}, 50, "power/energy-pkg/"},
		{"package_power_w", "", counts{"power/energy-pkg/": 50}, 25, "power/energy-pkg/ / elapsed_s"},
	} {
		t.Run(test.metric+"="+test.formula, func(t *testing.T) {
			check(t, find(t, counters(test.vendor, test.counts), "all", test.metric), test.value, test.formula, qualityOf(test.formula))
		})
	}
}

// qualityOf returns what counts make: of one operand a count, of several a derived number.
func qualityOf(formula string) record.Quality {
	operands := map[string]bool{}
	for _, word := range strings.Fields(formula) {
		if word = strings.Trim(word, "()"); strings.ContainsAny(word[:1], "abcdefghijklmnopqrstuvwxyzLI") {
			operands[word] = true
		}
	}
	if len(operands) > 1 {
		return record.Derived
	}
	return record.Count
}

// Without the run's duration other clocks take its place, and say so.
func TestElapsed(t *testing.T) {
	r := &Run{}
	missing(t, find(t, r, "all", "elapsed_s"), record.CauseDisabled, "it was not measured")

	r.AddEvent(&record.Event{ID: 1, Name: "cycles"})
	for _, ns := range []int64{5e9, 2e9, 3e9} {
		r.AddSample(&record.Sample{Event: 1, TID: 1, TimeNS: ns, Weight: 10})
	}
	check(t, find(t, r, "all", "elapsed_s"), 3, "samples.span_ns / 1e9", record.Estimate)
	r.SetIntervalEnd(4e9)
	check(t, find(t, r, "all", "elapsed_s"), 4, "interval.end_ns / 1e9", record.Count)
	r.AddCounter(&record.Counter{Event: "duration_time", Scope: "all", Value: record.Float(5e9)})
	check(t, find(t, r, "all", "elapsed_s"), 5, "duration_time / 1e9", record.Count)
	r.AddMeta(&record.Meta{Target: &record.Target{Cmd: []string{"x"}}})
	r.AddMeta(&record.Meta{Target: &record.Target{DurationNS: record.Int(6e9)}})
	check(t, find(t, r, "all", "elapsed_s"), 6, "meta.target.duration_ns / 1e9", record.Count)
	if r.Meta.Target.Cmd[0] != "x" {
		t.Error("the second meta record wiped out the first")
	}
}

func missing(t *testing.T, m record.Metric, cause record.Cause, explained string) {
	t.Helper()
	if m.Value != nil || m.Quality != "" {
		t.Errorf("%s has a value or a quality: %+v", m.Name, m)
	}
	if m.Missing != cause {
		t.Errorf("%s is missing for %q, want %q", m.Name, m.Missing, cause)
	}
	if got, _ := Explain(&m); got != explained {
		t.Errorf("%s is explained as %q, want %q", m.Name, got, explained)
	}
}

func TestMissing(t *testing.T) {
	lost := func(r *Run, name string, cause record.Cause) *Run {
		r.AddCounter(&record.Counter{Event: name, Scope: "all", Missing: cause})
		return r
	}
	for _, test := range []struct {
		name      string
		run       *Run
		metric    string
		cause     record.Cause
		explained string
		inputs    int
	}{
		{
			"the input's cause is the metric's", lost(counters("", map[string]float64{"instructions": 7}), "cycles", record.CauseNoPMU), "ipc",
			record.CauseNoPMU, Words(record.CauseNoPMU), 1,
		},
		{
			"denominator 0", counters("", map[string]float64{"branches": 0, "branch-misses": 0}), "branch_misprediction_rate",
			record.CauseEventNotCounted, "branches counted 0", 2,
		},
		{
			"denominator 0 in no way", counters("", map[string]float64{"L1-dcache-load-misses": 1, "L1-dcache-loads": 0}), "l1d_miss_rate",
			record.CauseEventNotCounted, "L1-dcache-loads counted 0", 2,
		},
		{
			"the cause of what was asked for, not of what was not", lost(counters("", nil), "dTLB-load-misses", record.CauseEventNotCounted), "dtlb_miss_rate",
			record.CauseEventNotCounted, Words(record.CauseEventNotCounted), 0,
		},
		{
			"the cause of what it is about, not of what it would be divided by", lost(counters("", nil), "instructions", record.CauseNoPMU), "l1d_miss_rate",
			record.CauseDisabled, "it was not measured", 0,
		},
		{
			"not asked for", counters("", nil), "ipc",
			record.CauseDisabled, "it was not measured", 0,
		},
		{
			"not asked for because it is in vain", counters(event.AMD, nil), "llc_miss_rate",
			record.CauseEventUnsupported, Words(record.CauseEventUnsupported), 0,
		},
		{
			"in vain for want of a PMU", lost(counters(event.AMD, nil), "cycles", record.CauseNoPMU), "llc_miss_rate",
			record.CauseNoPMU, Words(record.CauseNoPMU), 0,
		},
		{
			"user mode cycles are no clock", counters("", map[string]float64{"cycles:u": 1e9, "task-clock:u": 1e9}), "frequency_hz",
			record.CausePerfEventParanoid, Words(record.CausePerfEventParanoid), 1,
		},
		{
			"modes are not mixed", counters("", map[string]float64{"cycles": 1e9, "instructions:u": 1e9}), "ipc",
			record.CauseDisabled, "it was not measured", 1,
		},
		{
			"a counter that says nothing", lost(counters("", nil), "page-faults", ""), "page_faults",
			record.CauseEventNotCounted, Words(record.CauseEventNotCounted), 0,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := find(t, test.run, "all", test.metric)
			missing(t, m, test.cause, test.explained)
			if len(m.Inputs) != test.inputs {
				t.Errorf("inputs %v", m.Inputs)
			}
		})
	}
	for _, m := range counters("", nil).Metrics() {
		if m.Name == "package_power_w" {
			t.Error("nobody asked for the energy, and it is reported as missing")
		}
	}
}

func TestQuality(t *testing.T) {
	r := counters("", map[string]float64{"cycles": 100, "task-clock": 1e9})
	r.AddCounter(&record.Counter{Event: "instructions", Scope: "all", Value: record.Float(50), Quality: record.Estimate})
	check(t, find(t, r, "all", "ipc"), 0.5, "instructions / cycles", record.Estimate)
	check(t, find(t, r, "all", "cycles"), 100, "cycles", record.Count)

	// Without a CPU clock the samples of one tell, and everything that follows from it is an estimate.
	r = counters("", nil)
	r.AddEvent(&record.Event{ID: 1, Name: "cpu-clock:u"})
	r.AddSample(&record.Sample{Event: 1, TID: 7, TimeNS: record.None, Weight: 1e9})
	r.AddSample(&record.Sample{Event: 1, TID: 0, TimeNS: record.None, Weight: 5e9}) // the idle thread uses no CPU time
	check(t, find(t, r, "all", "cpu_time_s"), 1, "samples.clock_ns / 1e9", record.Estimate)
	check(t, find(t, r, "all", "busy_cores"), 0.5, "cpu_time_s / elapsed_s", record.Estimate)
	check(t, find(t, r, "all", "sample_weight"), 6e9, "samples.weight", record.Estimate)
	if m := find(t, r, "all", "sample_weight"); m.Unit != event.Nanoseconds {
		t.Errorf("sample_weight is in %s", m.Unit)
	}
}

func TestModes(t *testing.T) {
	r := counters("", map[string]float64{"cycles:u": 100, "instructions:u": 50, "task-clock:u": 2e9})
	check(t, find(t, r, "all", "ipc"), 0.5, "instructions:u / cycles:u", record.Derived)
	check(t, find(t, r, "all", "cpu_time_s"), 2, "task-clock:u / 1e9", record.Count)
	// What was counted everywhere is preferred.
	r.AddCounter(&record.Counter{Event: "cycles", Scope: "all", Value: record.Float(200)})
	r.AddCounter(&record.Counter{Event: "instructions", Scope: "all", Value: record.Float(300)})
	check(t, find(t, r, "all", "ipc"), 1.5, "instructions / cycles", record.Derived)
	// The expression says what was really counted.
	r = counters("", nil)
	r.AddCounter(&record.Counter{Event: "cycles", Expression: "cycles:u", Scope: "all", Value: record.Float(200)})
	r.AddCounter(&record.Counter{Event: "task-clock", Expression: "getrusage: ru_utime + ru_stime", Scope: "all", Value: record.Float(1e9)})
	check(t, find(t, r, "all", "cycles"), 200, "cycles:u", record.Count)
	check(t, find(t, r, "all", "cpu_time_s"), 1, "task-clock / 1e9", record.Count)
}

func TestScopes(t *testing.T) {
	r := counters("", nil)
	add := func(scope, name string, v float64, q record.Quality) {
		r.AddCounter(&record.Counter{Event: name, Scope: scope, Value: record.Float(v), Quality: q})
	}
	add("tid:10", "instructions", 300, record.Count)
	add("tid:10", "cycles", 100, record.Count)
	add("tid:9", "instructions", 100, record.Count)
	add("tid:9", "cycles", 300, record.Estimate)
	add("tid:9", "task-clock", 1e9, record.Count)
	r.AddCounter(&record.Counter{Event: "cycles", Scope: "tid:11", Missing: record.CauseEventNotCounted})
	r.AddCounter(&record.Counter{Event: "instructions", Scope: "tid:11", Missing: record.CauseEventNotCounted})

	check(t, find(t, r, "tid:10", "ipc"), 3, "instructions / cycles", record.Derived)
	check(t, find(t, r, "tid:9", "ipc"), 1.0/3, "instructions / cycles", record.Estimate)
	check(t, find(t, r, "tid:9", "busy_cores"), 0.5, "cpu_time_s / elapsed_s", record.Derived)
	missing(t, find(t, r, "tid:11", "ipc"), record.CauseEventNotCounted, Words(record.CauseEventNotCounted))
	// A thread is not told what it lacks for want of asking.
	r.AddCounter(&record.Counter{Event: "branch-misses", Scope: "tid:11", Missing: record.CauseEventNotCounted})
	for _, m := range r.Metrics() {
		if m.Scope == "tid:11" && m.Name != "ipc" && m.Name != "cpi" && m.Name != "cycles" && m.Name != "instructions" {
			t.Errorf("%s of a thread, missing for %s", m.Name, m.Missing)
		}
	}
	// The run is the ratio of the sums, not the mean of the ratios.
	check(t, find(t, r, "all", "ipc"), 1, "instructions / cycles", record.Estimate)

	var scopes []string
	for _, m := range r.Metrics() {
		if !slices.Contains(scopes, m.Scope) {
			scopes = append(scopes, m.Scope)
		}
		if m.Scope == "tid:10" && (m.Name == "busy_cores" || m.Name == "page_faults") {
			t.Errorf("%s of a thread whose events were not asked for", m.Name)
		}
	}
	if want := []string{"all", "tid:9", "tid:10", "tid:11"}; !slices.Equal(scopes, want) {
		t.Errorf("scopes %v, want %v", scopes, want)
	}
	// What was counted for the whole is not summed.
	add("all", "cycles", 4000, record.Count)
	add("all", "instructions", 1000, record.Count)
	check(t, find(t, r, "all", "ipc"), 0.25, "instructions / cycles", record.Derived)
}

// CPUs are parts of the run, too; but their clock runs on while they are idle.
func TestCPUs(t *testing.T) {
	r := counters("", nil)
	for scope, v := range map[string]float64{"cpu:0": 100, "cpu:1": 200, "socket:0": 300} {
		r.AddCounter(&record.Counter{Event: "cycles", Scope: scope, Value: record.Float(v)})
		r.AddCounter(&record.Counter{Event: "task-clock", Scope: scope, Value: record.Float(v)})
	}
	check(t, find(t, r, "all", "cycles"), 300, "cycles", record.Count)
	missing(t, find(t, r, "all", "cpu_time_s"), record.CauseDisabled, "it was not measured")
	r.AddCounter(&record.Counter{Event: "task-clock", Scope: "tid:1", Value: record.Float(1e9)})
	check(t, find(t, r, "all", "cpu_time_s"), 1, "task-clock / 1e9", record.Count)
}

// A hybrid processor counts each kind of core by itself.
func TestHybrid(t *testing.T) {
	r := counters(event.Intel, map[string]float64{
		"cpu_core/cycles/": 100, "cpu_atom/cycles/": 300, "cpu_core/instructions/": 500, "cpu_atom/instructions/": 300,
	})
	r.AddCounter(&record.Counter{Event: "cpu_core/branches/", Scope: "all", Missing: record.CauseEventNotCounted})
	r.AddCounter(&record.Counter{Event: "cpu_atom/branches/", Scope: "all", Value: record.Float(50)})
	r.AddCounter(&record.Counter{Event: "cpu_atom/branch-misses/", Scope: "all", Value: record.Float(5), Quality: record.Estimate})
	check(t, find(t, r, "all", "ipc"), 2, "instructions / cycles", record.Derived)
	check(t, find(t, r, "all", "branch_misprediction_rate"), 0.1, "branch-misses / branches", record.Estimate)
}

// The same counter twice, as concatenated streams hold it, counts once.
func TestTwice(t *testing.T) {
	r := counters("", nil)
	for _, v := range []float64{7, 8} {
		r.AddCounter(&record.Counter{Event: "page-faults", Scope: "all", Value: record.Float(v)})
		r.AddCounter(&record.Counter{Event: "cs", Scope: "tid:1", Value: record.Float(v)})
	}
	r.AddCounter(&record.Counter{Event: "cpu-migrations", Scope: "all", Missing: record.CauseEventNotCounted})
	r.AddCounter(&record.Counter{Event: "cpu-migrations", Scope: "all", Value: record.Float(3)})
	r.AddCounter(&record.Counter{Event: "cpu-migrations", Scope: "all", Missing: record.CauseEventNotCounted})
	check(t, find(t, r, "all", "cpu_migrations"), 3, "cpu-migrations", record.Count)
	check(t, find(t, r, "all", "page_faults"), 7, "page-faults", record.Count)
	check(t, find(t, r, "all", "context_switches"), 7, "context-switches", record.Count)
}

func TestPeakRSS(t *testing.T) {
	r := &Run{}
	for _, x := range []record.RSS{{PID: 5, TimeNS: 10, Bytes: 100}, {PID: 6, TimeNS: 11, Bytes: 900}, {PID: 5, TimeNS: 20, Bytes: 300}, {PID: 5, TimeNS: 30, Bytes: 200}} {
		r.AddRSS(&x)
	}
	check(t, find(t, r, "all", "peak_rss"), 300, "rss.peak_bytes", record.Count)
	if p, ok := r.Peak(); !ok || p != (Peak{PID: 5, Bytes: 300, TimeNS: 20, FirstNS: 10, Readings: 3}) {
		t.Errorf("peak %+v", p)
	}
	r.AddMeta(&record.Meta{Target: &record.Target{PID: record.Int(6)}})
	check(t, find(t, r, "all", "peak_rss"), 900, "rss.peak_bytes", record.Count)
	r.AddMeta(&record.Meta{Target: &record.Target{PID: record.Int(7)}})
	missing(t, find(t, r, "all", "peak_rss"), record.CauseDisabled, "it was not measured")
}

func TestSamples(t *testing.T) {
	r := &Run{}
	r.AddEvent(&record.Event{ID: 1, Name: "cycles"}) // in the collector's stream, without samples
	missing(t, find(t, r, "all", "samples"), record.CauseNoSamples, "no samples were taken")
	r.SetStream(1, nil)
	r.AddEvent(&record.Event{ID: 1, Name: "page-faults"})
	r.AddEvent(&record.Event{ID: 2, Name: "cpu_core/cycles/P"})
	for range 5 {
		r.AddSample(&record.Sample{Event: 1, TimeNS: record.None, Weight: 1})
	}
	check(t, find(t, r, "all", "samples"), 5, "samples.count", record.Count)
	for range 3 {
		r.AddSample(&record.Sample{Event: 2, TimeNS: record.None, Weight: 1000})
	}
	// The event that tells where time goes, though it has fewer samples.
	check(t, find(t, r, "all", "samples"), 3, "samples.count", record.Count)
	check(t, find(t, r, "all", "sample_weight"), 3000, "samples.weight", record.Estimate)
	// Ids end with their stream.
	r.SetStream(2, nil)
	r.AddSample(&record.Sample{Event: 2, TimeNS: record.None, Weight: 1000})
	check(t, find(t, r, "all", "samples"), 3, "samples.count", record.Count)
}

// What is left of a run's samples says nothing of the run's time.
func TestFilteredSamples(t *testing.T) {
	for _, filters := range [][]string{nil, {"--tid=7"}} {
		r := &Run{}
		r.SetStream(1, filters)
		r.AddEvent(&record.Event{ID: 1, Name: "cpu-clock"})
		r.AddSample(&record.Sample{Event: 1, TimeNS: 0, Weight: 1e9})
		r.AddSample(&record.Sample{Event: 1, TimeNS: 4e9, Weight: 1e9})
		check(t, find(t, r, "all", "samples"), 2, "samples.count", record.Count)
		for _, name := range []string{"cpu_time_s", "elapsed_s", "busy_cores"} {
			if m := find(t, r, "all", name); (m.Value == nil) != (filters != nil) {
				t.Errorf("filters %q: %s is %+v", filters, name, m)
			}
		}
	}
}
