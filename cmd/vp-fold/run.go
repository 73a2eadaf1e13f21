package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"vperf/lib/format/folded"
	"vperf/lib/format/pprof"
	"vperf/lib/perf"
	"vperf/lib/perf/data"
	"vperf/lib/perf/recording"
	"vperf/lib/perf/script"
	"vperf/lib/record"
	"vperf/lib/tool"
)

// app is one run of the command.
type app struct {
	env       *tool.Env
	opt       *options
	file      *fileSink // for --format ndjson nil
	events    catalogue
	profiles  []*profile          // of the record streams of all inputs, in order
	streams   map[int]*openStream // by record.Reader.Stream
	total     totals
	waits     uint64 // that came out beside the samples
	foreign   int    // inputs that name no profile
	foreignID string // of these
	passed    bool   // samples went through that were folded before
}

func run(env *tool.Env) error {
	opt, err := newOptions(env)
	if err != nil {
		return err
	}
	a := &app{env: env, opt: opt, total: totals{of: opt.items()}, streams: map[int]*openStream{}, events: catalogue{}}
	if f := fileFormats[env.Format]; f != nil {
		if f.binary && env.Terminal && !env.Flags.Bool("zstd") {
			return tool.Usagef("%s is binary, and the output a terminal: name a file with -o", f.title)
		}
		a.file = newFileSink(opt, f, a.events)
		a.file.by = env.By()
	}
	if err := env.EachInput(a.input); err != nil {
		return err
	}
	for i, p := range a.profiles {
		if err := a.foldProfile(p, i == len(a.profiles)-1); err != nil {
			return err
		}
	}
	return a.finish()
}

// sniffed is how much of an input is looked at to find out what it is.
const sniffed = 512

// input folds one input, or reads it as far as it can be folded when all are known. What
// it is shows in its first bytes.
func (a *app) input(in *tool.Input) error {
	head, err := in.Reader.Peek(sniffed)
	switch {
	case len(head) == 0 && errors.Is(err, io.EOF):
		a.env.Fail(&tool.Error{Place: in.Name, Text: "is empty", Hint: "what made it may have failed: look at its messages", Cause: record.CauseNoSamples})
		return nil
	case len(head) == 0:
		a.env.Fail(&tool.Error{Place: in.Name, Text: "cannot be read", Err: err})
		return nil
	case data.IsRecording(head):
		return a.perfData(in)
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte(`{"`)):
		return a.records(in)
	case pprof.Looks(head):
		return a.pprof(in)
	case folded.Looks(head):
		return a.foldedText(in)
	}
	r := a.newText(in.Reader)
	b := a.foreignBatch(in)
	if b.stream != nil {
		b.stream.meta = func() *record.Meta { return headerMeta(r.Header()) }
	}
	b.read(r, noRun)
	return b.end()
}

func (a *app) newText(in io.Reader) *script.Reader {
	r := script.NewReader(in)
	r.Addresses = a.opt.naming.Addresses
	return r
}

// A batch is what makes up one stream: the recordings of one profile.
type batch struct {
	app    *app
	name   string      // of the input, for messages
	stream *streamSink // for --format ndjson, else nil
	totals
	waits  totals
	run    bool            // of vp-collect: it knows more of the run than samples
	sched  []record.Notice // on the waits of each recording
	names  []record.Notice // on the modules of each that lack names
	tally  recording.Tally
	cause  record.Cause // why it is not complete
	failed bool         // and that was reported
}

func (a *app) newBatch(name string, begin record.Stream) *batch {
	b := &batch{app: a, name: name, totals: totals{of: a.opt.items()}}
	if a.file == nil {
		begin.By = a.env.By()
		b.stream = newStreamSink(a.env.Records, a.opt, a.events, begin)
	}
	return b
}

func (b *batch) sink() sink {
	if b.stream != nil {
		return b.stream
	}
	return b.app.file
}

