package stat

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"vperf/lib/event"
	"vperf/lib/record"
)

// A Count is what became of one event in one scope, and with -I in one interval.
type Count struct {
	Line    int          // of the input, 1 is the first
	Event   string       // as perf printed it
	Value   float64      // in Unit; 0 unless Known
	Unit    string       // ns, bytes, J, cycles, count, or what perf printed where it is none of these
	Missing record.Cause // why there is no value, empty if there is one

	Scope  string // all, tid:N, cpu:N, or socket:, die:, core:, cache:, cluster:, node:, cgroup: and a name
	Thread string // name of the thread of a tid scope
	CPUs   int    // how many CPUs were added up, 0 where perf does not say

	TimeNS  int64 // end of the interval since the start, [record.None] without -I
	Summary bool  // the total that --summary prints behind the intervals

	RunningNS int64   // how long the event was counted, [record.None] where perf does not say
	EnabledNS int64   // how long it should have been: RunningNS / Percent, [record.None] where that says nothing
	Percent   float64 // of the enabled time, as printed; -1 where perf does not say
	Noise     float64 // standard deviation of the mean over the runs of -r, in percent; -1 without -r

	Printed Printed // the metric at the end of the line
}

// Printed is a metric as perf computed it. Name is empty where there is none.
type Printed struct {
	Value float64
	Name  string // "insn per cycle", "of all branches", ...
}

// Known reports whether there is a value.
func (c *Count) Known() bool { return c.Missing == "" }

// Multiplexed reports whether the event was counted for a part of the time only, so that
// the value is an estimate.
func (c *Count) Multiplexed() bool { return c.Percent >= 0 && c.Percent < 100 }

// Counter returns the count as a record.
func (c *Count) Counter() record.Counter {
	r := record.Counter{Event: c.Event, Scope: c.Scope, Unit: c.Unit, Missing: c.Missing}
	if c.RunningNS != record.None {
		r.RunningNS = record.Int(c.RunningNS)
	}
	if c.EnabledNS != record.None {
		r.EnabledNS = record.Int(c.EnabledNS)
	}
	if c.Known() {
		r.Value = record.Float(c.Value)
		r.Quality = record.Count
		if c.Multiplexed() {
			r.Quality = record.Estimate
		}
	}
	return r
}

// A Reader reads counts. A line that is none is reported and passed over.
type Reader struct {
	// Separator is what was given to -x; empty to find it out. Set it before Next.
	Separator string

	// Report, if set, is told of lines that could not be understood.
	Report func(record.Problem)

	name     string
	in       *bufio.Reader
	long     []byte // a line that did not fit in's buffer
	line     int
	sep      []byte
	fields   [][]byte
	words    map[string]string // events, units and scopes, each allocated once
	count    Count
	bad      int
	told     int // bad lines that were reported one by one
	forHuman bool
	byGuess  bool
	err      error
}

// NewReader returns a Reader of what in holds. name stands in the reports.
func NewReader(name string, in io.Reader) *Reader {
	return &Reader{name: name, in: bufio.NewReaderSize(in, 1<<16), words: map[string]string{}}
}

// Count returns the count that Next moved to.
func (r *Reader) Count() Count { return r.count }

// Err returns the error that ended reading, nil at the end of the input.
func (r *Reader) Err() error { return r.err }

// Next moves to the next count. It returns false at the end of the input and when reading
// fails.
func (r *Reader) Next() bool {
	if r.sep == nil && r.Separator != "" {
		r.sep = []byte(r.Separator)
	}
	for {
		line, ok := r.readLine()
		if !ok {
			if more := r.bad - r.told; more > 0 && !r.forHuman {
				r.report(fmt.Sprintf("%d further lines are not perf stat's", more))
				r.told = r.bad
			}
			return false
		}
		r.line++
		line = bytes.TrimRight(line, "\r\n")
		if text := bytes.TrimSpace(line); len(text) == 0 || text[0] == '#' {
			continue // the heading "# started on ...", and what -I repeats for people
		}
		r.count = Count{Line: r.line, Scope: "all", TimeNS: record.None, RunningNS: record.None, EnabledNS: record.None, Percent: -1, Noise: -1}
		switch r.parse(line) {
		case isCount:
			r.interpret()
			return true
		case isMetric: // perf's own, of counts that are there
		case isNothing:
			r.complain(line)
		}
	}
}

// A verdict is what a line turned out to be.
type verdict int

const (
	isNothing verdict = iota
	isCount
	isMetric // only a metric that perf computed
)

func (r *Reader) parse(line []byte) verdict {
	if text := bytes.TrimLeft(line, " \t"); text[0] == '{' {
		return r.parseJSON(text)
	}
	return r.parseCSV(line)
}

// interpret decides what the columns mean.
func (r *Reader) interpret() {
	c := &r.count
	if c.Known() && c.Value == 0 {
		switch {
		case c.RunningNS == 0:
			c.Missing = record.CauseEventNotCounted
		case event.UserOnly(c.Event) && event.KernelSide(c.Event):
			c.Missing = record.CausePerfEventParanoid // the kernel counts it only for those who may see the kernel
		}
	}
	c.Value, c.Unit = normalise(c.Event, c.Value, c.Unit)
	if !c.Known() {
		c.Value = 0
	}
	if c.RunningNS != record.None && c.Percent > 0 {
		c.EnabledNS = int64(float64(c.RunningNS) / (c.Percent / 100))
	}
}

// readLine returns the next line, valid until the next call.
func (r *Reader) readLine() ([]byte, bool) {
	r.long = r.long[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		if err == nil && len(r.long) == 0 {
			return part, true
		}
		r.long = append(r.long, part...)
		switch {
		case err == nil:
			return r.long, true
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return r.long, len(r.long) > 0
		default:
			r.err = fmt.Errorf("%s: %w", r.name, err)
			return nil, false
		}
	}
}

// complain reports a line that is none of perf stat's: the first few one by one, and the
// table for people as a whole.
func (r *Reader) complain(line []byte) {
	r.bad++
	switch {
	case r.forHuman:
	case bytes.Contains(line, []byte("Performance counter stats for")):
		r.forHuman = true
		r.report("the table that perf stat prints for people: run it with -x ';' or -j")
	case r.told < 5:
		r.told++
		r.report("not a line of perf stat -x or -j")
	}
}

func (r *Reader) report(text string) {
	if r.Report != nil {
		r.Report(record.Problem{Name: r.name, Line: r.line, Cause: record.CauseBadInput, Text: text})
	}
}

// word returns b as a string, allocating each only once.
func (r *Reader) word(b []byte) string {
	if s, ok := r.words[string(b)]; ok {
		return s
	}
	s := string(b)
	r.words[s] = s
	return s
}
