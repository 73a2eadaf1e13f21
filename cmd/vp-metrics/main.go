// Command vp-metrics derives metrics from the counters, samples and readings of a stream, and
// shows what the stream holds.
package main

import (
	"os"

	"vperf/lib/tool"
)

var command = &tool.Command{
	Name:     "vp-metrics",
	Summary:  "derive metrics from counters, and summarise a profile",
	Synopsis: "[flags] [FILE...]",
	Long: `vp-metrics reads record streams, or what perf stat wrote with -x or -j, from files or
standard input; which of them it is, it sees by content.

The records are passed on, followed by a stream of metric records for each profile: every
metric with its formula, its inputs, its quality (count, or estimate where perf multiplexed
the counters, or derived where an input stands in for one that is missing), or, where it has
no value, with the cause. Metrics are computed for the run (scope "all") and for every thread
that has counters of its own ("tid:N").

The text is a summary of whatever the stream holds: how it was collected, metrics, the hottest
functions, threads, memory, notices. The TSV has a column for each metric of the run, and a
row for each profile; "na" stands for what is missing.

The machine that was profiled decides, never the one that reads: what the recording does not
say, as the number of CPUs, is not taken from here.`,
	Examples: []tool.Example{
		{Text: "Summarise a profile:", Command: "vp-collect -- ./app | vp-fold | vp-metrics --format text"},
		{Text: "Put metrics into a report:", Command: "vp-fold raw.ndjson | vp-metrics | vp-html -o report.html"},
		{Text: "Explain the output of perf stat:", Command: "perf stat -x ';' -o stat.csv ./app; vp-metrics stat.csv"},
		{Text: "One number for a script:", Command: "vp-metrics run.ndjson --format ndjson | jq 'select(.name == \"ipc\").value'"},
	},
	Inputs:  true,
	Records: true,
	Formats: []string{"ndjson", "text", "tsv"},
	Run:     run,
}

func main() { os.Exit(tool.Main(command)) }
