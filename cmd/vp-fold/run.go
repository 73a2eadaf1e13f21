package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"vperf/lib/perf/recording"
	"vperf/lib/perf/script"
	"vperf/lib/record"
	"vperf/lib/tool"
)

// app is one run of the command.
type app struct {
	env *tool.Env
	opt *options

	w      *record.Writer // for --format ndjson
	folded *foldedSink    // for --format folded

	profiles []*profile // of the record streams of all inputs, in order
	total    totals
	passed   bool // samples went through that were folded before
}

func run(env *tool.Env) error {
	opt, err := newOptions(env)
	if err != nil {
		return err
	}
	a := &app{env: env, opt: opt}
	if env.Format == "folded" {
		a.folded = newFoldedSink(opt)
	} else if a.w, err = env.Records(); err != nil {
		return err
	}
	if err := env.EachInput(a.input); err != nil {
		return err
	}
	for _, p := range a.profiles {
		if err := a.foldProfile(p); err != nil {
			return err
		}
	}
	return a.finish()
}

// input folds one input. What it is shows in its first bytes.
func (a *app) input(in *tool.Input) error {
	head, err := in.Reader.Peek(512)
	switch {
	case len(head) == 0 && err != nil && !errors.Is(err, io.EOF):
		a.env.Fail(&tool.Error{Place: in.Name, Text: "cannot be read", Err: err})
		return nil
	case isPerfData(head):
		return a.perfData(in)
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte(`{"`)):
		return a.records(in)
	}
	r := script.NewReader(in.Reader)
	r.Addresses = a.opt.naming.Addresses
	b := a.newBatch(in.Name, record.Stream{By: a.env.By()})
	b.header(func() *record.Meta { return headerMeta(r.Header()) })
	b.read(&recordingFile{r, func() error { return nil }}, noRun)
	return b.end()
}

// perfData folds a perf.data file.
func (a *app) perfData(in *tool.Input) error {
	path := in.Path
	if !startsLikePerfData(path) { // a pipe, or compressed
		var err error
		if path, err = spool(a.env, in.Reader); err != nil {
			return err
		}
	}
	b := a.newBatch(in.Name, record.Stream{By: a.env.By()})
	b.perfData(path, noRun)
	return b.end()
}

func startsLikePerfData(path string) bool {
	if path == "" {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 8)
	n, _ := file.Read(head)
	return isPerfData(head[:n])
}

// A batch is what makes up one stream: the recordings of one profile.
type batch struct {
	app    *app
	name   string // of the input, for messages
	stream *streamSink
	totals
	tally  recording.Tally
	cause  record.Cause // why it is not complete
	failed bool         // something was reported
}

func (a *app) newBatch(name string, begin record.Stream) *batch {
	b := &batch{app: a, name: name}
	if a.w != nil {
		b.stream = newStreamSink(a.w, a.opt, begin)
	}
	return b
}

// header gives the batch a meta record, made when the first sample was read.
func (b *batch) header(meta func() *record.Meta) {
	if b.stream != nil {
		b.stream.meta = meta
	}
}

func (b *batch) sink() sink {
	if b.stream != nil {
		return b.stream
	}
	return b.app.folded
}

// perfData reads a perf.data file into the batch.
func (b *batch) perfData(path string, run profiledRun) {
	src, err := openPerfData(b.app.env, b.name, path, b.app.opt)
	if err != nil {
		b.fail(err, record.CauseRunFailed)
		return
	}
	if cutShort(path) {
		b.tally.Cut = true
		b.cause = record.CauseTruncatedInput
		b.app.env.Warn(b.name, "the recording is cut: perf was killed, or the file was not copied whole", "")
	}
	b.read(src, run)
}

// read reads a recording into the batch.
func (b *batch) read(src *recordingFile, run profiledRun) {
	f := newFolder(b.app.opt, b.sink(), run)
	f.fold(src)
	err := src.Err()
	if closeErr := src.close(); err == nil {
		err = closeErr
	}
	b.totals.add(&f.totals)
	b.tally.Merge(src.Tally())
	switch {
	case err != nil:
		b.fail(describe(b.name, err), record.CauseBadInput)
	case b.tally.Cut:
		b.cause = record.CauseTruncatedInput
	}
}

