// Command vp-collect runs a command once and brings back what that run can tell: call
// stacks, counters and the resident set size, as a stream of records.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"vperf/lib/collect"
	"vperf/lib/host"
	"vperf/lib/perf"
	"vperf/lib/record"
	"vperf/lib/tool"
)

var command = &tool.Command{
	Name:     "vp-collect",
	Summary:  "profile a command",
	Synopsis: "[flags] -- CMD [ARG...]",
	Long: `vp-collect runs CMD once, under perf record and perf stat at the same time, and writes what they found as records: CMD's call stacks (dump records of perf.data, for vp-fold), its counters, its resident set size every 10 ms, and what is known about the machine.

CMD runs as if it had been started directly. It reads vp-collect's standard input. Its standard output goes to standard error while the records go to standard output; with -o it goes to standard output, and --target-stdout sends it elsewhere.

The exit status is CMD's: 128 + N if signal N ended it, 127 if CMD was not found, 126 if it cannot be executed. It is 1 if CMD succeeded but its profile did not, or if CMD could not be started for a reason of vp-collect's own, such as a missing perf; once CMD runs, nothing that fails here stops it. It is 2 for a usage error.

Ctrl-C reaches CMD, and vp-collect still writes the profile. SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 sent to vp-collect are passed on to CMD.`,
	Examples: []tool.Example{
		{Text: "profile a command into a report", Command: "vp-collect -- ./app | vp-fold | vp-metrics | vp-html > report.html"},
		{Text: "keep the raw records, leave the command's output alone", Command: "vp-collect -o raw.ndjson.zst --zstd -- ./app > app.out"},
		{Text: "call stacks of a program without frame pointers", Command: "vp-collect --callgraph dwarf -- ./app > raw.ndjson"},
	},
	Flags: []cli.Flag{
		&cli.IntFlag{Name: "freq", Aliases: []string{"F"}, Value: 199, Usage: "sample `HZ` times per second of CPU time"},
		&cli.StringFlag{Name: "event", Usage: "sample `EVENT` (the best of: cycles where the machine counts them, cpu-clock)"},
		tool.ChoiceFlag("callgraph, call-graph", "take call stacks by `METHOD`: fp, dwarf, lbr, none", "fp", "fp", "dwarf", "lbr", "none"),
		&cli.BoolFlag{Name: "no-stat", Usage: "do not count events"},
		&cli.BoolFlag{Name: "no-rss", Usage: "do not read the resident set size"},
		&cli.StringFlag{Name: "keep", Usage: "leave perf.data and perf-stat.csv in `DIR`"},
		&cli.StringFlag{Name: "target-stdout", Usage: "send CMD's standard output to `FILE` (- is vp-collect's own)"},
	},
	Args:    true,
	Records: true,
	Run:     run,
}

func main() {
	collect.Reexec()
	os.Exit(tool.Main(command))
}

func run(env *tool.Env) error {
	o := collect.Options{
		Command:   env.Flags.Args().Slice(),
		Frequency: env.Flags.Int("freq"),
		Event:     env.Flags.String("event"),
		Callgraph: env.Flags.String("callgraph"),
		Counters:  !env.Flags.Bool("no-stat"),
		RSS:       !env.Flags.Bool("no-rss"),
		Keep:      env.Flags.String("keep"),
		By:        env.By(),
		Args:      given(env, "freq", "event", "callgraph", "no-stat", "no-rss"),
		Notify:    func(n record.Notice) { say(env, n) },
	}
	if len(o.Command) == 0 {
		return tool.Usagef("no command to run")
	}
	if o.Frequency < 1 {
		return tool.Usagef("--freq %d: it is at least 1", o.Frequency)
	}
	if env.Terminal {
		return tool.Usagef("the records are not for a terminal: give -o FILE, or pipe them to vp-fold")
	}
	var err error
	if o.Perf, err = perf.Find(context.WithoutCancel(env.Context)); err != nil {
		return explain(err)
	}
	o.Host = host.Describe()
	w, err := env.Records()
	if err != nil {
		return err
	}
	if o.Stdout, err = targetStdout(env); err != nil {
		return err
	}
	outcome, err := collect.Run(env.Context, w, o)
	if outcome == nil {
		return explain(err)
	}
	if err != nil { // not passed on as it is: a broken pipe is a failure here
		return &tool.Error{Text: fmt.Sprintf("%v; the command itself %v", err, outcome)}
	}
	if outcome.Signal != "" {
		env.Warn("", "the command "+outcome.String(), "")
	}
	if outcome.Status == 0 && outcome.Missing != "" {
		return tool.Exit(1) // what is missing was said
	}
	return tool.Exit(outcome.Status)
}

// say repeats a notice on stderr. What is missing is said even with --quiet.
func say(env *tool.Env, n record.Notice) {
	text := n.Text
	if n.Cause != "" {
		text += " (" + string(n.Cause) + ")"
	}
	if n.Severity == record.Error {
		env.Say("", text, n.Fix)
		return
	}
	env.Warn("", text, n.Fix)
}

// given returns those of the flags that are on the command line.
func given(env *tool.Env, names ...string) (args []string) {
	for _, name := range names {
		if env.Flags.IsSet(name) {
			args = append(args, "--"+name+"="+env.Flags.String(name))
		}
	}
	return args
}

// targetStdout opens what --target-stdout names.
func targetStdout(env *tool.Env) (*os.File, error) {
	output := env.Flags.String("output")
	free := output != "" && output != "-" // of records
	switch name := env.Flags.String("target-stdout"); {
	case name == "" && !free:
		return os.Stderr, nil
	case name == "-" && !free:
		return nil, tool.Usagef("--target-stdout -: the records go to standard output, give -o FILE")
	case name == "" || name == "-":
		return os.Stdout, nil
	default:
		file, err := os.Create(name)
		if err != nil {
			return nil, &tool.Error{Text: "--target-stdout: " + err.Error()}
		}
		return file, nil
	}
}

// explain turns an error from before the command was started into what the user sees.
func explain(err error) error {
	var start *collect.StartError
	var unknown *collect.EventError
	var missing *perf.NotFound
	switch {
	case errors.As(err, &start):
		return &tool.Error{Text: start.Error(), Status: start.Status}
	case errors.As(err, &unknown):
		return tool.Usagef("--event: %v", unknown)
	case errors.As(err, &missing):
		return &tool.Error{Text: missing.Error(), Hint: missing.Hint(), Cause: record.CausePerfMissing}
	}
	return err
}
