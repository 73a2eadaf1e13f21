package metric

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"vperf/lib/perf/perftest"
	"vperf/lib/perf/stat"
	"vperf/lib/record"
)

// spin keeps a CPU busy for some tenths of a second.
var spin = []string{"--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"}

// What perf stat computes itself from a run, we compute too: in the values for programs ...
func TestOracleValues(t *testing.T) {
	p := perftest.NeedPerf(t)
	name := filepath.Join(t.TempDir(), "stat.csv")
	args := append([]string{"stat", "-x", ",", "-o", name, "-e", "task-clock,duration_time,page-faults,context-switches,user_time,system_time"}, spin...)
	if out, err := p.Command(t.Context(), args...).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED, this perf has no duration_time or no user_time: %v\n%s", err, out)
	}
	r := readStat(t, name)
	printed := map[string]stat.Count{}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for counts := stat.NewReader(name, file); counts.Next(); {
		printed[counts.Count().Event] = counts.Count()
	}

	busy := find(t, r, "all", "busy_cores")
	near(t, "busy_cores", *busy.Value, printed["task-clock"].Printed.Value, 0.0011)
	near(t, "elapsed_s", *find(t, r, "all", "elapsed_s").Value, printed["duration_time"].Value/1e9, 0)
	near(t, "cpu_time_s", *find(t, r, "all", "cpu_time_s").Value, printed["task-clock"].Value/1e9, 1e-12)

	// The other way to the CPU time is the kernel's accounting of the process: not the same
	// clock, and perf's start of the program counts there.
	var other Run
	for _, name := range []string{"user_time", "system_time"} {
		if c := printed[name]; c.Known() {
			counter := c.Counter()
			other.AddCounter(&counter)
		} else { // a time of 0 is printed as not counted
			other.AddCounter(&record.Counter{Event: name, Scope: "all", Value: record.Float(0)})
		}
	}
	near(t, "cpu_time_s by rusage", *find(t, &other, "all", "cpu_time_s").Value, printed["task-clock"].Value/1e9, 0.02)

	rate := printed["page-faults"].Printed
	perSecond := rate.Value * map[string]float64{"/sec": 1, "K/sec": 1e3, "M/sec": 1e6}[rate.Name]
	faults := find(t, r, "all", "page_faults")
	near(t, "page faults per second of CPU time", *faults.Value/(printed["task-clock"].Value/1e9), perSecond, perSecond*0.001)
}

// ... and in the table for people.
func TestOracleTable(t *testing.T) {
	p := perftest.NeedPerf(t)
	args := append([]string{"stat", "--no-big-num", "-e", "task-clock"}, spin...)
	out, err := p.Command(t.Context(), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	number := func(behind string) float64 {
		for line := range strings.Lines(string(out)) {
			before, _, ok := strings.Cut(line, behind)
			if fields := strings.Fields(before); ok && len(fields) > 0 {
				v, err := strconv.ParseFloat(fields[len(fields)-1], 64)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
		}
		t.Fatalf("no %q in\n%s", behind, out)
		return 0
	}
	var r Run
	r.AddCounter(&record.Counter{Event: "task-clock", Scope: "all", Value: record.Float(number(" msec task-clock") * 1e6)})
	r.AddMeta(&record.Meta{Target: &record.Target{DurationNS: record.Int(int64(number(" seconds time elapsed") * 1e9))}})
	near(t, "busy_cores", *find(t, &r, "all", "busy_cores").Value, number(" CPUs utilized"), 0.0011)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s = %v, perf says %v", what, got, want)
	}
}
