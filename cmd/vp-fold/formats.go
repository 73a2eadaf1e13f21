package main

import (
	"fmt"
	"io"

	"vperf/lib/format"
	"vperf/lib/format/calltree"
	"vperf/lib/format/firefox"
	"vperf/lib/format/pprof"
	"vperf/lib/format/speedscope"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// A fileFormat is one that holds the samples of one event, and is written when all are
// known.
type fileFormat struct {
	title  string // in messages
	rooted bool   // stacks begin with the name of the thread
	timed  bool   // every sample matters, not only how many there are of each
	binary bool

	// counts says that samples of a unit have to be counted, as the format cannot weigh
	// them; nil if it can weigh all.
	counts func(unit string) bool

	// profiled formats are written of a profile, others of the weights of stacks.
	profiled bool
	write    func(out io.Writer, f *fileSink, e *fileEvent) error
}

var fileFormats = map[string]*fileFormat{
	"folded": {title: "folded text", rooted: true, write: func(out io.Writer, f *fileSink, e *fileEvent) error {
		return stack.WriteFolded(out, f.Table, e.weights, f.opt.naming)
	}},
	"tree": {title: "a call tree", write: func(out io.Writer, f *fileSink, e *fileEvent) error {
		return calltree.Write(out, calltree.Build(f.Table, e.weights, f.describe(e), f.opt.tree))
	}},
	"pprof": {title: "a pprof profile", profiled: true, binary: true, write: func(out io.Writer, f *fileSink, e *fileEvent) error {
		return pprof.Write(out, e.profile)
	}},
	"speedscope": {title: "a speedscope file", profiled: true, timed: true, write: func(out io.Writer, f *fileSink, e *fileEvent) error {
		return speedscope.Write(out, e.profile)
	}},
	"firefox": {
		title: "a Firefox profile", profiled: true, timed: true,
		counts: func(unit string) bool { return !firefox.Weighs(unit) },
		write: func(out io.Writer, f *fileSink, e *fileEvent) error {
			return firefox.Write(out, e.profile)
		},
	},
}

// describe returns the event of the samples, in the unit of their weights.
func (f *fileSink) describe(e *fileEvent) record.Event {
	d := f.events.of(e.name)
	d.Unit = f.unit(e.name, e.counted)
	return d
}

// caveats says what a format could not take over of the samples.
func (f *fileSink) caveats(e *fileEvent) (list []record.Notice) {
	say := func(hint, text string, a ...any) {
		list = append(list, record.Notice{Text: fmt.Sprintf(text, a...), Fix: hint})
	}
	if unit := f.unit(e.name, e.counted); f.format.counts != nil && f.format.counts(unit) && e.uneven {
		say("--weight samples has every format count them", "%s cannot weigh samples in %s: they are counted", f.format.title, unit)
	}
	if f.format.counts != nil && e.profile.First == recording.None {
		say("", "the samples have no times: they are put %d ms apart in the order of the input", firefox.Spacing/1_000_000)
	}
	if scope := f.opt.tree.Scope; scope != "" && !calltree.Appears(f.Table, e.weights, scope) {
		say("--format folded shows the functions that have some", "no sample is in %s: the tree is that of all", scope)
	}
	return list
}

func newProfile(f *fileSink, e *fileEvent) *format.Profile {
	p := format.NewProfile(f.Table, f.describe(e))
	p.Timed, p.By, p.Args, p.BuildIDs = f.format.timed, f.by, f.opt.args, f.buildIDs
	return p
}
