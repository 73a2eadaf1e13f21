// Package collect profiles one run of a command: one execution, several observers.
//
// The command is started by a launcher, a child that waits until perf is attached to it
// and recording, and then becomes the command by exec ([Reexec]). So nothing of the run
// is lost, the process is our own child, whose exit status and signal are known exactly,
// and it runs as if it had been started directly: same standard input, environment,
// limits, process group and terminal.
//
// Beside it run, each in a process of its own and none of them needed for the command to
// finish: perf record for call stacks, perf stat for counters, and a watcher that ends
// those two and removes the temporary files should this process be killed. This process
// reads the resident set size from /proc meanwhile.
//
// Whatever goes wrong with the observers, the command runs to its end. What is missing is
// said in notice records, and in the cause of the end record.
package collect

import (
	"errors"
	"fmt"
	"os"

	"vperf/lib/perf"
	"vperf/lib/record"
)

// Options says what to run and what to observe.
type Options struct {
	Command   []string // name and arguments
	Stdout    *os.File // the command's standard output
	Perf      *perf.Perf
	Host      *record.Host // this machine
	Frequency int          // samples per second of CPU time
	Event     string       // event to sample; empty: cycles if they count here, else cpu-clock
	Callgraph string       // fp, dwarf, lbr or none
	Counters  bool
	RSS       bool
	Keep      string   // directory that perf.data and perf's counters are left in; empty: a temporary one
	By        string   // for the stream record: tool and version
	Args      []string // for the stream record: the options, without paths

	// Notify is told of everything worth saying as soon as it is known; the records
	// hold it, too.
	Notify func(record.Notice)
}

// Outcome is how the command ended.
type Outcome struct {
	ExitCode int    // -1 if a signal ended it
	Signal   string // "SIGSEGV"; empty if it exited
	Status   int    // as a shell would give it: the exit code, or 128 + signal

	Missing record.Cause // why the profile is not complete; empty if it is
}

// String completes the sentence "the command ...".
func (o *Outcome) String() string {
	if o.Signal != "" {
		return "was ended by " + o.Signal
	}
	return fmt.Sprintf("exited with status %d", o.ExitCode)
}

// A StartError says that the command could not be run. Nothing was profiled.
type StartError struct {
	Name   string // the command, as given
	Err    error
	Status int // 127: not found; 126: found, but it cannot be executed; 128 + n: signal n came first
}

func (e *StartError) Error() string {
	switch {
	case e.Status == statusNotFound && e.Err != errNoInterpreter:
		return e.Name + ": command not found"
	case e.Status > 128:
		return e.Name + ": not started: " + e.Err.Error()
	}
	return e.Name + ": cannot be executed: " + e.Err.Error()
}

// Unwrap returns the cause, mostly an errno.
func (e *StartError) Unwrap() error { return e.Err }

// errNoInterpreter is what execve's ENOENT means for a file that is there: a script's #!
// line, or the loader of a dynamic executable, leads nowhere.
var errNoInterpreter = errors.New("its interpreter does not exist")

// The exit statuses of a command that could not be started, as POSIX has them.
const (
	statusNotExecutable = 126
	statusNotFound      = 127
)
