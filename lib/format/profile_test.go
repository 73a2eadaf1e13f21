package format

import (
	"math"
	"testing"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

func TestSeries(t *testing.T) {
	var s Series
	s.Add(30, 1, 7)
	s.Add(10, 2, math.MaxUint32)
	s.Add(20, 3, math.MaxUint64)
	s.Add(10, 4, math.MaxUint32-1)
	want := [][3]uint64{{10, 2, math.MaxUint32}, {10, 4, math.MaxUint32 - 1}, {20, 3, math.MaxUint64}, {30, 1, 7}}
	order := s.Order()
	if len(order) != len(want) || s.Len() != len(want) {
		t.Fatalf("%d samples in order, %d in all, want %d", len(order), s.Len(), len(want))
	}
	for i, at := range order {
		ns, ref, weight := s.At(int(at))
		if got := [3]uint64{uint64(ns), uint64(ref), weight}; got != want[i] {
			t.Errorf("sample %d is %v, want %v", i, got, want[i])
		}
	}
}

// TestProfile adds samples of the same thread and stack up, and keeps others apart.
func TestProfile(t *testing.T) {
	table := stack.NewTable()
	a := table.Stack(0, table.Frame(record.Frame{Symbol: "a"}))
	b := table.Stack(a, table.Frame(record.Frame{Symbol: "b"}))
	p := NewProfile(table, record.Event{Name: "cycles", Unit: "cycles"})
	add := func(pid, tid int64, comm string, timeNS int64, id record.ID, weight uint64) {
		p.Add(&recording.Sample{PID: pid, TID: tid, Comm: comm, TimeNS: timeNS, Weight: weight}, id, 1)
	}
	const none = recording.None
	add(9, 9, "sh", 50, a, 1)
	add(9, 10, "pool", 40, a, 2)
	add(9, 9, "app", none, a, 4)
	add(9, 9, "", 70, b, 8)
	add(none, none, "x", none, b, 16)
	add(none, none, "y", none, b, math.MaxUint64)
	add(none, none, "y", none, b, 1)

	want := []Sum{{0, a, 2, 5}, {1, a, 1, 2}, {0, b, 1, 8}, {2, b, 1, 16}, {3, b, 2, math.MaxUint64}}
	if len(p.Sums) != len(want) {
		t.Fatalf("%d sums, want %d", len(p.Sums), len(want))
	}
	for i := range want {
		if p.Sums[i] != want[i] {
			t.Errorf("sum %d is %v, want %v", i, p.Sums[i], want[i])
		}
	}
	if p.First != 40 || p.Last != 70 {
		t.Errorf("from %d to %d", p.First, p.Last)
	}
	for i, name := range []string{"app-9/9", "pool-9/10", "x", "y"} {
		if got := p.Threads[i].String(); got != name {
			t.Errorf("thread %q, want %q", got, name)
		}
	}
	if got := p.Process(p.Threads[1]); got != "app" {
		t.Errorf("thread 10 is of process %q", got)
	}
	if got := p.Process(p.Threads[2]); got != "" {
		t.Errorf("a thread without ids is of process %q", got)
	}
}
