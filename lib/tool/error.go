package tool

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"vperf/lib/record"
)

// An Error is a failure as the user should see it.
type Error struct {
	Place  string       // where: a file, "file:line"; may be empty
	Text   string       // what: one sentence, lower case, without period
	Hint   string       // what to do about it; may be empty
	Cause  record.Cause // for scripts; may be empty
	Status int          // exit status, 1 if 0
	Err    error        // what was behind it; its text follows Text unless it is part of it; may be nil
}

// Error returns "place: text (cause)".
func (e *Error) Error() string {
	text := e.Text
	if e.Err != nil && !strings.Contains(text, e.Err.Error()) {
		if text != "" {
			text += ": "
		}
		text += e.Err.Error()
	}
	if e.Cause != "" {
		text += " (" + string(e.Cause) + ")"
	}
	if e.Place != "" {
		return e.Place + ": " + text
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Usagef returns an error for a command line that makes no sense: exit status 2.
func Usagef(format string, a ...any) error {
	return &Error{Text: fmt.Sprintf(format, a...), Status: 2, Hint: usageHint}
}

// usageHint stands for the hint to --help, which needs the command's name.
const usageHint = "\x00usage"

// Exit returns an error that says nothing and ends the process with status; for 0 that is
// none.
func Exit(status int) error {
	if status == 0 {
		return nil
	}
	return exitStatus(status)
}

type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// outputError is a failure to write the output, as opposed to all other errors.
type outputError struct{ err error }

func (e *outputError) Error() string {
	var errno syscall.Errno
	if errors.As(e.err, &errno) {
		return "cannot write the output: " + errno.Error()
	}
	return "cannot write the output: " + e.err.Error()
}

func (e *outputError) Unwrap() error { return e.err }

// brokenPipe tells whether the output's reader went away. The same errno from elsewhere, a
// process that we feed, is a failure.
func brokenPipe(err error) bool {
	var out *outputError
	return errors.As(err, &out) && errors.Is(out.err, syscall.EPIPE)
}
