package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vperf/lib/need"
	"vperf/lib/perf/perftest"
	"vperf/lib/record"
)

// What perf counts must agree with what the kernel charged the process with.
func TestCountersAgreeWithUsage(t *testing.T) {
	perftest.NeedPerf(t)
	c := start(t, "--", "target", "spin", "500")
	if status := c.finish(); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	p := readProfile(t, c.stdout.Bytes())
	clock := p.counters["task-clock"]
	if clock.Value == nil || clock.Unit != "ns" || math.Abs(*clock.Value/500e6-1) > 0.1 {
		t.Errorf("task-clock %+v, want 500 ms", clock)
	}
	if faults := p.counters["page-faults"]; faults.Value == nil || *faults.Value < 10 {
		t.Errorf("page-faults %+v", faults)
	}
	if switches := p.counters["context-switches"]; switches.Value == nil {
		t.Errorf("context-switches %+v", switches)
	}
	for name, c := range p.counters {
		if (c.Value == nil) == (c.Missing == "") {
			t.Errorf("%s has both or neither of value and cause: %+v", name, c)
		}
	}
}

// Samples must be the target's alone, as many as its CPU time gives, within its life and
// on its clock.
func TestSamples(t *testing.T) {
	p := perftest.NeedPerf(t)
	c := start(t, "-F", "499", "--", "target", "spin", "600")
	if status := c.finish(); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, undump(c.stdout.String(), record.DumpPerfData), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := p.Command(t.Context(), "script", "-i", path, "-F", "comm,pid,time,cpu").Output()
	if err != nil {
		t.Fatal(err)
	}
	header, err := p.Command(t.Context(), "report", "--header-only", "-i", path).Output()
	if err != nil || !bytes.Contains(header, []byte("clockid: monotonic")) {
		t.Errorf("%v, the recording's clock is not CLOCK_MONOTONIC:\n%s", err, header)
	}
	profile := readProfile(t, c.stdout.Bytes())
	target := profile.metas[0].Target
	startS, endS := float64(*target.StartNS)/1e9, float64(*target.StartNS+*profile.metas[1].Target.DurationNS)/1e9
	samples := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line) // target 123 [000] 45.678:
		if fields[0] == target.Launcher {
			continue
		}
		if fields[0] != "target" || fields[1] != strconv.FormatInt(*target.PID, 10) || !strings.HasPrefix(fields[2], "[") {
			t.Fatalf("not the target's: %s", line)
		}
		at, err := strconv.ParseFloat(strings.TrimSuffix(fields[3], ":"), 64)
		if err != nil || at < startS-1e-3 || at > endS+1e-3 {
			t.Fatalf("not between %f and %f: %s", startS, endS, line)
		}
		samples++
	}
	if samples < 200 || samples > 400 {
		t.Errorf("%d samples of 600 ms at 499 Hz", samples)
	}
}

func TestRSS(t *testing.T) {
	perftest.NeedPerf(t)
	c := start(t, "--", "target", "memory", "64")
	c.finish()
	p := readProfile(t, c.stdout.Bytes())
	meta := p.metas[0].Target
	var peak, last int64
	for _, r := range p.rss {
		if r.PID != *meta.PID {
			t.Errorf("not the target's: %+v", r)
		}
		if r.TimeNS <= last || r.TimeNS < *meta.StartNS {
			t.Errorf("time runs backwards: %+v", r)
		}
		last = r.TimeNS
		peak = max(peak, r.Bytes)
	}
	var kB int64
	if _, said, ok := strings.Cut(c.stderr.String(), "peak "); ok {
		fmt.Sscan(said, &kB)
	}
	if peak < 64<<20 || math.Abs(float64(peak)/float64(kB<<10)-1) > 0.05 {
		t.Errorf("peak of %d bytes, the kernel says %d kB", peak, kB)
	}
	if span := float64(last-p.rss[0].TimeNS) / 1e7; float64(len(p.rss)) < span/2 {
		t.Errorf("%d readings in %.0f periods", len(p.rss), span)
	}
}

