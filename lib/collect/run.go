package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"vperf/lib/record"
)

// run is one profiled run.
type run struct {
	Options
	dir      string // where perf writes
	watcher  *watcher
	launcher *launcher
	ended    chan struct{}    // closed when the child has ended, launcher or command
	state    *os.ProcessState // how; valid after ended
	recorder *recorder
	counter  *counter
	rss      *rssSampler

	mu      sync.Mutex
	notices []record.Notice // not written yet
	cause   record.Cause    // why the profile is not complete
}

// Run runs the command and writes its profile to w, as one stream. It returns when the
// command has ended.
//
// Before the command runs, the error may be a *[StartError], a *[EventError], or of this
// machine; then nothing was written. Afterwards it is w's, and the outcome is valid.
//
// Signals that ask a program to end are forwarded to the command unless it got them, too.
// None of them ends Run, and neither does ctx once Run has begun.
func Run(ctx context.Context, w *record.Writer, o Options) (*Outcome, error) {
	path, err := lookPath(o.Command[0])
	if err != nil {
		return nil, err
	}
	r := &run{Options: o, ended: make(chan struct{})}
	if err := r.makeDir(); err != nil {
		return nil, err
	}
	if r.Keep == "" {
		defer os.RemoveAll(r.dir)
	}

	signals := make(chan os.Signal, 16)
	signal.Notify(signals, notIgnored(forwarded)...)
	defer signal.Stop(signals)
	if ctx.Err() != nil { // by a signal that came before we caught them
		return nil, &StartError{Name: o.Command[0], Err: context.Cause(ctx), Status: 128 + int(syscall.SIGINT)}
	}

	if r.watcher, err = startWatcher(); err != nil {
		return nil, err
	}
	defer r.watcher.close()
	if r.Keep == "" {
		r.watcher.remove(r.dir)
	}
	startNS, err := r.start(path, signals)
	if err != nil {
		r.stopPerf()
		return nil, err
	}
	if r.RSS {
		r.rss = newRSS(r.launcher.process.Pid)
		r.rss.start()
	}
	out := r.begin(w, startNS)
	<-r.ended
	endNS := now()
	signal.Reset(syscall.SIGTERM, syscall.SIGHUP) // nobody is left to pass them on to: they may end a write that hangs
	if r.rss != nil {
		r.rss.stop()
	}
	r.stopPerf()
	out.finish(startNS, endNS)
	outcome := outcomeOf(r.state)
	outcome.Missing = r.cause
	return outcome, w.Flush()
}

// start starts the command, under observation, and returns when it was let go. If it fails
// there is no command, and no launcher.
func (r *run) start(path string, signals <-chan os.Signal) (startNS int64, err error) {
	if r.launcher, err = startLauncher(path, r.Command, r.Stdout); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		r.state, _ = r.launcher.process.Wait() // it fails only for a child that is not ours
		cancel()
		close(r.ended)
	}()
	go r.forward(signals)

	err = r.launcher.ready()
	if err == nil {
		err = r.observe(ctx)
	}
	if err != nil || ctx.Err() != nil {
		r.launcher.abandon()
		<-r.ended
		if s := signalOf(r.state); s != 0 {
			return 0, &StartError{Name: r.Command[0], Err: fmt.Errorf("%s came first", signalName(s)), Status: 128 + int(s)}
		}
		if err == nil {
			err = fmt.Errorf("the launcher ended (%v) before the command was started", r.state)
		}
		return 0, err
	}
	startNS, err = r.launcher.release()
	switch {
	case err == nil:
		return startNS, nil
	case errors.Is(err, syscall.ENOENT):
		err = &StartError{Name: r.Command[0], Err: errNoInterpreter, Status: statusNotFound}
	default:
		err = startError(r.Command[0], err)
	}
	<-r.ended
	return 0, err
}

// makeDir sets r.dir.
func (r *run) makeDir() (err error) {
	if r.Keep != "" {
		r.dir = r.Keep
		return os.MkdirAll(r.dir, 0o777)
	}
	r.dir, err = os.MkdirTemp("", "vp-collect-")
	if err != nil {
		err = fmt.Errorf("no place for temporary files, set TMPDIR: %w", err)
	}
	return err
}

func (r *run) file(name string) string { return filepath.Join(r.dir, name) }

// observe attaches perf to the launcher, both kinds at the same time: each takes a while
// to begin.
func (r *run) observe(ctx context.Context) error {
	var wg sync.WaitGroup
	var recordErr error
	wg.Go(func() { r.recorder, recordErr = r.startRecorder(ctx) })
	if r.Counters {
		wg.Go(func() { r.counter = r.startCounter(ctx) })
	}
	wg.Wait()
	<-r.watcher.up // since long
	return recordErr
}

// stopPerf ends the perf processes that run and waits for their files.
func (r *run) stopPerf() {
	var wg sync.WaitGroup
	if r.recorder != nil {
		wg.Go(r.recorder.stop)
	}
	if r.counter != nil {
		wg.Go(r.counter.stop)
	}
	wg.Wait()
}

// forward passes signals on to the command, unless it got them itself.
func (r *run) forward(signals <-chan os.Signal) {
	for {
		select {
		case <-r.ended:
			return
		case s := <-signals:
			if !r.watcher.saw(s.(syscall.Signal)) {
				_ = r.launcher.process.Signal(s) // it may just have ended
			}
		}
	}
}

// notice says something.
func (r *run) notice(n record.Notice) {
	r.mu.Lock()
	r.notices = append(r.notices, n)
	r.mu.Unlock()
	r.Notify(n)
}

// missing says that a part of the profile is missing: the stream will not be complete.
func (r *run) missing(cause record.Cause, text, fix string) {
	r.mu.Lock()
	if r.cause == "" {
		r.cause = cause
	}
	r.mu.Unlock()
	r.notice(record.Notice{Severity: record.Error, Cause: cause, Text: text, Fix: fix})
}

func outcomeOf(state *os.ProcessState) *Outcome {
	if s := signalOf(state); s != 0 {
		return &Outcome{ExitCode: -1, Signal: signalName(s), Status: 128 + int(s)}
	}
	return &Outcome{ExitCode: state.ExitCode(), Status: state.ExitCode()}
}

// signalOf returns the signal that ended a process, 0 if it exited.
func signalOf(state *os.ProcessState) syscall.Signal {
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		return status.Signal()
	}
	return 0
}

// signalName returns "SIGSEGV", or "signal 34" for one without a name.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(s))
}
