package recording

// TaskKind says what became of a thread.
type TaskKind uint8

// The kinds. perf record writes a fork, an exec and an exit always, a switch only with
// --switch-events.
const (
	TaskIn      TaskKind = iota // it got a CPU
	TaskOut                     // it left the CPU by itself: it sleeps, is blocked or was stopped
	TaskPreempt                 // it left the CPU although it could have run on
	TaskFork                    // it was made, and runs when a TaskIn says so
	TaskExec                    // it began another program, running
	TaskExit                    // it ended, running; no TaskOut follows that is told here
)

// A TaskEvent is a moment in the life of a thread.
type TaskEvent struct {
	Kind   TaskKind
	TimeNS int64  // of the recording's clock; None, or 0 for a thread that was there before, where it is not known
	TID    int64  // whose life it is: for TaskFork the new thread
	PID    int64  // None where it was not recorded, as CPU
	CPU    int64  // where that was
	Comm   string // name of the thread at that moment; empty where it is not known
	Place  int64  // line of the text, or offset in the file
}

// A TaskSource is a [Source] of a recording that may tell of the life of threads besides
// its samples.
type TaskSource interface {
	Source

	// OnTask has every Next from now on call f for each TaskEvent that the recording holds
	// in front of the sample at which Next stops, in its order; those behind the last
	// sample come with the Next that returns false. The TaskEvent is valid until f returns.
	OnTask(f func(*TaskEvent))
}
