package collect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vperf/lib/event"
	"vperf/lib/record"
)

func counted(t *testing.T, csv string, events ...event.Event) (map[string]record.Counter, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stat")
	if err := os.WriteFile(path, []byte(csv), 0o600); err != nil {
		t.Fatal(err)
	}
	counters, err := readCounters(path, events)
	byName := map[string]record.Counter{}
	for _, c := range counters {
		byName[c.Event] = c
	}
	return byName, err
}

var (
	clock  = event.Event{Name: "task-clock", Software: true}
	cycles = event.Event{Name: "cycles"}
	misses = event.Event{Name: "cache-misses"}
)

func TestReadCounters(t *testing.T) {
	c, err := counted(t, "# started on a day\n\n1005.83;msec;task-clock:u;1005834196;100.00;0.5;CPUs utilized\n"+
		"400;;cycles:u;500;50.00;;\n<not counted>;;cache-misses:u;0;0.00;;\n", clock, cycles, misses)
	if err != nil {
		t.Fatal(err)
	}
	if got := c["task-clock"]; *got.Value != 1005830000 || got.Unit != "ns" || got.Quality != record.Count || got.Expression != "task-clock:u" {
		t.Errorf("%+v", got)
	}
	if got := c["cycles"]; *got.Value != 400 || got.Quality != record.Estimate || *got.EnabledNS != 1000 || *got.RunningNS != 500 {
		t.Errorf("%+v", got)
	}
	if got := c["cache-misses"]; got.Value != nil || got.Missing != record.CauseEventNotCounted {
		t.Errorf("%+v", got)
	}
}

func TestNoPMU(t *testing.T) {
	const software = "1;msec;task-clock;1;100.00;;\n"
	c, _ := counted(t, software+"<not supported>;;cycles;0;100.00;;\n<not supported>;;cache-misses;0;100.00;;\n", clock, cycles, misses)
	if c["cycles"].Missing != record.CauseNoPMU || c["cache-misses"].Missing != record.CauseNoPMU {
		t.Errorf("none supported: %+v", c)
	}
	c, _ = counted(t, software+"5;;cycles;9;100.00;;\n<not supported>;;cache-misses;0;100.00;;\n", clock, cycles, misses)
	if c["cache-misses"].Missing != record.CauseEventUnsupported {
		t.Errorf("one of two: %+v", c["cache-misses"])
	}
}

func TestCountersCutOff(t *testing.T) {
	c, err := counted(t, "1;msec;task-clock;1;100.00;;\n400;;cyc", clock, cycles)
	if err == nil || !strings.Contains(err.Error(), "cycles") || c["task-clock"].Value == nil {
		t.Errorf("%v, %+v", err, c)
	}
	if _, err := readCounters(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a file that is not there is read")
	}
}

func TestComplete(t *testing.T) {
	u := usage{CPU: 70, MinorFaults: 5, MajorFaults: 1, Switches: 9}
	got := complete([]record.Counter{
		{Event: "task-clock", Value: record.Float(69)},
		{Event: "context-switches", Expression: "context-switches:u", Missing: record.CausePerfEventParanoid},
		{Event: "cycles", Missing: record.CauseNoPMU},
	}, u)
	want := map[string]float64{"task-clock": 69, "context-switches": 9, "page-faults": 6, "minor-faults": 5, "major-faults": 1}
	for _, c := range got {
		if c.Event == "cycles" {
			if c.Missing == "" {
				t.Errorf("%+v", c)
			}
			continue
		}
		if c.Missing != "" || *c.Value != want[c.Event] {
			t.Errorf("%s: %+v, want %v", c.Event, c, want[c.Event])
		}
		delete(want, c.Event)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}