func TestRSSOfChildren(t *testing.T) {
	perftest.NeedPerf(t)
	c := start(t, "--", "target", "children", "3")
	c.finish()
	peaks := map[int64]int64{}
	for _, r := range readProfile(t, c.stdout.Bytes()).rss {
		peaks[r.PID] = max(peaks[r.PID], r.Bytes)
	}
	big := 0
	for _, peak := range peaks {
		if peak > 8<<20 {
			big++
		}
	}
	if len(peaks) != 4 || big < 3 {
		t.Errorf("peaks by pid: %v; want a parent and 3 children of 8 MiB", peaks)
	}
}

// A signal that only vp-collect gets is passed on; one that the group gets comes once.
func TestSignals(t *testing.T) {
	perftest.NeedPerf(t)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1} {
		for _, group := range []bool{false, true} {
			name := s.String()
			if group {
				name += " to the group"
			}
			t.Run(name, func(t *testing.T) {
				ready := filepath.Join(t.TempDir(), "ready")
				c := startGroup(t, "--", "target", "signals", ready, "600")
				await(t, ready)
				to := c.Process.Pid
				if group {
					to = -to
				}
				if err := syscall.Kill(to, s); err != nil {
					t.Fatal(err)
				}
				if status := c.finish(); status != 0 {
					t.Errorf("exit status %d", status)
				}
				if n := strings.Count(c.stderr.String(), "target got"); n != 1 {
					t.Errorf("the target got %d signals", n)
				}
				if p := readProfile(t, c.stdout.Bytes()); p.end == nil || !p.end.Complete {
					t.Errorf("end record: %+v", p.end)
				}
			})
		}
	}
}

// startGroup starts vp-collect in a process group of its own, as a shell does.
func startGroup(t *testing.T, args ...string) *collecting {
	t.Helper()
	c := &collecting{Cmd: exec.Command("vp-collect", args...), t: t, tmp: t.TempDir()}
	c.Env = append(os.Environ(), "TMPDIR="+c.tmp)
	c.Stdout, c.Stderr = &c.stdout, &c.stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	return c
}

// Ctrl-C ends the target, and there is a profile; a second one does no harm.
func TestCtrlC(t *testing.T) {
	perftest.NeedPerf(t)
	const target = "sleep\x0020.0625"
	c := startGroup(t, "--", "sh", "-c", "exec sleep 20.0625") // with a blank: not yet the target
	awaitAlive(t, target, 1)
	for range 2 {
		syscall.Kill(-c.Process.Pid, syscall.SIGINT)
	}
	awaitAlive(t, target, 0)
	syscall.Kill(-c.Process.Pid, syscall.SIGINT)
	if status := c.finish(); status != 130 {
		t.Errorf("exit status %d", status)
	}
	p := readProfile(t, c.stdout.Bytes())
	if p.end == nil || !p.end.Complete || p.metas[1].Target.Signal != "SIGINT" {
		t.Errorf("end %+v, metas %+v", p.end, p.metas)
	}
}

// Ctrl-C before the target is there: no profile, and the status that the target would have.
func TestCtrlCEarly(t *testing.T) {
	perftest.NeedPerf(t)
	standIn(t, `--version) echo "perf version 6.1.0"; exit ;; record) sleep 10.0625 ;; *) exec "$REAL" "$@" ;;`)
	c := startGroup(t, "--", "target", "exit", "0")
	awaitAlive(t, "sleep\x0010.0625", 1)
	syscall.Kill(-c.Process.Pid, syscall.SIGINT)
	if status := c.finish(); status != 130 || c.stdout.Len() > 0 {
		t.Errorf("exit status %d, output %q", status, c.stdout.String())
	}
	if left := alive(t, c.tmp); len(left) > 0 {
		t.Errorf("left alive: %v", left)
	}
}

