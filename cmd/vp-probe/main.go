// Command vp-probe finds out what can be profiled on this machine, by this user.
package main

import (
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"vperf/lib/host"
	"vperf/lib/record"
	"vperf/lib/tool"
)

var command = &tool.Command{
	Name:     "vp-probe",
	Summary:  "find out what can be profiled here",
	Synopsis: "[flags]",
	Long: `vp-probe tries what a profile needs and writes one capability record for each: the perf
command, permissions, software and hardware events, scheduler events, samples. An event
is there when it counts, samples are there when they arrive: perf accepts events that
the machine does not have, and exits 0. What is missing comes with its cause and, where
one helps, the command that mends it.

The exit status is 0 if profiling works, which is to say that some event delivers
samples, and 1 if it does not. With --check it is 0 if all the capabilities named are ok.`,
	Examples: []tool.Example{
		{Text: "see what works here, and how to get the rest", Command: "vp-probe"},
		{Text: "skip a step of a script where there are no hardware counters", Command: "vp-probe --quiet --check pmu > /dev/null || exit 0"},
		{Text: "the commands that would help", Command: "vp-probe --format ndjson | jq -r 'select(.fix) | .fix'"},
	},
	Flags: []cli.Flag{
		&cli.StringFlag{Name: "check", Usage: "let only the capabilities `NAMES` decide the exit status (comma separated)"},
	},
	Formats: []string{"ndjson", "text"},
	Records: true,
	Run:     run,
}

func main() { os.Exit(tool.Main(command)) }

func run(env *tool.Env) error {
	wanted := tool.List(env.Flags.String("check"))
	if env.Flags.IsSet("check") && len(wanted) == 0 {
		return tool.Usagef("--check names no capability")
	}
	for _, name := range wanted {
		if !slices.Contains(host.Names(), name) {
			return tool.Usagef("--check: there is no capability %q, only %s", name, strings.Join(host.Names(), ", "))
		}
	}

	// A signal ends the process as soon as the clean-ups are done: the trial that runs is
	// ended first.
	ended := make(chan struct{})
	env.Cleanup(func() { <-ended })
	found, err := host.Probe(env.Context)
	close(ended)
	if err != nil {
		return err
	}

	if err := write(env, found); err != nil {
		return err
	}
	if len(wanted) == 0 {
		wanted = []string{host.Sampling}
	}
	for _, c := range found {
		if slices.Contains(wanted, c.Name) && c.Status != record.OK {
			env.Fail(&tool.Error{Place: c.Name, Text: string(c.Status) + ": " + c.Detail, Hint: c.Fix, Cause: c.Cause})
		}
	}
	return nil
}

func write(env *tool.Env, found []record.Capability) error {
	if env.Format == "text" {
		out, err := env.Output()
		if err != nil {
			return err
		}
		return writeText(out, found, env.Color)
	}
	w, err := env.Records()
	if err != nil {
		return err
	}
	w.Begin(record.Stream{By: env.By()})
	for i := range found {
		w.Write(&found[i])
	}
	return w.End("")
}
