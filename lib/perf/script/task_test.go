package script

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"vperf/lib/perf/recording"
)

// TestTaskEvents wants what perf tells of threads in the order of the text, also where it
// follows a sample without a blank line between them.
func TestTaskEvents(t *testing.T) {
	const text = "swapper     0 [000]     0.000000000: PERF_RECORD_FORK(2:2):(0:0)\n" +
		"perf-exec     0     0.000000000: PERF_RECORD_COMM: perf-exec:9/9\n" +
		"a: b/1 9/9     1.000000001: PERF_RECORD_COMM exec: a: b/1:9/9\n" +
		"a: b/1 9/9     1.100000000: PERF_RECORD_FORK(9:10):(9:9)\n" +
		"a: b/1 9/10 [003] 1.200000000: PERF_RECORD_SWITCH_CPU_WIDE IN           prev pid/tid:     0/0    \n" +
		"a: b/1 9/10 1.300000000: 1 sched:sched_switch: prev_comm=a prev_pid=10\n" +
		"a: b/1 9/10 [003] 1.300000100: PERF_RECORD_SWITCH_CPU_WIDE OUT preempt  next pid/tid:     9/9    \n" +
		":-1    -1 [003] 1.300000100: PERF_RECORD_SWITCH_CPU_WIDE OUT          next pid/tid:     9/9    \n" +
		"a: b/1 9/9 1.400000000: PERF_RECORD_SWITCH IN         \n" +
		"a: b/1 9/9 1.500000000: 1 cycles: \n" +
		"a: b/1 9/9 1.600000000: PERF_RECORD_SWITCH OUT        \n" +
		"a: b/1 9/9 1.700000000: PERF_RECORD_EXIT(9:9):(1:1)\n" +
		"a: b/1 9/9 1.800000000: PERF_RECORD_SWITCH SIDEWAYS\n"
	const want = `3 0.000 tid 2 pid 2 cpu 0 ""
4 1.000000001 tid 9 pid 9 cpu -1 "a: b/1"
3 1.1 tid 10 pid 9 cpu -1 ""
0 1.2 tid 10 pid 9 cpu 3 "a: b/1"
sample sched:sched_switch
2 1.3000001 tid 10 pid 9 cpu 3 "a: b/1"
0 1.4 tid 9 pid 9 cpu -1 "a: b/1"
sample cycles
1 1.6 tid 9 pid 9 cpu -1 "a: b/1"
5 1.7 tid 9 pid 9 cpu -1 "a: b/1"
`
	var got strings.Builder
	r := NewReader(strings.NewReader(text))
	r.OnTask(func(e *recording.TaskEvent) {
		at := strconv.FormatFloat(float64(e.TimeNS)/1e9, 'f', -1, 64)
		if e.TimeNS == 0 {
			at = "0.000"
		}
		fmt.Fprintf(&got, "%d %s tid %d pid %d cpu %d %q\n", e.Kind, at, e.TID, e.PID, e.CPU, e.Comm)
	})
	for r.Next() {
		fmt.Fprintf(&got, "sample %s\n", r.Sample().Event)
	}
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	if n := r.Tally().N(recording.Other); n != 3 {
		t.Errorf("%d other records, want 3", n)
	}
}