// vp-collect is killed: the target lives on, perf does not, nothing is left in TMPDIR.
func TestKilled(t *testing.T) {
	perftest.NeedPerf(t)
	ready := filepath.Join(t.TempDir(), "ready")
	c := start(t, "--", "target", "signals", ready, "20000")
	pid, err := strconv.Atoi(await(t, ready))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	if n := len(alive(t, c.tmp)); n != 2 {
		t.Errorf("%d perf processes", n)
	}
	c.Process.Kill()
	c.Process.Wait() // not c.Wait: the target holds stderr
	awaitAlive(t, c.tmp, 0)
	for range 400 {
		if left, _ := os.ReadDir(c.tmp); len(left) == 0 {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	if left, _ := os.ReadDir(c.tmp); len(left) > 0 {
		t.Errorf("left in TMPDIR: %v", left)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the target: %v", err)
	}
}

// perf must leave the CPU to a target that sleeps. (6.1 spins when a thread that it was
// attached to has ended, so it is attached to one that does not.)
func TestPerfIsIdle(t *testing.T) {
	perftest.NeedPerf(t)
	ready := filepath.Join(t.TempDir(), "ready")
	c := start(t, "--", "target", "signals", ready, "20000")
	pid, err := strconv.Atoi(await(t, ready))
	if err != nil {
		t.Fatal(err)
	}
	used := func() (ticks int) {
		perfs := alive(t, c.tmp)
		if len(perfs) != 2 {
			t.Fatalf("perf record and perf stat: %q", perfs)
		}
		for _, path := range perfs {
			pid, _, _ := strings.Cut(strings.TrimPrefix(path, "/proc/"), "/")
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			if err != nil {
				t.Fatal(err)
			}
			fields := strings.Fields(string(stat))
			for _, field := range fields[13:15] { // utime, stime
				n, _ := strconv.Atoi(field)
				ticks += n
			}
		}
		return ticks
	}
	before := used()
	time.Sleep(500 * time.Millisecond)
	if ticks := used() - before; ticks > 10 {
		t.Errorf("perf used %d0 ms of 500 ms", ticks)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	if status := c.finish(); status != 137 {
		t.Errorf("exit status %d", status)
	}
}

// What was recorded until vp-collect was killed can be read, if it was to be kept.
func TestKilledKeeping(t *testing.T) {
	p := perftest.NeedPerf(t)
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	c := startGroup(t, "-F", "999", "--keep", dir, "--", "sh", "-c", "target spin 200; echo 1 > "+ready+"; sleep 10")
	await(t, ready)
	c.Process.Kill()
	c.Process.Wait()
	awaitAlive(t, "-o\x00"+dir, 0)
	out, err := p.Command(t.Context(), "script", "-i", filepath.Join(dir, "perf.data"), "-F", "comm").CombinedOutput()
	if err != nil || strings.Count(string(out), "target") < 100 {
		t.Errorf("%v, samples of the target: %d", err, strings.Count(string(out), "target"))
	}
}

// A daemon that the target leaves behind holds up nobody.
func TestDaemon(t *testing.T) {
	perftest.NeedPerf(t)
	file := filepath.Join(t.TempDir(), "pid")
	begin := time.Now()
	c := start(t, "--", "target", "daemon", file)
	c.Stdout = nil
	status := c.finish()
	pid, err := strconv.Atoi(await(t, file))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	if status != 0 || time.Since(begin) > 10*time.Second {
		t.Errorf("exit status %d after %v", status, time.Since(begin))
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the daemon: %v", err)
	}
	if left := alive(t, c.tmp); len(left) > 0 {
		t.Errorf("left alive: %v", left)
	}
}

// Under nohup and in the background of a script, signals are ignored: the target inherits that.
func TestIgnoredSignals(t *testing.T) {
	perftest.NeedPerf(t)
	run := func(command string) string {
		out := filepath.Join(t.TempDir(), "out")
		cmd := exec.Command("sh", "-c", "trap '' INT HUP; exec "+command, "sh", out)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		return strings.TrimSpace(await(t, out))
	}
	direct := run(`target inherited > "$1"`)
	profiled := run(`vp-collect --target-stdout "$1" -o "$1.ndjson" -- target inherited`)
	if profiled != direct || !strings.Contains(direct, "3") { // SIGHUP is bit 0, SIGINT bit 1
		t.Errorf("profiled: %s\ndirect: %s", profiled, direct)
	}
}

// standIn makes a perf of shell script cases on its first argument and has vp-collect use
// it. REAL is the real perf.
func standIn(t *testing.T, cases string) {
	t.Helper()
	real, err := exec.LookPath("perf")
	if err != nil {
		need.Missing(t, "needs perf on the PATH: %v", err)
	}
	path := filepath.Join(t.TempDir(), "perf")
	script := "#!/bin/sh\nREAL=" + real + "\ncase $1 in " + cases + "\nesac\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PERF", path)
}

// perf record fails in one way or another: the target runs, the rest is delivered.
func TestPerfRecordFails(t *testing.T) {
	perftest.NeedPerf(t)
	for _, test := range []struct {
		name, record string
		cause        record.Cause
		says         string
	}{
		{"permission", `echo "Access to performance monitoring and observability operations is limited." >&2; echo "perf_event_paranoid setting is 4" >&2; exit 255`, record.CausePerfEventParanoid, "sysctl kernel.perf_event_paranoid"},
		{"old", "echo \"  Error: unknown option \\`control'\" >&2; exit 129", record.CausePerfRecordFailed, "perf 5.10"},
		{"silent", "exit 1", record.CausePerfRecordFailed, "exited with status 1"},
		{"full disk", `ulimit -f 10; exec "$REAL" "$@"`, record.CausePerfRecordFailed, "samples are missing"},
		{"crash", "kill -SEGV $$", record.CausePerfRecordFailed, "SIGSEGV"},
	} {
		t.Run(test.name, func(t *testing.T) {
			standIn(t, "record) "+test.record+` ;; *) exec "$REAL" "$@" ;;`)
			c := start(t, "--", "sh", "-c", "target spin 100; exit 3")
			if status := c.finish(); status != 3 {
				t.Errorf("exit status %d", status)
			}
			p := readProfile(t, c.stdout.Bytes())
			if p.end == nil || p.end.Complete || p.end.Cause != test.cause {
				t.Errorf("end %+v", p.end)
			}
			if !slices.ContainsFunc(p.notices, func(n record.Notice) bool { return n.Cause == test.cause && n.Severity == record.Error }) {
				t.Errorf("notices %+v", p.notices)
			}
			if !strings.Contains(c.stderr.String(), test.says) {
				t.Errorf("stderr does not say %q", test.says)
			}
			if p.counters["task-clock"].Value == nil || len(p.metas) != 2 {
				t.Errorf("counters %+v", p.counters)
			}
		})
	}
}

// perf stat fails: what the kernel charged is there all the same, and the status says that something is missing.
func TestPerfStatFails(t *testing.T) {
	perftest.NeedPerf(t)
	standIn(t, `stat) case "$*" in *--control*) echo "no counting today" >&2; exit 1 ;; esac; exec "$REAL" "$@" ;; *) exec "$REAL" "$@" ;;`)
	c := start(t, "--", "target", "spin", "300")
	if status := c.finish(); status != 1 || !strings.Contains(c.stderr.String(), "no counting today") {
		t.Errorf("exit status %d", status)
	}
	p := readProfile(t, c.stdout.Bytes())
	if p.end == nil || p.end.Complete || p.end.Cause != record.CauseEventNotCounted {
		t.Errorf("end %+v", p.end)
	}
	clock := p.counters["task-clock"]
	if clock.Value == nil || math.Abs(*clock.Value/300e6-1) > 0.1 || !strings.HasPrefix(clock.Expression, "getrusage") {
		t.Errorf("task-clock %+v", clock)
	}
	if len(undump(c.stdout.String(), record.DumpPerfData)) == 0 {
		t.Error("no samples")
	}
}

// perf refuses something that can be done without: it is done without.
func TestLadder(t *testing.T) {
	perftest.NeedPerf(t)
	for _, test := range []struct {
		name, callgraph, refused, complaint, says string
	}{
		{"buffers", "fp", `*" -m 16 "*) false ;; *`, "Permission error mapping pages.", "smaller buffers"},
		{"build ids", "fp", `*--buildid-mmap*`, "  Error: unknown option \\`buildid-mmap'", ""},
		{"lbr", "lbr", `*"--call-graph lbr"*`, "PMU Hardware or event type doesn't support branch stack sampling.", "by frame pointers"},
	} {
		t.Run(test.name, func(t *testing.T) {
			standIn(t, `record) case " $* " in `+test.refused+`) echo "`+test.complaint+`" >&2; exit 255 ;; esac; exec "$REAL" "$@" ;; *) exec "$REAL" "$@" ;;`)
			c := start(t, "--callgraph", test.callgraph, "--", "target", "exit", "0")
			if status := c.finish(); status != 0 || !strings.Contains(c.stderr.String(), test.says) {
				t.Errorf("exit status %d, stderr does not say %q", status, test.says)
			}
			p := readProfile(t, c.stdout.Bytes())
			if p.end == nil || !p.end.Complete {
				t.Errorf("end %+v", p.end)
			}
		})
	}
}
