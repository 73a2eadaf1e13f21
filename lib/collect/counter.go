package collect

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"vperf/lib/event"
	"vperf/lib/perf/stat"
	"vperf/lib/record"
)

// counter is a perf stat.
type counter struct {
	*controlled
	path string
}

// startCounter attaches perf stat to the launcher and waits until it counts. It returns nil
// if perf cannot count.
func (r *run) startCounter(ctx context.Context) *counter {
	path := r.file("perf-stat.csv")
	args := append([]string{"stat"}, controlArgs...)
	args = append(args, "-x", ";", "-o", path, "-t", strconv.Itoa(r.launcher.process.Pid), "-e", strings.Join(eventNames(r.events()), ","))
	c, err := startControlled(r.Perf, r.watcher, args...)
	if err != nil {
		r.missing(record.CauseEventNotCounted, "no counters: perf cannot be started: "+err.Error(), "")
		return nil
	}
	if err = c.enable(ctx); err == nil {
		return &counter{c, path}
	}
	c.stop()
	if ctx.Err() == nil {
		f := refusalOf(c, err)
		r.missing(record.CauseEventNotCounted, "no counters: perf stat: "+f.reason, f.fix)
	}
	return nil
}

// events returns what is counted here.
func (r *run) events() []event.Event {
	if r.Host.CPU == nil {
		return event.Default("")
	}
	return event.Default(r.Host.CPU.Vendor)
}

func eventNames(events []event.Event) (names []string) {
	for _, e := range events {
		names = append(names, e.Name)
	}
	return names
}

// readCounters reads what perf stat counted: a record or, on hybrid processors, several for
// each event that was asked for. The error completes "perf stat ...".
func readCounters(path string, asked []event.Event) ([]record.Counter, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("left no counts: %w", err)
	}
	defer file.Close()
	var counters []record.Counter
	counts := stat.NewReader("perf stat", file)
	counts.Separator = ";"
	for counts.Next() {
		count := counts.Count()
		c := count.Counter()
		c.Event, c.Expression = event.Base(c.Event), c.Event
		counters = append(counters, c)
	}
	if err := counts.Err(); err != nil {
		return counters, fmt.Errorf("left a file that cannot be read: %w", err)
	}
	for _, e := range asked {
		if !slices.ContainsFunc(counters, func(c record.Counter) bool { return c.Event == e.Name }) {
			return counters, fmt.Errorf("says nothing about %s", e.Name)
		}
	}
	hidePMU(counters, asked)
	return counters, nil
}

// hidePMU gives hardware events the better reason if not one of them is supported.
func hidePMU(counters []record.Counter, asked []event.Event) {
	software := func(c record.Counter) bool {
		i := slices.IndexFunc(asked, func(e event.Event) bool { return e.Name == c.Event })
		return i >= 0 && asked[i].Software
	}
	for _, c := range counters {
		if !software(c) && c.Missing != record.CauseEventUnsupported {
			return
		}
	}
	for i, c := range counters {
		if !software(c) {
			counters[i].Missing = record.CauseNoPMU
		}
	}
}

// complete fills in, from getrusage, what perf stat could not count: without privileges
// the kernel shows no context switches to perf, but it shows them here. usage is that of
// the command and its children that it has waited for.
func complete(counters []record.Counter, usage usage) []record.Counter {
	for _, known := range []struct {
		event, expression string
		value             int64
	}{
		{"task-clock", "getrusage: ru_utime + ru_stime", usage.CPU},
		{"context-switches", "getrusage: ru_nvcsw + ru_nivcsw", usage.Switches},
		{"page-faults", "getrusage: ru_minflt + ru_majflt", usage.MinorFaults + usage.MajorFaults},
		{"minor-faults", "getrusage: ru_minflt", usage.MinorFaults},
		{"major-faults", "getrusage: ru_majflt", usage.MajorFaults},
	} {
		c := record.Counter{
			Event: known.event, Expression: known.expression, Scope: "all",
			Value: record.Float(float64(known.value)), Unit: event.UnitOf(known.event), Quality: record.Count,
		}
		i := slices.IndexFunc(counters, func(c record.Counter) bool { return c.Event == known.event })
		switch {
		case i < 0:
			counters = append(counters, c)
		case counters[i].Missing != "":
			counters[i] = c
		}
	}
	return counters
}

// usageSince returns what the command used, without what the launcher had used before.
func usageSince(state *os.ProcessState, base usage) (usage, bool) {
	r, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return usage{}, false
	}
	return usageOf(r).minus(base), true
}
