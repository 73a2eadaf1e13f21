package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"vperf/lib/format/folded"
	"vperf/lib/format/pprof"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/tool"
)

// A summed source is what another tool folded: its samples stand for several.
type summed interface {
	recording.Source
	Event() record.Event // of all samples
	Count() uint64       // how many samples the current one stands for
}

// foreignBatch begins a batch for a recording that names no profile. It makes an id of what
// the recording begins with, so that the records are known again when they are passed on and
// concatenated. All inputs of one call are one profile, and take the first one's id.
func (a *app) foreignBatch(in *tool.Input) *batch {
	if a.foreign == 0 {
		head, _ := in.Reader.Peek(in.Reader.Size()) // an error shows when all is read
		sum := sha256.Sum256(head)
		a.foreignID = hex.EncodeToString(sum[:16])
	}
	a.foreign++
	begin := record.Stream{Profile: a.foreignID}
	if a.foreign > 1 {
		begin.Part = a.foreign
	}
	return a.newBatch(in.Name, begin)
}

// foldedText folds folded stacks.
func (a *app) foldedText(in *tool.Input) error {
	return a.summed(in, folded.NewReader(in.Reader), nil)
}

// pprof folds a profile of pprof.
func (a *app) pprof(in *tool.Input) error {
	var wanted func(string) bool
	if a.opt.event != "" {
		wanted = a.opt.wantsEvent
	}
	src, err := pprof.NewReader(in.Reader, wanted, a.opt.naming.Addresses)
	return a.summed(in, src, err)
}

func (a *app) summed(in *tool.Input, src summed, err error) error {
	b := a.foreignBatch(in)
	if err != nil {
		b.fail(err)
		return b.end()
	}
	a.events.learn(src.Event())
	b.read(src, noRun)
	return b.end()
}

// foreignHint says what can be done about an error in what another tool made.
func foreignHint(err error) (hint string, ok bool) {
	var missing *pprof.EventError
	switch {
	case errors.As(err, &missing):
		return "--event " + missing.Types[0] + " takes the first", true
	case errors.Is(err, folded.ErrColumns):
		return "leave one column: sed 's/[ \\t]*[0-9]*$//' FILE | vp-fold takes the last one away", true
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "was the file copied whole?", true
	}
	return "", false
}

// unreadable says what could not be read of what another tool made.
func unreadable(c recording.Count) string {
	if c.Reason == recording.BadValue {
		return fmt.Sprintf("%d samples weigh less than nothing, the first %s, and are left out: is the profile the difference of two?", c.N, c.Text)
	}
	return fmt.Sprintf("%d lines are no folded stacks (frames;separated;so 12), the first is line %d: %s", c.N, c.Place, c.Text)
}
