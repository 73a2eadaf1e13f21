// Package scripts holds no code, only the tests of the scripts.
package scripts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// bin holds what `make install` puts into bin, and busy.
var bin string

func TestMain(m *testing.M) {
	var err error
	if bin, err = install(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(bin)
	os.Exit(status)
}

func install() (string, error) {
	dir, err := os.MkdirTemp("", "vperf-scripts")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-o", dir+"/", "./cmd/...")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %v\n%s", build.Args, err, out)
	}
	script, err := os.ReadFile("vperf")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "vperf"), script, 0o755); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "busy"), []byte(busy), 0o755)
}

// busy is seen by the sampler before it becomes the command that it is given.
const busy = `#!/bin/sh
i=0
while [ $i -lt 100000 ]; do i=$((i + 1)); done
exec "$@"
`

func TestScripts(t *testing.T) {
	perftest.NeedPerf(t)
	setup, err := filepath.Abs("setup")
	if err != nil {
		t.Fatal(err)
	}
	testscript.RunT(sequential{t}, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("BIN", bin)
			env.Setenv("SETUP", setup)
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "records": records},
	})
}

// status N COMMAND...: the command ends with just this status.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("status %d, want %d", got, want)
	}
}

// records FILE COPY: the records of a profile, uncompressed.
func records(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: records FILE COPY")
	}
	file, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer file.Close()
	lines, err := io.ReadAll(record.NewDecompressor(file))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), lines, 0o666))
}

// sequential runs the scripts one after another: they record.
type sequential struct{ *testing.T }

func (sequential) Parallel() {}

func (s sequential) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(sequential{t}) })
}

func (sequential) Verbose() bool { return testing.Verbose() }

// TestInterrupt stops a run as a terminal does, with SIGINT for the whole group, and as kill does, with SIGTERM for vperf alone.
// In both cases the target ends and the profile so far becomes a report.
func TestInterrupt(t *testing.T) {
	perftest.NeedPerf(t)
	for _, test := range []struct {
		name   string
		signal syscall.Signal
		group  bool
		status int
	}{
		{"ctrl-c", syscall.SIGINT, true, 130},
		{"kill", syscall.SIGTERM, false, 143},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(filepath.Join(bin, "vperf"), "run", "-o", "cut", "--", "sh", "-c", "exec sleep 60.0625")
			cmd.Dir = dir
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			watchdog := time.AfterFunc(30*time.Second, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			defer watchdog.Stop()
			for begin := time.Now(); !alive(t, "sleep\x0060.0625\x00"); time.Sleep(5 * time.Millisecond) {
				if time.Since(begin) > 20*time.Second {
					t.Fatalf("the target did not start\n%s", &stderr)
				}
			}
			to := cmd.Process.Pid
			if test.group {
				to = -to
			}
			start := time.Now()
			if err := syscall.Kill(to, test.signal); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != test.status {
				t.Errorf("status %d, want %d\n%s", got, test.status, &stderr)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %v to stop", took)
			}
			if info, err := os.Stat(filepath.Join(dir, ".vperf/cut/report.html")); err != nil || info.Size() == 0 {
				t.Errorf("no report: %v\n%s", err, &stderr)
			}
			if !strings.Contains(stderr.String(), "report: ") {
				t.Errorf("the report is not announced:\n%s", &stderr)
			}
		})
	}
}

// alive reports whether there is a process of just this command line.
func alive(t *testing.T, line string) bool {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if got, err := os.ReadFile(file); err == nil && string(got) == line {
			return true
		}
	}
	return false
}
