package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vperf/lib/need"
	"vperf/lib/perf"
	"vperf/lib/perf/perftest"
)

// burnEnv makes the test binary a program to profile.
const burnEnv = "VP_FOLD_TEST_BURN"

func init() {
	if os.Getenv(burnEnv) == "" {
		return
	}
	end := time.Now().Add(400 * time.Millisecond)
	var wg sync.WaitGroup
	for depth := range 3 {
		wg.Go(func() {
			runtime.LockOSThread()
			for x := uint64(1); time.Now().Before(end); x = burn(x, depth*7) {
			}
		})
	}
	wg.Wait()
	os.Exit(0)
}

//go:noinline
func burn(x uint64, depth int) uint64 {
	if depth > 0 {
		return burn(x, depth-1) + 1
	}
	for range 20000 {
		x = x*0x9e3779b97f4a7c15 ^ x>>31
	}
	return x
}

// recordBurn samples the CPU time of the test binary.
func recordBurn(t *testing.T, p *perf.Perf, args ...string) (data string) {
	t.Helper()
	return recordEvents(t, p, slices.Concat([]string{"-e", "cpu-clock", "-F", "999"}, args)...)
}

// recordEvents runs perf record on the test binary.
func recordEvents(t *testing.T, p *perf.Perf, args ...string) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "perf.data")
	args = slices.Concat([]string{"record", "-q", "-o", data}, args, []string{"--", os.Args[0]})
	cmd := p.Command(context.Background(), args...)
	cmd.Env = append(cmd.Env, burnEnv+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		need.Missing(t, "perf record does not work here: %v\n%s", err, out)
	}
	return data
}

func output(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(cmd, err)
	}
	return out
}

var (
	refHead   = regexp.MustCompile(`^ *(.+?) +(?:-?\d+/)?(-?\d+) +(?:\[\d+\] +)?\d+\.\d+: +(\d+) +(\S+): *(.*)$`)
	refFrame  = regexp.MustCompile(`^\s*([0-9a-f]+) (.+) \(((?:[^()]|\([^()]*\))+)\)$`)
	refOffset = regexp.MustCompile(`\+0x[0-9a-f]+$`)
)

// reference folds the text of perf script line by line with regular expressions: slow,
// and sharing nothing with what it checks.
func reference(t *testing.T, text []byte) (lines map[string]uint64, samples int) {
	t.Helper()
	lines = map[string]uint64{}
	var comm string
	var weight uint64
	var frames []string
	frame := func(line string) {
		m := refFrame.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("no frame: %q", line)
		}
		name := strings.ReplaceAll(refOffset.ReplaceAllString(m[2], ""), ";", ":")
		if name == "[unknown]" && m[3] != "[unknown]" {
			name = "[" + filepath.Base(strings.TrimSuffix(m[3], " (deleted)")) + "]"
		}
		frames = append(frames, name)
	}
	flush := func() {
		if comm == "" {
			return
		}
		if frames == nil {
			frames = []string{"[no stack]"}
		}
		slices.Reverse(frames)
		lines[comm+";"+strings.Join(frames, ";")] += weight
		comm, frames = "", nil
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		switch m := refHead.FindStringSubmatch(line); {
		case m != nil:
			flush()
			samples++
			comm = m[1]
			weight, _ = strconv.ParseUint(m[3], 10, 64)
			if m[5] != "" {
				frame(m[5])
			}
		case line == "":
			flush()
		default:
			frame(line)
		}
	}
	flush()
	return lines, samples
}

// excerpts returns the first and the last lines of a difference.
func excerpts(diff []string) string {
	if len(diff) > 6 {
		diff = slices.Concat(diff[:3], diff[len(diff)-3:])
	}
	return strings.Join(diff, "\n")
}

// TestAgainstPerf records here and compares with what perf script and perf report say.
// Inlined functions are left out: with the debug information of libraries more of them are
// found here than by perf.
func TestAgainstPerf(t *testing.T) {
	p := perftest.NeedPerf(t)
	fold, err := exec.LookPath("vp-fold")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name           string
		record, script []string

		// Programs that are not ours may be gone, and their symbols with them, when perf
		// looks for the second time.
		others bool
	}{
		{name: "call graph", record: []string{"-g", "-k", "mono"}},
		{name: "fields", record: []string{"-g", "--sample-cpu"}, script: []string{"--ns", "-F", "comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso"}},
		{name: "no call graph"},
		{name: "whole system", record: []string{"-g", "-a"}, others: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := recordBurn(t, p, c.record...)
			text := output(t, p.Command(t.Context(), slices.Concat([]string{"script", "--no-inline", "-i", data}, c.script)...))
			want, samples := reference(t, text)
			if samples < 50 {
				t.Fatalf("only %d samples", samples)
			}
			o := &options{to: math.MaxInt64, root: "comm"}
			if diff := difference(foldedLines(t, text, o), want); len(diff) > 0 {
				t.Errorf("%d lines differ from perf script:\n%s", len(diff), excerpts(diff))
			}

			// The perf.data file itself, from a path and from a pipe.
			for _, stdin := range []bool{false, true} {
				cmd := exec.Command(fold, "--quiet", "--no-inline", "--format", "folded", "--max-depth", "0")
				if stdin {
					file, err := os.Open(data)
					if err != nil {
						t.Fatal(err)
					}
					defer file.Close()
					cmd.Stdin = file
				} else {
					cmd.Args = append(cmd.Args, data)
				}
				got := parseFolded(t, output(t, cmd))
				if c.others {
					got, want := sum(got), sum(want)
					if got != want {
						t.Errorf("stdin %v: the samples weigh %d, want %d", stdin, got, want)
					}
				} else if diff := difference(got, want); len(diff) > 0 {
					t.Errorf("stdin %v: %d lines differ:\n%s", stdin, len(diff), excerpts(diff))
				}
			}

			// Records folded again, by sample count.
			records := exec.Command(fold, "--quiet", "--max-depth", "0", data)
			again := exec.Command(fold, "--quiet", "--format", "folded", "--root", "none", "--weight", "samples")
			again.Stdin = bytes.NewReader(output(t, records))
			if total := sum(parseFolded(t, output(t, again))); total != uint64(samples) {
				t.Errorf("%d samples after records, want %d", total, samples)
			}

			report := output(t, p.Command(t.Context(), "report", "-i", data, "--stdio", "--no-children", "-g", "none"))
			for _, head := range []string{fmt.Sprintf("# Samples: %d ", samples), fmt.Sprintf("# Event count (approx.): %d\n", sum(want))} {
				if !bytes.Contains(report, []byte(head)) && samples < 1000 { // perf prints 1K beyond
					t.Errorf("perf report does not say %q:\n%.600s", head, report)
				}
			}
		})
	}
}
