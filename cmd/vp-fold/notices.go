package main

import (
	"fmt"
	"strings"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// quality sums up what the samples' stacks consist of, in samples.
type quality struct {
	samples    uint64
	cut        uint64
	unresolved uint64
	broken     uint64
	kernel     uint64
}

// add counts n samples with such a stack.
func (q *quality) add(s *stack.Quality, n uint64) {
	count := func(to *uint64, when bool) {
		if when {
			*to += n
		}
	}
	count(&q.samples, true)
	count(&q.cut, s.Cut)
	count(&q.unresolved, s.Unresolved)
	count(&q.broken, s.Broken)
	count(&q.kernel, s.Kernel)
}

func (q *quality) sum(p *quality) {
	q.samples += p.samples
	q.cut += p.cut
	q.unresolved += p.unresolved
	q.broken += p.broken
	q.kernel += p.kernel
}

// The shares of samples from which on a fault is worth a notice: below them it is the
// usual noise of start-up code and of libraries without symbols.
const (
	tellUnresolved = 0.10
	tellBroken     = 0.20
	tellKernel     = 0.05
)

const fixUnresolved = "keep the symbol tables of the programs (no strip), or install their debug symbols"

// notices says what a reader of the result has to know about it.
func notices(t *totals, tally *recording.Tally, o *options, events []string) []record.Notice {
	var list []record.Notice
	say := func(severity record.Severity, cause record.Cause, fix, format string, a ...any) {
		list = append(list, record.Notice{Severity: severity, Cause: cause, Text: fmt.Sprintf(format, a...), Fix: fix})
	}
	for _, c := range tally.Counts {
		switch c.Reason {
		case recording.Cut:
			if c.Text != "" { // of perf.data
				say(record.Warning, record.CauseBadInput, "", "%d samples cannot be read, the first at offset %d: %s", c.N, c.Place, c.Text)
				continue
			}
			say(record.Warning, record.CauseTruncatedInput, "", "the recording ends inside a sample (line %d), which was left out", c.Place)
		case recording.Lost, recording.LostChunks:
			say(record.Warning, record.CauseLostSamples, "record with a lower -F, or with a larger buffer: perf record -m 16M",
				"perf lost data while recording: %d %s (%s)", c.N, c.Reason, c.Text)
		case recording.TraceError, recording.BadFrame, recording.StrayFrame:
			say(record.Warning, record.CauseBadInput, "", "%d %s, the first in line %d: %s", c.N, c.Reason, c.Place, c.Text)
		case recording.BadLine, recording.BadValue:
			say(record.Warning, record.CauseBadInput, "", "%s", unreadable(c))
		case recording.Foreign:
			say(record.Info, record.CauseBadInput, "", "%d lines that perf script did not write for us, the first in line %d: %s", c.N, c.Place, c.Text)
		}
	}
	for _, d := range t.dropped {
		say(record.Info, "", "", "%d %s left out: %s", d.n, t.of, d.reason)
	}
	if len(events) > 1 {
		say(record.Info, "", "", "the recording holds several events, whose weights are not comparable: %s", strings.Join(events, ", "))
	}
	q := &t.quality
	share := func(n uint64) float64 { return float64(n) / float64(max(q.samples, 1)) }
	if tally.Samples > 0 && tally.Deep == 0 {
		say(record.Info, "", "perf record -g", "the recording has no call stacks, only the place of each sample")
	}
	if q.cut > 0 {
		say(record.Info, "", "--max-depth 0", "%d samples have more than %d frames: the callers beyond were cut", q.cut, o.shape.MaxDepth)
	}
	if s := share(q.kernel); s >= tellKernel {
		say(record.Warning, record.CauseSymbolsMissing, "sysctl -w kernel.kptr_restrict=0, then record again",
			"%.0f %% of the samples have kernel frames without symbols", 100*s)
	}
	if s := share(q.unresolved); s >= tellUnresolved {
		say(record.Warning, record.CauseSymbolsMissing, fixUnresolved,
			"%.0f %% of the samples were taken in functions without a symbol", 100*s)
	}
	if s := share(q.broken); s >= tellBroken && tally.Deep > 0 {
		say(record.Warning, record.CauseBrokenStacks, "compile with -fno-omit-frame-pointer, or record with --call-graph dwarf",
			"%.0f %% of the stacks hold addresses outside of every module: the frames behind them are guesses", 100*s)
	}
	return list
}

// told reports whether a notice is worth a line on stderr. What was left out stands in the
// totals, and that there are several events is said where one is chosen.
func told(n record.Notice) bool {
	return n.Severity != record.Info || n.Cause != "" || n.Fix != ""
}
