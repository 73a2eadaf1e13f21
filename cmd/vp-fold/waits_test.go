package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"vperf/lib/perf/perftest"
	"vperf/lib/record"
)

// waitsOf returns the wait records of a stream, their stacks left out, and the lives of
// threads.
func waitsOf(t *testing.T, stream []byte) (waits []record.Wait, lives map[int64]int64) {
	t.Helper()
	lives = map[int64]int64{}
	r := record.NewReader("", bytes.NewReader(stream))
	for r.Next() {
		switch r.Type() {
		case record.TypeWait:
			var w record.Wait
			if r.Decode(&w) {
				w.Stack = 0
				waits = append(waits, w)
			}
		case record.TypeThread:
			var x record.Thread
			if r.Decode(&x) && x.StartNS != nil {
				lives[x.TID] = *x.EndNS - *x.StartNS
			}
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return waits, lives
}

// TestWaitsOfPerfData wants the same waits of a perf.data file as of the text that perf
// script prints of it.
func TestWaitsOfPerfData(t *testing.T) {
	p := perftest.NeedPerf(t)
	fold, err := exec.LookPath("vp-fold")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		data     func(t *testing.T) string
		atLeast  int
		balanced bool // nothing is lost
	}{
		{"switch records", func(t *testing.T) string { return recordBurn(t, p, "--switch-events") }, 20, true},
		{"both", func(t *testing.T) string {
			return recordEvents(t, p, "--switch-events", "-e", "cpu-clock/freq=199/", "-e", "sched:sched_switch", "-g")
		}, 20, true},
		{"tracepoints", func(t *testing.T) string { return filepath.Join(corpus(t, "corpus/sched"), "local61/sched_mt.data") }, 1000, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := c.data(t)
			text := p.Command(t.Context(), "script", "-f", "-i", data, "--ns", "--show-switch-events", "--show-task-events")
			fromText := exec.Command(fold, "--quiet")
			fromText.Stdin = bytes.NewReader(output(t, text))
			got, lives := waitsOf(t, output(t, exec.Command(fold, "--quiet", data)))
			want, _ := waitsOf(t, output(t, fromText))
			if len(want) < c.atLeast || !slices.Equal(got, want) {
				t.Errorf("%d waits of the file, %d of the text, want %d at least", len(got), len(want), c.atLeast)
			}
			off, states := map[int64]int64{}, map[string]int{}
			for _, w := range got {
				off[w.TID] += w.DurationNS
				states[w.State]++
			}
			t.Log(states)
			for tid, ns := range off {
				if ns > lives[tid] && c.balanced {
					t.Errorf("thread %d was off the CPU for %d ns of its %d", tid, ns, lives[tid])
				}
			}
		})
	}
}

// TestOldSwitches folds what others recorded: the tracepoint in its forms.
func TestOldSwitches(t *testing.T) {
	dir := corpus(t, "corpus/sched")
	fold, err := exec.LookPath("vp-fold")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"lkml/sched_nanosleep_5.4.script.txt":      "1 threads lived 1 s together: 0 s on a CPU, 0 s off it in 0 waits, 1 s and more in 1 waits",
		"lkml/sched_pidtid_ns_6.x.script.txt":      "0 s and more in 1 waits",
		"lkml/sched_ppc64_longform_6.x.script.txt": "0 s and more in 1 waits",
		"local61/sched_mt.ns_pidtid.script.txt":    "16 threads lived 1.52 s together: 222 ms on a CPU, 833 ms off it in 1453 waits",
		"local61/sched_mt.script.txt":              "16 threads lived 1.52 s together: 222 ms on a CPU, 833 ms off it in 1453 waits",
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if out := output(t, exec.Command(fold, "--quiet", filepath.Join(dir, name))); !bytes.Contains(out, []byte(want)) {
			i := bytes.Index(out, []byte("threads lived"))
			t.Errorf("%s: want %q, have %.300q", name, want, out[max(0, i-40):])
		}
	}
}