// read reads a recording into the batch, and closes it if it can be closed.
func (b *batch) read(src recording.Source, run profiledRun) {
	f := newFolder(b.app.opt, b.sink(), run)
	f.fold(src)
	err := src.Err()
	if c, ok := src.(io.Closer); ok {
		if closeErr := c.Close(); err == nil {
			err = closeErr
		}
	}
	if ids, ok := src.(identified); ok && b.app.file != nil {
		b.app.file.identify(ids)
	}
	b.totals.add(&f.totals)
	b.waits.add(&f.waits)
	if f.switches != nil {
		b.sched = append(b.sched, schedNotices(f.switches, b.app.opt.offCPU)...)
	}
	b.tally.Merge(src.Tally())
	if src.Tally().Cut {
		b.cause = record.CauseTruncatedInput
	}
	if err != nil {
		b.fail(err)
	}
}

// fail reports an error in the batch's input, with what can be done about it.
func (b *batch) fail(err error) {
	e := &tool.Error{Place: b.name, Text: err.Error(), Err: err}
	b.cause = record.CauseBadInput
	var missing *perf.NotFound
	var failed *perfError
	switch {
	case errors.As(err, &missing):
		b.cause = record.CausePerfMissing
		e.Place, e.Hint = "", missing.Hint()
	case errors.As(err, &failed):
		b.cause = record.CauseRunFailed
		e.Hint = failed.hint
	case errors.Is(err, script.ErrUTF16):
		e.Hint = "iconv -f utf-16 -t utf-8 FILE | vp-fold"
	case errors.Is(err, script.ErrFtrace):
		e.Hint = "record with perf: perf record -g -- COMMAND, then perf script | vp-fold"
	case errors.Is(err, script.ErrBinary):
		e.Hint = "perf.data files, perf script text, folded stacks, pprof profiles and record streams are read, plain, gzip or zstd"
	default:
		e.Hint, _ = foreignHint(err)
	}
	b.failed = true
	b.app.env.Fail(e)
}

// end closes the stream of the batch, and says on stderr what is to be known about it.
// notices are what was wrong with the input before the recording was looked at.
func (b *batch) end(before ...record.Notice) error {
	a := b.app
	var events []string
	if b.stream != nil {
		b.stacks = b.stream.stacks
		events = b.stream.eventNames
	}
	a.total.add(&b.totals)
	a.waits += b.waits.out
	empty := b.out == 0 && b.waits.out == 0
	short := empty && b.shortRun()
	if empty && !short {
		if !b.failed {
			a.env.Fail(b.nothing())
		}
		return b.err()
	}
	list := notices(&b.totals, &b.tally, a.opt, events)
	if len(b.names) > 0 { // which say more than that some are missing
		list = slices.DeleteFunc(list, func(n record.Notice) bool { return n.Fix == fixUnresolved })
		list = append(list, b.names...)
	}
	if a.opt.offCPU && len(b.sched) > 0 {
		a.env.Warn(b.name, b.sched[0].Text, "")
	}
	list = append(list, b.sched...)
	for _, d := range b.waits.dropped {
		list = append(list, record.Notice{Severity: record.Info, Text: fmt.Sprintf("%d waits left out: %s", d.n, d.reason)})
	}
	if short {
		a.passed = true
		list = append(list, record.Notice{
			Severity: record.Warning, Cause: record.CauseNoSamples,
			Text: "no samples: the run was too short for the sampling frequency, or used no CPU",
			Fix:  "vp-collect -F 4999 -- COMMAND",
		})
	}
	for _, n := range list {
		if told(n) {
			a.env.Warn(b.name, n.Text, n.Fix)
		}
	}
	if b.stream != nil {
		b.stream.end(append(before, list...), b.cause)
	}
	return b.err()
}