func (b *batch) fail(err error, cause record.Cause) {
	b.app.env.Fail(err)
	b.failed = true
	b.cause = cause
}

// describe says what is wrong with an input that is no recording.
func describe(name string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, script.ErrUTF16):
		hint = "iconv -f utf-16 -t utf-8 FILE | vp-fold"
	case errors.Is(err, script.ErrFtrace):
		hint = "record with perf: perf record -g -- COMMAND, then perf script | vp-fold"
	case errors.Is(err, script.ErrBinary):
		hint = "perf.data files, perf script text and record streams are read, plain, gzip or zstd"
	}
	var e *tool.Error
	if errors.As(err, &e) {
		return err
	}
	return &tool.Error{Place: name, Text: err.Error(), Hint: hint, Err: err}
}

// end closes the stream of the batch, and says on stderr what is to be known about it.
func (b *batch) end() error {
	a := b.app
	if b.stream != nil {
		b.stacks = b.stream.stacks
	}
	a.total.add(&b.totals)
	if b.out == 0 {
		if !b.failed {
			a.env.Fail(b.nothing())
		}
		return nil
	}
	var events []string
	if b.stream != nil {
		events = b.stream.order
	}
	list := notices(&b.totals, &b.tally, a.opt, events)
	for _, n := range list {
		if told(n) {
			a.env.Warn(b.name, n.Text, n.Fix)
		}
	}
	if b.stream != nil {
		b.stream.end(list, b.cause)
		return a.w.Flush()
	}
	return nil
}

// nothing says why no sample came out.
func (b *batch) nothing() error {
	e := &tool.Error{Place: b.name, Cause: record.CauseNoSamples}
	foreign := b.tally.N(recording.Foreign) + b.tally.N(recording.StrayFrame)
	switch {
	case b.in > b.tally.N(recording.Cut):
		e.Text = fmt.Sprintf("none of the %d samples is left", b.in)
		e.Hint = "samples were dropped: " + b.totals.String()
	case b.in > 0:
		e.Text = "the only sample is cut off"
	case foreign > 0:
		c := b.tally.Counts[slices.IndexFunc(b.tally.Counts, func(c recording.Count) bool {
			return c.Reason == recording.Foreign || c.Reason == recording.StrayFrame
		})]
		e.Text = fmt.Sprintf("no samples: line %d is not what perf script prints: %s", c.Place, c.Text)
		e.Hint = "perf script prints what vp-fold reads; of its options only -F can leave out what is needed: the event, and comm, tid or time"
	default:
		e.Text = "no samples in the input"
		e.Hint = "did the program use the CPU while perf record ran? perf report shows what a recording holds"
	}
	return e
}

// finish writes the folded text and the totals.
func (a *app) finish() error {
	if a.folded != nil {
		a.total.stacks = a.folded.distinct()
		if err := a.writeFolded(); err != nil {
			return err
		}
	}
	if a.total.in > 0 {
		a.env.Warn("", fmt.Sprintf("%v, %d distinct stacks", &a.total, a.total.stacks), "")
	}
	return nil
}

func (a *app) writeFolded() error {
	if len(a.folded.events) == 0 {
		return nil // said before
	}
	chosen, others := a.folded.choose()
	if chosen == nil {
		return &tool.Error{
			Text: "the recording has only memory and scheduler events, which are folded on request",
			Hint: "choose one with --event: " + a.folded.eventNames(), Cause: record.CauseNoSamples,
		}
	}
	if len(others) > 0 {
		a.env.Warn("", "folded text holds one event: "+chosen.name+" was taken, "+join(others)+" left out", "--event NAME chooses another")
	}
	out, err := a.env.Output()
	if err != nil {
		return err
	}
	return a.folded.write(out, chosen)
}
