// Command vp-html makes one HTML file from a record stream or from folded stacks.
package main

import (
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"vperf/lib/perf/data"
	"vperf/lib/record"
	"vperf/lib/report"
	"vperf/lib/shell"
	"vperf/lib/tool"
)

var command = &tool.Command{
	Name:     "vp-html",
	Summary:  "make one HTML file from a profile",
	Synopsis: "[flags] [FILE...]",
	Long: `vp-html reads records (of vp-collect, vp-fold, vp-metrics and vp-probe, in any order and
concatenated at will) or folded stacks as flamegraph.pl takes them, and writes one HTML
file: overview, hotspots, flame graph and threads. The file needs no network and no server.
Every thread and time range is folded in the browser, from the samples that the file holds.

The page depends on the input alone: the same records make the same bytes, on any machine
and at any time. It shows one event at a time and never adds up different ones. If the
input holds several profiles it shows the first, and says so.`,
	Examples: []tool.Example{
		{Text: "a report of what perf recorded", Command: "perf script | vp-fold | vp-html -o report.html"},
		{Text: "a report of saved stages", Command: "vp-html stacks.ndjson.zst metrics.ndjson.zst -o report.html"},
		{Text: "a flame graph of folded stacks from another tool", Command: "vp-html --title nightly out.folded > flame.html"},
	},
	Flags: []cli.Flag{
		&cli.StringFlag{Name: "title", Usage: "call the report `TEXT` instead of the profiled command"},
	},
	Inputs: true,
	Run:    run,
}

func main() { os.Exit(tool.Main(command)) }

func run(env *tool.Env) error {
	if env.Terminal {
		return tool.Usagef("the page would go to the terminal: name a file, -o report.html")
	}
	profile := report.New()
	err := env.EachInput(func(in *tool.Input) error { return read(env, profile, in) })
	if err != nil {
		return err
	}
	if profile.Empty() {
		return &tool.Error{
			Text:  "the input holds nothing to report",
			Hint:  "it takes records or folded stacks: perf script | vp-fold | vp-html -o report.html",
			Cause: record.CauseBadInput,
		}
	}
	out, err := env.Output()
	if err != nil {
		return err
	}
	return profile.WriteHTML(out, env.Flags.String("title"))
}

func read(env *tool.Env, profile *report.Profile, in *tool.Input) error {
	head, err := in.Reader.Peek(4096)
	switch {
	case len(head) == 0 && err == io.EOF:
		if env.Flags.NArg() > 1 { // that all input is empty is said in the end
			env.Warn(in.Name, "is empty", "what made it may have failed: look at its messages")
		}
		return nil
	case len(head) == 0:
	case data.IsRecording(head):
		file := ""
		if in.Path != "" {
			file = " " + shell.Quote(in.Path)
		}
		env.Fail(&tool.Error{
			Place: in.Name,
			Text:  "is a perf.data file, not records",
			Hint:  "vp-fold reads it: vp-fold" + file + " | vp-html -o report.html",
			Cause: record.CauseBadInput,
		})
		return nil
	case report.LooksFolded(head):
		err = profile.ReadFolded(in.Name, in.Reader, env.Problem)
	default:
		err = profile.Read(env.Reader(in))
	}
	if err != nil {
		env.Fail(&tool.Error{Place: in.Name, Err: err})
	}
	return nil
}
