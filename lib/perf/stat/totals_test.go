package stat

import (
	"reflect"
	"strings"
	"testing"

	"vperf/lib/record"
)

func totals(t *testing.T, lines ...string) *Totals {
	t.Helper()
	counts, r, _ := read(t, "totals", strings.Join(lines, "\n"))
	if r.bad != 0 {
		t.Fatalf("%d lines not understood", r.bad)
	}
	var totals Totals
	for _, c := range counts {
		totals.Add(c)
	}
	return &totals
}

func TestTotals(t *testing.T) {
	counter := func(event, scope string, value float64, unit string, running, enabled int64, q record.Quality) record.Counter {
		return record.Counter{
			Event: event, Scope: scope, Value: record.Float(value), Unit: unit,
			RunningNS: record.Int(running), EnabledNS: record.Int(enabled), Quality: q,
		}
	}
	for _, test := range []struct {
		name  string
		lines []string
		want  []record.Counter
		endNS int64
	}{
		{
			"intervals are added up",
			[]string{
				"0.100000000,5,,faults,10,100.00,,",
				"0.100000000,<not counted>,,cycles,0,0.00,,",
				"0.200000000,6,,faults,20,100.00,,",
				"0.200000000,100,,cycles,5,50.00,,",
				"0.300000000,<not counted>,,faults,0,100.00,,",
			},
			[]record.Counter{
				counter("faults", "all", 11, "count", 30, 30, record.Count),
				counter("cycles", "all", 100, "cycles", 5, 10, record.Estimate),
			},
			300_000_000,
		},
		{
			"the summary replaces the sum",
			[]string{
				"0.100000000,5,,faults,10,100.00,,", "0.200000000,6,,faults,20,100.00,,", "summary,11,,faults,31,100.00,,",
			},
			[]record.Counter{counter("faults", "all", 11, "count", 31, 31, record.Count)},
			200_000_000,
		},
		{
			"a partial estimate makes an estimate",
			[]string{
				"0.100000000,5,,cycles,10,100.00,,", "0.200000000,6,,cycles,10,50.00,,",
			},
			[]record.Counter{counter("cycles", "all", 11, "cycles", 20, 30, record.Estimate)},
			200_000_000,
		},
		{
			"of an event asked for twice the first that counted",
			[]string{
				"<not counted>,,faults,0,0.00,,", "5,,faults,10,100.00,,", "6,,faults,10,100.00,,",
			},
			[]record.Counter{counter("faults", "all", 5, "count", 10, 10, record.Count)},
			0,
		},
		{
			"never counted",
			[]string{
				"0.100000000,<not counted>,,cycles,0,0.00,,", "0.200000000,<not counted>,,cycles,0,0.00,,",
			},
			[]record.Counter{{Event: "cycles", Scope: "all", Unit: "cycles", RunningNS: record.Int(0), Missing: record.CauseEventNotCounted}},
			200_000_000,
		},
		{
			"scopes are kept apart",
			[]string{"a-2,5,,faults,10,100.00,,", "b-1,6,,faults,10,100.00,,"},
			[]record.Counter{
				counter("faults", "tid:2", 5, "count", 10, 10, record.Count),
				counter("faults", "tid:1", 6, "count", 10, 10, record.Count),
			},
			0,
		},
		{"nothing", nil, []record.Counter{}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			sums := totals(t, test.lines...)
			if got := sums.Counters(); !reflect.DeepEqual(got, test.want) {
				t.Errorf("\n got %s\nwant %s", dump(got), dump(test.want))
			}
			if got := sums.EndNS(); got != test.endNS {
				t.Errorf("EndNS = %d, want %d", got, test.endNS)
			}
		})
	}
}

func TestThreads(t *testing.T) {
	sums := totals(t, "wrk pool-12,5,,faults,10,100.00,,", "io-2,6,,faults,10,100.00,,", "io-2,6,,cs,10,100.00,,")
	want := []record.Thread{{TID: 2, Name: "io"}, {TID: 12, Name: "wrk pool"}}
	if got := sums.Threads(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// dump writes counters as the records they become, for the pointers to be seen through.
func dump(counters []record.Counter) string {
	var b strings.Builder
	w := record.NewWriter(&b)
	for _, c := range counters {
		w.Write(&c)
	}
	w.Flush()
	return b.String()
}
