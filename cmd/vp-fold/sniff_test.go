package main

import (
	"os"
	"path/filepath"
	"testing"

	"vperf/lib/format/folded"
	"vperf/lib/format/pprof"
)

// TestSniffing tells the texts of perf script from what collapsers made of them by their
// beginning.
func TestSniffing(t *testing.T) {
	dir := corpus(t, "corpus/script")
	check := func(pattern string, want bool) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if len(text) == 0 {
				continue
			}
			head := text[:min(len(text), sniffed)]
			if got := folded.Looks(head); got != want {
				t.Errorf("%s: folded %v, want %v", name, got, want)
			}
			if pprof.Looks(head) {
				t.Errorf("%s looks like a pprof profile", name)
			}
		}
	}
	check("results/*/*.txt", true)
	check("wild/*.folded", true)
	for _, scripts := range []string{
		"derived61/*.txt", "flamegraph/*.txt", "gprof2dot/*.perf", "inferno/*.txt", "local61/*.txt",
		"magictrace/*.perf", "perfview/*.dump", "speedscope/*.txt", "wild/*.txt",
	} {
		check(scripts, false)
	}
}
