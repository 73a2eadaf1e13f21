package sched

// State says why a thread did not run.
type State uint8

// The states. Ended is no wait: what has ended does not return.
const (
	Unknown  State = iota
	Sleep          // waits for something and can be woken by a signal
	Blocked        // waits for something, signals or not: mostly a disk
	Runnable       // waits for a CPU
	Stopped        // by a signal, by its tracer, or parked by the kernel
	Ended
	NumStates
)

var stateNames = [NumStates]string{"unknown", "sleep", "blocked", "runnable", "stopped", "ended"}

// String returns the word that stands in a [vperf/lib/record.Wait].
func (s State) String() string {
	if s < NumStates {
		return stateNames[s]
	}
	return stateNames[Unknown]
}

// ParseState reads the prev_state of a sched_switch tracepoint as any kernel prints it.
//
//	S D T t X Z     since 2.6; what they stand for never changed
//	R R+            runnable; + is preempted (since 3.x)
//	P I             parked; idle kernel thread (since 4.14)
//	D|K D|W S|K     a state and flags that modify it: wakekill, waking, no load (until 4.14)
//	x K W N         dead; flags without a state
//	0 1 2 4 8       the bits themselves, where the format could not be read
//
// From 0x40 on bits and letters mean different things in different kernels, so whatever
// holds one of these, or a letter that is not listed, is Unknown.
func ParseState(b []byte) State {
	if n := len(b); n > 1 && b[n-1] == '+' {
		return Runnable // whatever it was about to wait for: it could have run on
	}
	if len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
		return stateOfBits(b)
	}
	state := Unknown
	for i, c := range b {
		switch {
		case i%2 == 1 && c == '|':
		case i%2 == 1:
			return Unknown
		case i == 0:
			state = stateOfLetter(c)
		case state != Sleep && state != Blocked, c != 'K' && c != 'W' && c != 'N':
			return Unknown
		}
	}
	if len(b)%2 == 0 {
		return Unknown
	}
	return state
}

func stateOfLetter(c byte) State {
	switch c {
	case 'R':
		return Runnable
	case 'S', 'I':
		return Sleep
	case 'D':
		return Blocked
	case 'T', 't', 'P':
		return Stopped
	case 'X', 'Z', 'x':
		return Ended
	}
	return Unknown
}

// stateOfBits reads a number (include/linux/sched.h). 16 and 32 are dead and zombie, or
// the other way round: they do not return either way.
func stateOfBits(b []byte) State {
	switch string(b) {
	case "0", "0x0":
		return Runnable
	case "1", "0x1":
		return Sleep
	case "2", "0x2":
		return Blocked
	case "4", "0x4", "8", "0x8":
		return Stopped
	case "16", "0x10", "32", "0x20":
		return Ended
	}
	return Unknown
}
