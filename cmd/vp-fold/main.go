// Vp-fold turns recordings of perf into call stacks.
//
// It reads the text of `perf script`, perf.data files, and record streams that carry such
// recordings or what an earlier vp-fold made of them, and what other tools made: folded
// stacks and pprof profiles. What an input is shows in its first bytes. It writes the
// records frame, stack, sample, wait, event and thread, or one of the formats of --format:
//
//	folded      a line for each distinct stack, which is what flame graph tools read
//	pprof       for go tool pprof: samples and the event's own unit, labels by thread
//	speedscope  JSON for speedscope.app, with all samples by thread
//	firefox     JSON for profiler.firefox.com, with all samples by thread and time
//	tree        JSON: a call graph in percent of the recording, and its hotspots
//
//	perf script | vp-fold | vp-html > report.html
//	perf record -g -o - -- ./app | vp-fold --format folded | flamegraph.pl > flame.svg
//
// All but the records hold one event: that of --event,
// else the first of cycles, cpu-clock, task-clock and the other events that say where time
// went, else the first event that counts something else. Events of memory accesses and of
// the scheduler are taken only if --event names them. Weights of different events are never
// added up. Of a pprof profile --event names a sample type; else its default is taken.
//
// Where a recording has switches of threads (package vperf/lib/sched says which), it has
// waits: the intervals in which a thread did not run, with the stack in which it left the
// CPU. As records they come beside the samples; --off-cpu folds them in place of samples.
// A wait that --from or --to falls into counts for the part that lies inside.
//
//	perf record --switch-events -e sched:sched_switch -g -o - -- ./app |
//		vp-fold --off-cpu --state sleep,blocked --format folded | flamegraph.pl > off.svg
package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"vperf/lib/tool"
)

var ownFlags = []cli.Flag{
	tool.ChoiceFlag("weight", "weigh samples by `WEIGHT`: period (1 where there is none), samples", "period", "period", "samples"),
	&cli.StringFlag{Name: "event", Usage: "only samples of the event `NAME`, with or without modifiers; of a pprof profile the sample type"},
	&cli.StringFlag{Name: "tid", Usage: "only these threads: `N,...`"},
	&cli.StringFlag{Name: "pid", Usage: "only these processes: `N,...`"},
	&cli.StringFlag{Name: "cpu", Usage: "only samples on these CPUs: `N,...`"},
	&cli.StringFlag{Name: "comm", Usage: "only threads of these names: `NAME,...`"},
	&cli.BoolFlag{Name: "off-cpu", Usage: "fold waits instead of samples: time off the CPU, in nanoseconds"},
	&cli.StringFlag{Name: "state", Usage: "only waits of these states: `NAME,...` of sleep, blocked, runnable, stopped, unknown"},
	&cli.StringFlag{Name: "module", Usage: "only stacks with a frame in a module that matches `REGEXP`"},
	&cli.StringFlag{Name: "function", Usage: "only stacks with a function that matches `REGEXP`"},
	&cli.StringFlag{Name: "from", Usage: "only samples from `SECONDS` into the run on"},
	&cli.StringFlag{Name: "to", Usage: "only samples before `SECONDS` into the run"},
	tool.ChoiceFlag("kernel", "kernel frames: full, boundary (one frame), drop", "full", "full", "boundary", "drop"),
	tool.ChoiceFlag("root", "what folded stacks begin with: comm, thread (comm-pid/tid), none", "comm", "comm", "thread", "none"),
	&cli.IntFlag{Name: "max-depth", Value: 128, Usage: "keep the `N` frames nearest the leaf of longer stacks (0: all)"},
	&cli.StringFlag{Name: "symfs", Usage: "look for the files that name the code of a perf.data file below `DIR`"},
	&cli.BoolFlag{Name: "no-inline", Usage: "leave out inlined functions"},
	&cli.BoolFlag{Name: "addrs", Usage: "keep addresses: in frame records and pprof locations, and in folded text for what has no symbol"},
	&cli.BoolFlag{Name: "mark", Usage: "mark frames in folded text: _[k] kernel, _[i] inlined, _[j] JIT"},
	&cli.StringFlag{Name: "scope", Usage: "root the tree at the function `SYMBOL` and what was outlined from it"},
	&cli.Float64Flag{Name: "min-percent", Value: 1, Usage: "leave branches of the tree below `PERCENT` of the recording out"},
	&cli.IntFlag{Name: "max-nodes", Value: 200, Usage: "keep the `N` heaviest nodes of the tree"},
}

var command = &tool.Command{
	Name:     "vp-fold",
	Summary:  "turn recordings of perf into call stacks",
	Synopsis: "[flags] [FILE...]",
	Long: `Reads perf script text, perf.data files, record streams, folded stacks and pprof profiles, plain,
gzip or zstd, from files or standard input, and writes frames, stacks and samples as records, folded
text, or a file for go tool pprof, speedscope.app or profiler.firefox.com. The format tree is a call
graph as JSON: percent of the whole recording, the heaviest branches, and hotspots.

Filters combine: a sample has to pass all that are given. What they and other reasons take away is counted and said.`,
	Examples: []tool.Example{
		{Text: "a flame graph from a recording", Command: "perf script | vp-fold --format folded | flamegraph.pl > flame.svg"},
		{Text: "a report", Command: "vp-collect -- ./app | vp-fold | vp-html > report.html"},
		{Text: "in other profilers", Command: "vp-fold --format pprof -o app.pb.gz perf.data; go tool pprof -http : app.pb.gz"},
		{Text: "what a function spends its time on", Command: "vp-fold --format tree --scope kernel perf.data | jq .call_graph"},
		{Text: "where threads sleep and block", Command: "perf record --switch-events -e sched:sched_switch -g -o - -- ./app | vp-fold --off-cpu --state sleep,blocked --format folded"},
		{Text: "what one thread did between 2 s and 3 s", Command: "vp-fold --tid 4711 --from 2 --to 3 --format folded perf.data"},
	},
	Flags:   ownFlags,
	Inputs:  true,
	Records: true,
	Formats: []string{"ndjson", "folded", "pprof", "speedscope", "firefox", "tree"},
	Run:     run,
}

func main() { os.Exit(tool.Main(command)) }
