package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"vperf/lib/perf/perftest"
	"vperf/lib/record"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"vp-probe": main})
}

func TestScripts(t *testing.T) {
	probe, err := exec.LookPath("vp-probe")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// standin MACHINE: perf is a perftest.StandIn from here on.
			"standin": func(ts *testscript.TestScript, _ bool, args []string) {
				dir := ts.MkAbs("bin")
				ts.Check(os.MkdirAll(dir, 0o755))
				perftest.StandIn(t, dir, args[0])
				ts.Setenv("PATH", dir+":"+ts.Getenv("PATH"))
			},
			// status N COMMAND: exec, with an exit status of N.
			"status": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				got := 0
				var exit *exec.ExitError
				if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
					got = exit.ExitCode()
				} else {
					ts.Check(err)
				}
				if got != want {
					ts.Fatalf("exit status %d, want %d", got, want)
				}
			},
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("PERF", "")
			env.Setenv("VP_PROBE", probe)
			return nil
		},
	})
}

// A probe that is interrupted takes the perf that it runs with it, and what that runs.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	perftest.StandIn(t, dir, "hang")
	mark := "VP_PROBE_TEST=" + dir
	cmd := exec.Command("vp-probe")
	cmd.Env = append(os.Environ(), "PERF="+filepath.Join(dir, "perf"), mark)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(2 * time.Second)
	for len(running(t, mark, "sleep")) == 0 {
		if time.Now().After(deadline) {
			t.Fatal("the stand-in does not run")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 130 {
		t.Errorf("exit status %d", status)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("took %v to end", took)
	}
	left := running(t, mark, "")
	for ; len(left) > 0 && time.Since(start) < 2*time.Second; left = running(t, mark, "") {
		time.Sleep(10 * time.Millisecond) // they are killed, which takes a moment
	}
	if len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
}

// running returns the command lines that begin with a word and have entry in their environment.
func running(t *testing.T, entry, word string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte(entry+"\x00")) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err == nil && bytes.HasPrefix(line, []byte(word)) && len(line) > 0 {
			found = append(found, string(line))
		}
	}
	return found
}

func TestText(t *testing.T) {
	found := []record.Capability{
		{Group: "perf", Name: "perf", Status: record.OK, Detail: "/opt/\x1b[2Jevil/perf, version 6.1"},
		{Group: "events", Name: "pmu", Status: record.Missing, Detail: "no PMU", Cause: record.CauseNoPMU},
		{Group: "events", Name: "dTLB-loads", Status: record.Unsupported, Detail: "not mapped"},
		{Group: "sampling", Name: "kernel_samples", Status: record.Denied, Detail: "level 2", Cause: record.CausePerfEventParanoid, Fix: "sudo x\n"},
		{Group: "sampling", Name: "sampling", Status: record.OK, Detail: "212 samples"},
	}
	const want = `perf
  ok  perf            /opt/\x1b[2Jevil/perf, version 6.1

events
  --  pmu             missing: no PMU (no_pmu)
  --  dTLB-loads      unsupported: not mapped

sampling
  !!  kernel_samples  denied: level 2 (perf_event_paranoid)
                      fix: sudo x\x0a
  ok  sampling        212 samples

profiling works here: there are CPU samples; there are no samples of kernel code, no hardware counters, no waits, no states and stacks of waits
`
	var got bytes.Buffer
	if err := writeText(&got, found, false); err != nil {
		t.Fatal(err)
	}
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}

	got.Reset()
	if err := writeText(&got, found, true); err != nil {
		t.Fatal(err)
	}
	plain := got.String()
	for _, mark := range marks {
		plain = strings.ReplaceAll(plain, mark.color, "")
	}
	if plain = strings.ReplaceAll(plain, noColor, ""); plain != want {
		t.Errorf("coloured, without the colours:\n%s", plain)
	}
	if !strings.Contains(got.String(), "\x1b[31m!!\x1b[0m  kernel_samples") {
		t.Errorf("not coloured:\n%s", got.String())
	}

	found[4] = record.Capability{Group: "sampling", Name: "sampling", Status: record.Missing, Detail: "no perf"}
	if got := verdict(found); got != "profiling does not work here: no perf" {
		t.Errorf("got %q", got)
	}
}
