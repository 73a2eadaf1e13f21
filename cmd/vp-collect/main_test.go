package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"vperf/lib/collect"
	"vperf/lib/perf/perftest"
	"vperf/lib/record"
)

func TestMain(m *testing.M) {
	collect.Reexec() // a run under test executes this binary, too
	testscript.Main(m, map[string]func(){
		"vp-collect": main,
		"target":     target, // see target_test.go
	})
}

// serial runs scripts one after another: perf sessions disturb each other.
type serial struct{ *testing.T }

func (serial) Parallel() {}

func (s serial) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(serial{t}) })
}

func (s serial) Verbose() bool { return testing.Verbose() }

func TestScripts(t *testing.T) {
	perftest.NeedPerf(t)
	testscript.RunT(serial{t}, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": scriptStatus,
			"dump":   scriptDump,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("TMPDIR", filepath.Join(env.WorkDir, "tmp"))
			return os.Mkdir(filepath.Join(env.WorkDir, "tmp"), 0o700)
		},
	})
}

// scriptStatus runs a command and checks its exit status: status 139 vp-collect ...
// Its output is there for the stdout and stderr commands as that of exec.
func scriptStatus(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if neg {
		ts.Fatalf("status has no negation")
	}
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// scriptDump writes a dump to a file: dump perf.data FROM TO.
func scriptDump(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), undump(ts.ReadFile(args[1]), args[0]), 0o600))
}

// undump returns what the dumps in a stream hold.
func undump(stream, of string) []byte {
	var data []byte
	r := record.NewReader("stream", strings.NewReader(stream))
	for r.Next() {
		var d record.Dump
		if r.Type() == record.TypeDump && r.Decode(&d) && d.Of == of {
			data, _ = d.AppendTo(data) // a bad one makes a bad file
		}
	}
	return data
}

// profile is what the tests look at in a stream.
type profile struct {
	metas    []record.Meta
	counters map[string]record.Counter
	rss      []record.RSS
	notices  []record.Notice
	end      *record.End
}

func readProfile(t *testing.T, stream []byte) profile {
	t.Helper()
	p := profile{counters: map[string]record.Counter{}}
	r := record.NewReader("stream", bytes.NewReader(stream))
	r.Report = func(problem record.Problem) {
		if r.Type() != record.TypeEnd { // that the stream is incomplete is for the test to judge
			t.Errorf("bad stream: %+v", problem)
		}
	}
	for r.Next() {
		switch r.Type() {
		case record.TypeMeta:
			p.metas = append(p.metas, decode[record.Meta](t, r.Line()))
		case record.TypeCounter:
			c := decode[record.Counter](t, r.Line())
			p.counters[c.Event] = c
		case record.TypeRSS:
			p.rss = append(p.rss, decode[record.RSS](t, r.Line()))
		case record.TypeNotice:
			p.notices = append(p.notices, decode[record.Notice](t, r.Line()))
		case record.TypeEnd:
			end := decode[record.End](t, r.Line())
			p.end = &end
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return p
}

// decode does not use lib/record's own parser: the test is about the line.
func decode[T any](t *testing.T, line []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return v
}

// collecting is a vp-collect that runs.
type collecting struct {
	*exec.Cmd
	t              *testing.T
	stdout, stderr bytes.Buffer
	tmp            string
}

// start starts vp-collect with a temporary directory of its own.
func start(t *testing.T, args ...string) *collecting {
	t.Helper()
	c := &collecting{Cmd: exec.Command("vp-collect", args...), t: t, tmp: t.TempDir()}
	c.Env = append(os.Environ(), "TMPDIR="+c.tmp)
	c.Stdout, c.Stderr = &c.stdout, &c.stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	return c
}

// finish waits for its end and returns its exit status.
func (c *collecting) finish() int {
	c.t.Helper()
	late := time.AfterFunc(20*time.Second, func() { c.Process.Kill() })
	defer late.Stop()
	c.Wait()
	if left, _ := os.ReadDir(c.tmp); len(left) > 0 {
		c.t.Errorf("left behind: %v", left)
	}
	if c.t.Failed() || testing.Verbose() {
		c.t.Logf("stderr: %s", c.stderr.String())
	}
	return c.ProcessState.ExitCode()
}

// await waits until a file is there that the target writes, and returns its text.
func await(t *testing.T, path string) string {
	t.Helper()
	for range 2000 {
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
			return string(text)
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s does not come", path)
	return ""
}

// awaitAlive waits until n processes have a word in their command line.
func awaitAlive(t *testing.T, word string, n int) {
	t.Helper()
	var found []string
	for range 2000 {
		if found = alive(t, word); len(found) == n {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("processes with %q: %q, want %d", word, found, n)
}

// alive lists the processes whose command line has a word, like a temporary directory.
func alive(t *testing.T, word string) (found []string) {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range procs {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(word)) {
			found = append(found, fmt.Sprintf("%s: %q", path, line))
		}
	}
	return found
}
