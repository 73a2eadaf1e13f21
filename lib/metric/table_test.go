package metric

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vperf/lib/event"
	"vperf/lib/perf/stat"
	"vperf/lib/record"
)

// readStat returns a run of what perf stat printed.
func readStat(t *testing.T, name string) *Run {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	counts := stat.NewReader(name, file)
	var totals stat.Totals
	for counts.Next() {
		totals.Add(counts.Count())
	}
	if err := counts.Err(); err != nil {
		t.Fatal(err)
	}
	r := &Run{}
	for _, c := range totals.Counters() {
		r.AddCounter(&c)
	}
	r.SetIntervalEnd(totals.EndNS())
	return r
}

func TestPerfStat(t *testing.T) {
	dir := filepath.Join("..", "perf", "stat", "testdata")

	r := readStat(t, filepath.Join(dir, "st-002-csv"))
	missing(t, find(t, r, "all", "ipc"), record.CauseEventUnsupported, Words(record.CauseEventUnsupported))
	missing(t, find(t, r, "all", "branch_misprediction_rate"), record.CauseEventNotCounted, Words(record.CauseEventNotCounted))
	check(t, find(t, r, "all", "page_faults_per_s"), 22374.42922374429, "page-faults / cpu_time_s", record.Derived)
	check(t, find(t, r, "all", "cpu_migrations"), 0, "cpu-migrations", record.Count)

	// Counts are scaled already: an estimate, not four times as much.
	r = readStat(t, filepath.Join(dir, "st-008-csv"))
	check(t, find(t, r, "all", "ipc"), 2, "instructions / cycles", record.Estimate)
	check(t, find(t, r, "all", "cache_miss_rate"), 0.0075, "cache-misses / cache-references", record.Estimate)
	check(t, find(t, r, "all", "instructions"), 2e6, "instructions", record.Count)

	r = readStat(t, filepath.Join(dir, "st-009-csv"))
	check(t, find(t, r, "all", "elapsed_s"), 0.001002003, "duration_time / 1e9", record.Count)
	check(t, find(t, r, "all", "cpu_time_s"), 0.00051, "task-clock / 1e9", record.Count)
	check(t, find(t, r, "all", "busy_cores"), 0.5089805120343951, "cpu_time_s / elapsed_s", record.Derived)
	check(t, find(t, r, "all", "package_power_w"), 3243.5032629642824, "power/energy-pkg/ / elapsed_s", record.Derived)

	r = readStat(t, filepath.Join(dir, "st-001-sep-semicolon.csv"))
	check(t, find(t, r, "all", "ipc"), 450100.0/900200, "instructions / cycles", record.Estimate)
}

// Every expression of the table parses, and refers to events, facts and metrics above it.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	r := &Run{}
	for _, f := range Table {
		if names[f.Name] || f.Label == "" || len(f.Ways) == 0 || f.Unit == "" && f.Name != "sample_weight" {
			t.Errorf("%s: twice, or not everything is said", f.Name)
		}
		for _, w := range f.Ways {
			e, err := parse(w.Expr)
			if err != nil {
				t.Errorf("%s: %v", f.Name, err)
				continue
			}
			if w.Source == "" {
				t.Errorf("%s: %s has no source", f.Name, w.Expr)
			}
			for _, operand := range e.operands {
				_, isEvent := event.Lookup(operand)
				_, isFact := r.fact(operand, whole)
				vendors := w.Vendor != "" || strings.HasPrefix(operand, "power/")
				if !isEvent && !isFact && !names[operand] && !vendors {
					t.Errorf("%s: %s refers to %s, which nothing defines above it", f.Name, w.Expr, operand)
				}
			}
		}
		names[f.Name] = true
	}
}

func TestParse(t *testing.T) {
	values := map[string]float64{"a": 7, "b": 2, "c-d": 3}
	for text, want := range map[string]float64{
		"a": 7, "1e3": 1000, "a - b - c-d": 2, "a / b / 7": 0.5, "a + b * c-d": 13, "( a + b ) * c-d": 27, "a - ( b - c-d )": 8,
	} {
		e, err := parse(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := e.eval(values); err != nil || got != want {
			t.Errorf("%s = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "(", ")", "a +", "+ a", "a b", "( a", "a )", "a / / b", "1x", strings.Repeat("( ", 1000)} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q parses", text)
		}
	}
	e, _ := parse("a / ( b - 2 )")
	if _, err := e.eval(values); err == nil {
		t.Error("divided by 0")
	}
}

// The vocabulary and the words for it are in step.
func TestWords(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "record", "cause.go"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if _, word, ok := strings.Cut(line, `Cause = "`); ok {
			cause := record.Cause(strings.Trim(strings.TrimSpace(word), `"`))
			n++
			if w := Words(cause); w == string(cause) || strings.HasSuffix(w, ".") {
				t.Errorf("no words for %s", cause)
			}
		}
	}
	if n != len(causes) {
		t.Errorf("%d causes, %d in words", n, len(causes))
	}
}

func TestNote(t *testing.T) {
	r := counters(event.AMD, map[string]float64{"L1-dcache-load-misses": 4, "L1-dcache-loads": 100, "cache-misses:u": 1, "cache-references:u": 2})
	for name, want := range map[string]string{"l1d_miss_rate": "misses include prefetches", "cache_miss_rate": "of the L2", "ipc": ""} {
		m := find(t, r, "all", name)
		if got := Note(&m, r.Vendor()); got != want {
			t.Errorf("%s: note %q, want %q", name, got, want)
		}
	}
}

// The order in which records come does not matter.
func TestOrder(t *testing.T) {
	counts := map[string]float64{"cycles": 1, "instructions": 2, "branches": 3, "branch-misses": 4, "task-clock": 5}
	want := counters("", counts).Metrics()
	for range 10 {
		got := counters("", maps.Clone(counts)).Metrics()
		for i := range want {
			if got[i].Name != want[i].Name || (got[i].Value == nil) != (want[i].Value == nil) || got[i].Value != nil && *got[i].Value != *want[i].Value {
				t.Fatalf("%+v, then %+v", want[i], got[i])
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for i := range Table {
		f.Add(Table[i].Ways[0].Expr)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parse(text)
		if err != nil {
			return
		}
		values := map[string]float64{}
		for i, operand := range e.operands {
			values[operand] = float64(i)
		}
		e.eval(values)
		e.render(nil)
	})
}