// shortRun tells whether a batch without samples is a result all the same: a whole run of
// vp-collect that was over before the first one. The counters of that run are passed on.
func (b *batch) shortRun() bool {
	bad := slices.ContainsFunc(b.tally.Counts, func(c recording.Count) bool { return c.Reason != recording.Other })
	left := slices.ContainsFunc(b.dropped, func(d dropCount) bool { return !strings.HasPrefix(d.reason, launcherReason) })
	return b.stream != nil && b.run && b.cause == "" && !b.failed && !bad && !left
}

func (b *batch) err() error {
	if b.stream != nil {
		return b.stream.err
	}
	return nil
}

// nothing says why no sample came out.
func (b *batch) nothing() error {
	e := &tool.Error{Place: b.name, Cause: record.CauseNoSamples}
	isForeign := func(c recording.Count) bool { return c.Reason == recording.Foreign || c.Reason == recording.StrayFrame }
	isUnreadable := func(c recording.Count) bool { return c.Reason == recording.BadLine || c.Reason == recording.BadValue }
	bad := slices.IndexFunc(b.tally.Counts, isUnreadable)
	switch i := slices.IndexFunc(b.tally.Counts, isForeign); {
	case bad >= 0 && b.out == 0 && b.in == b.tally.N(recording.BadValue):
		e.Text = "no samples: " + unreadable(b.tally.Counts[bad])
	case b.app.opt.offCPU && b.in > 0:
		e.Text = "no wait is left: " + b.totals.String()
	case b.app.opt.offCPU && i < 0:
		e.Text = "no waits in the input: it holds no switches of threads that belong together"
		e.Hint = "perf record --switch-events -e sched:sched_switch -g -- COMMAND (text: perf script --show-switch-events --show-task-events)"
	case b.in > b.tally.N(recording.Cut):
		e.Text = "no sample is left: " + b.totals.String()
	case b.in > 0:
		e.Text = "the only sample is cut off"
		e.Hint = "the input ends too early: what made it may have failed"
	case i >= 0:
		c := b.tally.Counts[i]
		e.Text = fmt.Sprintf("no samples: line %d is not what perf script prints: %s", c.Place, c.Text)
		e.Hint = "perf script prints what vp-fold reads; its option -F must not leave out the event, nor comm, tid and time all together"
	default:
		e.Text = "no samples in the input"
		e.Hint = "did the program use the CPU while perf record ran? perf report shows what a recording holds"
	}
	return e
}

// finish writes the file and the totals.
func (a *app) finish() error {
	switch {
	case a.total.out > 0 && a.file != nil:
		if err := a.writeFile(); err != nil {
			return err
		}
	case a.total.out == 0 && a.waits == 0 && !a.passed && !a.env.Failed():
		return &tool.Error{
			Text: "the records hold neither a recording nor samples", Cause: record.CauseNoSamples,
			Hint: "vp-collect -- COMMAND | vp-fold",
		}
	}
	if a.total.in > 0 {
		waits := ""
		if a.waits > 0 {
			waits = fmt.Sprintf(", %d waits", a.waits)
		}
		a.env.Warn("", fmt.Sprintf("%v%s, %d distinct stacks", &a.total, waits, a.total.stacks), "")
	}
	return nil
}

// writeFile writes the samples of one event.
func (a *app) writeFile() error {
	chosen, others := a.file.choose()
	if chosen == nil {
		return &tool.Error{
			Text: "there are only events of memory accesses and of the scheduler, which are folded on request",
			Hint: "choose one with --event: " + join(others), Cause: record.CauseNoSamples,
		}
	}
	if len(others) > 0 {
		a.env.Warn("", a.file.format.title+" holds one event: "+chosen.name+" was taken and "+join(others)+" left out", "--event NAME chooses another")
	}
	a.total.stacks = chosen.distinct()
	for _, e := range a.file.list {
		if e != chosen {
			a.total.out -= e.samples
			a.total.drop("of another event", e.samples)
		}
	}
	for _, c := range a.file.caveats(chosen) {
		a.env.Warn("", c.Text, c.Fix)
	}
	out, err := a.env.Output()
	if err != nil {
		return err
	}
	return a.file.format.write(out, a.file, chosen)
}
