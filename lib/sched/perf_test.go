package sched

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"vperf/lib/perf"
	"vperf/lib/perf/perftest"
)

// The test binary is the program to record: one thread that sleeps often, and others that
// share the CPUs with each other.
const (
	programEnv = "SCHED_TEST_PROGRAM"
	naps       = 20
	nap        = 10 * time.Millisecond
)

func init() {
	if os.Getenv(programEnv) == "" {
		return
	}
	runtime.LockOSThread()
	var before, after syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	end := time.Now().Add(naps * nap)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			runtime.LockOSThread()
			for x := 1; time.Now().Before(end); {
				for range 10000 {
					x = x*7 + 1
				}
			}
		})
	}
	for range naps {
		t := syscall.NsecToTimespec(int64(nap))
		for syscall.Nanosleep(&t, &t) == syscall.EINTR {
		}
	}
	wg.Wait()
	syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	cpu := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	fmt.Println(os.Getpid(), unix.Gettid(), after.Nvcsw-before.Nvcsw, after.Nivcsw-before.Nivcsw, cpu)
	os.Exit(0)
}

// recorded is a recording of the program, and what the kernel counted for it.
type recorded struct {
	*witness
	data                      string
	pid, tid                  int64 // tid of the thread that sleeps
	voluntary, preempted, cpu float64
}

func recordProgram(t *testing.T, p *perf.Perf, args ...string) *recorded {
	t.Helper()
	r := &recorded{witness: newWitness(t), data: filepath.Join(t.TempDir(), "perf.data")}
	cmd := p.Command(t.Context(), slices.Concat([]string{"record", "-q", "-o", r.data}, args, []string{"--", os.Args[0]})...)
	cmd.Env = append(cmd.Env, programEnv+"=1")
	var messages bytes.Buffer
	cmd.Stderr = &messages
	said, err := cmd.Output()
	if err != nil {
		t.Skipf("SKIPPED, perf record %s does not work here: %v\n%s", strings.Join(args, " "), err, messages.Bytes())
	}
	if _, err := fmt.Sscan(string(said), &r.pid, &r.tid, &r.voluntary, &r.preempted, &r.cpu); err != nil {
		t.Fatalf("%q: %v", said, err)
	}
	text, err := p.Command(t.Context(), "script", "-i", r.data, "--ns", "--show-switch-events", "--show-task-events").Output()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "script.txt")
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
	r.text(name)
	return r
}

// TestPerf compares recordings made here with what the kernel counted. perf sched timehist
// would be no judge: where the switch to a thread was not recorded it takes the time since
// the last one on that CPU for the thread's.
func TestPerf(t *testing.T) {
	p := perftest.NeedPerf(t)
	for _, c := range []struct {
		name   string
		args   []string
		states bool // the recording has them
		stacks bool
		wide   bool
	}{
		{name: "switch records", args: []string{"--switch-events", "-e", "cpu-clock/freq=199/"}},
		{name: "both", args: []string{"--switch-events", "-e", "cpu-clock/freq=199/", "-e", "sched:sched_switch", "-g"}, states: true, stacks: true},
		{name: "switch records and the counter", args: []string{"--switch-events", "-e", "cpu-clock/freq=199/", "-e", "context-switches/period=1/", "-g"}, stacks: true},
		{name: "both, of the system", args: []string{"-a", "--switch-events", "-e", "sched:sched_switch", "-g"}, states: true, stacks: true, wide: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := recordProgram(t, p, c.args...)
			var sum Life
			for _, l := range r.lives {
				if l.PID == r.pid {
					sum.add(&l)
				}
			}
			sleeps := 0
			for _, w := range r.waits {
				state := Unknown
				if c.states {
					state = Sleep
				}
				if w.DurationNS >= int64(nap) && w.TID == r.tid && w.State == state && (w.Stack != 0) == c.stacks {
					sleeps++
				}
			}
			if sleeps < naps-3 { // a signal may cut one short
				t.Errorf("the thread slept %d times for 10 ms, want %d at least", sleeps, naps-3)
			}
			if sum.LostNS > 0 && !c.wide || sum.LostNS > sum.NS()/100 || sum.Open > 0 {
				t.Errorf("lost %d ns, %d open", sum.LostNS, sum.Open)
			}
			for _, n := range r.totals.Counts {
				if !c.wide && n.Reason != Repeated && n.Reason != AfterEnd {
					t.Errorf("%+v", n)
				}
			}
			// The program asks the kernel after its runtime has begun and before it ends.
			near := func(what string, got, want, slack float64) {
				if got < want*0.97-1 || got > want*1.03+slack {
					t.Errorf("%s %.0f, but the kernel counted %.0f", what, got, want)
				}
				t.Logf("%s %.0f, kernel %.0f", what, got, want)
			}
			near("voluntary switches", float64(sum.Voluntary), r.voluntary, 60)
			near("preemptions", float64(sum.Preempted), r.preempted, 60)
			near("time on a CPU", float64(sum.OnNS), r.cpu, 30e6)
		})
	}
}
