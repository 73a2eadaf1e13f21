package tool

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"vperf/lib/record"
)

// Env is what a running command works with.
type Env struct {
	Context  context.Context // cancelled by SIGINT and SIGTERM
	Flags    *cli.Context
	Format   string // one of the command's Formats
	Stderr   io.Writer
	Terminal bool // the output is a terminal
	Color    bool // and may be coloured
	Width    int  // columns of the terminal, 100 elsewhere
	Quiet    bool

	cmd     *Command
	stdin   *os.File
	stdout  *os.File
	cancel  context.CancelFunc
	unwatch func() // stops the watch for signals
	drop    []record.Type

	out      *output
	records  *record.Writer
	reader   *record.Reader
	problems problems
	progress Progress
	failed   int // exit status so far

	mu       sync.Mutex
	cleanups []func()
}

// By returns the command's name and version, for record.Stream.By.
func (env *Env) By() string { return env.cmd.Name + " " + version() }

// Warn says something on stderr that does not stop the work: place, one sentence in lower
// case without period, and what to do about it; place and hint may be empty. --quiet hides
// it.
func (env *Env) Warn(place, text, hint string) {
	if !env.Quiet {
		env.Say(place, text, hint)
	}
}

// Fail reports err and lets the work go on; the exit status will be err's. The hint is that
// of an [Error], or what the Hint method of another error says.
func (env *Env) Fail(err error) {
	var e *Error
	status, hint := 1, ""
	var hinting interface{ Hint() string }
	if errors.As(err, &e) {
		hint = e.Hint
		if e.Status != 0 {
			status = e.Status
		}
	} else if errors.As(err, &hinting) {
		hint = hinting.Hint()
	}
	if hint == usageHint {
		hint = "see " + env.cmd.Name + " --help"
	}
	env.Say("", err.Error(), hint)
	env.failed = max(env.failed, status)
}

// Failed tells whether something was reported with Fail: there is no need to say once more
// that there is nothing.
func (env *Env) Failed() bool { return env.failed != 0 }

// TempDir makes a private directory that is removed when the command ends, by a signal
// too.
func (env *Env) TempDir() (string, error) {
	dir, err := os.MkdirTemp("", env.cmd.Name+"-")
	if err == nil {
		env.Cleanup(func() { os.RemoveAll(dir) })
	}
	return dir, err
}

// Cleanup has f called when the command ends, by a signal too; the last one comes first.
func (env *Env) Cleanup(f func()) {
	env.mu.Lock()
	defer env.mu.Unlock()
	env.cleanups = append(env.cleanups, f)
}

func (env *Env) cleanUp() {
	env.mu.Lock()
	todo := env.cleanups
	env.cleanups = nil
	env.mu.Unlock()
	for i := len(todo) - 1; i >= 0; i-- {
		todo[i]()
	}
}

// finish flushes and closes the output. It is kept unless err says that the command
// failed as a whole.
func (env *Env) finish(err error) error {
	env.progress.Done()
	env.problems.summary(env)
	var flushErr error
	if env.records != nil {
		flushErr = env.records.Flush()
	}
	if env.out != nil {
		var exit exitStatus
		keep := flushErr == nil && (err == nil || errors.As(err, &exit))
		if closeErr := env.out.close(keep); flushErr == nil {
			flushErr = closeErr
		}
	}
	env.cleanUp()
	return flushErr
}

// watchSignals ends the command on SIGINT, SIGTERM and SIGHUP, and returns a function that
// stops watching.
//
// A filter that reads a pipe survives the first Ctrl-C: it went to the whole pipeline, the
// producer in front ends by it, and what it still writes is the result. Everything else
// ends at once, with what it made so far removed. Commands with Args decide themselves:
// only their Context is cancelled.
func (env *Env) watchSignals() (stop func()) {
	// A handler, unlike ignoring the signal, is not inherited by the processes we start;
	// it makes a write to a broken pipe an error instead of our death.
	catch(make(chan os.Signal, 1), syscall.SIGPIPE)
	signals := make(chan os.Signal, 2)
	catch(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if env.cmd.Args {
		go func() {
			<-signals
			env.cancel()
		}()
		return env.cancel
	}
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		patient := env.readsPipe()
		for {
			select {
			case <-done:
				close(gone)
				return
			case s := <-signals:
				if s == syscall.SIGINT && patient {
					patient = false
					continue
				}
				env.cancel()
				env.cleanUp()
				os.Exit(128 + int(s.(syscall.Signal)))
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
		<-gone // a signal that is being handled has the last word about the exit status
	}
}

// catch has signals delivered to c, but not those that were ignored when the process
// started, as SIGHUP is under nohup and SIGINT in a background job: they stay ignored, here
// and in the processes that we start.
func catch(c chan os.Signal, signals ...os.Signal) {
	for _, s := range signals {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

func (env *Env) readsPipe() bool {
	if !env.cmd.Inputs || !env.readsStdin() {
		return false
	}
	info, err := env.stdin.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}
