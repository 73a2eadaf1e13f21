package report

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"vperf/lib/printable"
	"vperf/lib/record"
	"vperf/lib/shell"
	"vperf/lib/stack"
	"vperf/lib/words"
)

// view is what the template of the page shows: everything that can be read without
// JavaScript.
type view struct {
	Policy, Style, Script string

	Title, Command string
	Facts          []string
	Answers        []answer
	Metrics        []metricRow
	Counters       []metricRow
	Qualities      []qualityRow
	Stacks         []stackRow
	Findings       []finding
	Notices        []notice
	Capabilities   []notice
	Top            []topRow
	TopUnit        string // what the shares of Top are of
	HasSamples     bool
	HasTimes       bool
	Also           string // what the input holds and the page does not show
}

type answer struct{ Question, Value, Unit, Detail, Quality string }

type metricRow struct {
	Scope   string `json:"scope"`
	Label   string `json:"label"`
	Value   string `json:"value"` // or the cause why there is none
	Unit    string `json:"unit"`
	Quality string `json:"quality"` // "missing" where there is no value
	Why     string `json:"why"`     // formula and inputs, for the reader who hovers
}

type qualityRow struct {
	Quality, Text string
	Count         int
}

type stackRow struct{ Label, Value, Text string }

type notice struct {
	Severity, Text, Cause, Fix string
	Level                      int // bars of the sign in front of it, 1 to 3
}

type finding struct {
	notice
	Evidence []metricRow
}

type topRow struct{ Name, Module, Self, Total string }

const topRows = 20 // enough to see where the time went, without JavaScript

func (p *Profile) view(title string, o ordered, l timeline) view {
	v := view{Title: title, Command: p.command(), HasSamples: len(p.events) > 0}
	if v.Title == "" {
		v.Title = p.title()
	}
	v.Facts = p.facts(l)
	for _, e := range p.events {
		v.HasTimes = v.HasTimes || e.timed() > 0
	}
	var hot []hotspot
	if len(p.events) > 0 {
		hot = p.hotspots(o, 0)
		e := p.events[0]
		v.TopUnit = printable.Page(e.name)
		for _, h := range hot[:min(topRows, len(hot))] {
			v.Top = append(v.Top, topRow{h.Name, stack.ModuleName(h.Module), percent(h.Self, e.total), percent(h.Total, e.total)})
		}
		v.Stacks = p.stackRows(o)
	}
	v.Answers = p.answers(hot, l)
	p.addNumbers(&v)
	for _, f := range p.findings {
		v.Findings = append(v.Findings, findingOf(f))
	}
	for _, n := range p.notices {
		v.Notices = append(v.Notices, notice{printable.Page(string(n.Severity)), printable.Page(n.Text), printable.Page(string(n.Cause)), printable.Page(n.Fix), level(n.Severity)})
	}
	slices.SortStableFunc(v.Notices, func(a, b notice) int { return b.Level - a.Level })
	for _, c := range p.capabilities {
		text := printable.Page(c.Name) + ": " + printable.Page(string(c.Status))
		if c.Detail != "" {
			text += ", " + printable.Page(c.Detail)
		}
		v.Capabilities = append(v.Capabilities, notice{string(record.Info), text, printable.Page(string(c.Cause)), printable.Page(c.Fix), 1})
	}
	v.Also = p.also()
	return v
}

func (p *Profile) command() string {
	if p.meta.Target == nil {
		return ""
	}
	parts := make([]string, len(p.meta.Target.Cmd))
	for i, w := range p.meta.Target.Cmd {
		parts[i] = printable.Page(shell.Quote(w))
	}
	return strings.Join(parts, " ")
}

// title is the profiled command's name, or that of the only process, if there is one.
func (p *Profile) title() string {
	if t := p.meta.Target; t != nil && len(t.Cmd) > 0 && t.Cmd[0] != "" {
		return printable.Page(path.Base(t.Cmd[0]))
	}
	name, pid := "", int64(record.None)
	for _, t := range p.threads {
		if t.pid != record.None && pid != record.None && t.pid != pid {
			return "profile"
		}
		if t.pid != record.None {
			pid = t.pid
		}
		if t.tid == t.pid && t.tid != record.None {
			name = t.name
		}
	}
	return cmp.Or(printable.Page(name), "profile")
}

// facts are the words at the right of the header.
func (p *Profile) facts(l timeline) []string {
	var f []string
	if s := p.elapsed(l); s > 0 {
		text, unit := duration(s)
		f = append(f, text+" "+unit)
	}
	if end := p.ending(); end != "" {
		f = append(f, end)
	}
	if h := p.meta.Host; h != nil {
		var where []string
		if h.Name != "" {
			where = append(where, h.Name)
		}
		if h.NCPU > 0 {
			where = append(where, words.Count(h.NCPU, "CPU"))
		}
		if h.CPU != nil && h.CPU.Name != "" {
			where = append(where, h.CPU.Name)
		}
		if h.Kernel != "" {
			where = append(where, "Linux "+h.Kernel)
		}
		if len(where) > 0 {
			f = append(f, printable.Page(strings.Join(where, ", ")))
		}
	}
	if p.meta.Callgraph != "" {
		f = append(f, "call graph "+printable.Page(p.meta.Callgraph))
	}
	if p.folded {
		f = append(f, "folded stacks")
	}
	return f
}

// ending says how the target ended, "" where the recording does not know.
func (p *Profile) ending() string {
	t := p.meta.Target
	switch {
	case t == nil:
		return ""
	case t.Signal != "":
		return "killed by " + printable.Page(t.Signal)
	case t.ExitCode != nil:
		return "exit " + strconv.FormatInt(*t.ExitCode, 10)
	}
	return ""
}

// elapsed is the length of the run in seconds: what the collector measured, else the span
// of the samples; 0 where neither is known.
func (p *Profile) elapsed(l timeline) float64 {
	if t := p.meta.Target; t != nil && t.DurationNS != nil {
		return float64(*t.DurationNS) / 1e9
	}
	return l.seconds()
}

func (p *Profile) ncpu() int {
	if h := p.meta.Host; h != nil && h.NCPU > 0 {
		return h.NCPU
	}
	return 0
}

// taskClock returns the CPU seconds that task-clock counted in a scope, nil where it was
// not counted.
func (p *Profile) taskClock(scope string) *float64 {
	for _, c := range p.counters {
		name, _, _ := strings.Cut(c.Event, ":")
		if name != "task-clock" || c.Scope != scope || c.Value == nil {
			continue
		}
		s, ok := seconds(*c.Value, c.Unit)
		if ok {
			return &s
		}
	}
	return nil
}

// seconds converts a time. ok is false if unit is no unit of time.
func seconds(v float64, unit string) (s float64, ok bool) {
	switch unit {
	case "ns", "nsec":
		return v / 1e9, true
	case "us", "usec":
		return v / 1e6, true
	case "ms", "msec":
		return v / 1e3, true
	case "s", "sec", "seconds":
		return v, true
	}
	return 0, false
}

// cpuSeconds is the CPU time that an event's whole weight stands for: what task-clock
// counted over the run, if all of the run's samples are there, else the weight itself if it is
// time.
func (p *Profile) cpuSeconds(e *event) *float64 {
	if e.kind != record.KindCPU {
		return nil
	}
	if s := p.taskClock("all"); s != nil && !e.part {
		return s
	}
	if s, ok := seconds(e.total, e.unit); ok {
		return &s
	}
	return nil
}

func (p *Profile) answers(hot []hotspot, l timeline) []answer {
	var list []answer
	if len(hot) > 0 {
		total, top := p.events[0].total, hot[0]
		detail := "in an unknown module"
		if top.Module != "" {
			detail = "in " + stack.ModuleName(top.Module)
		}
		list = append(list, answer{"Where did the time go", percent(top.Self, total), "% " + top.Name, detail + ", " + share(top.Total, total) + " inclusive", "estimate"})
	} else {
		list = append(list, answer{"Where did the time go", none, "no samples", p.whyNoSamples(), missing})
	}
	list = append(list, p.busyAnswer(l), p.lengthAnswer(l))
	if len(p.events) > 0 {
		list = append(list, p.trustAnswer())
	}
	return list
}

func (p *Profile) whyNoSamples() string {
	if len(p.events) > 0 {
		return "those in the input weigh nothing"
	}
	for _, n := range p.notices {
		if n.Cause == record.CauseNoSamples || n.Cause == record.CausePerfRecordFailed || n.Cause == record.CauseTargetExitedEarly {
			return printable.Page(string(n.Cause)) + ": " + printable.Page(n.Text)
		}
	}
	return "the input holds none"
}

func (p *Profile) busyAnswer(l timeline) answer {
	a := answer{Question: "How busy was the machine", Value: none, Unit: "unknown", Quality: missing}
	elapsed := p.elapsed(l)
	var cpu *float64
	quality := "derived"
	if cpu = p.taskClock("all"); cpu == nil && len(p.events) > 0 && !p.events[0].part {
		cpu, quality = p.cpuSeconds(p.events[0]), "estimate"
	}
	switch {
	case cpu == nil:
		a.Detail = "no task-clock was counted"
		return a
	case elapsed <= 0:
		a.Detail = "the input has no times"
		return a
	}
	busy, n := *cpu/elapsed, p.ncpu()
	a.Value, a.Quality = strconv.FormatFloat(busy, 'f', 2, 64), quality
	text, unit := duration(*cpu)
	a.Detail = text + " " + unit + " of CPU time"
	if n > 0 {
		a.Unit = "of " + words.Count(n, "CPU")
		a.Detail = share(busy, float64(n)) + " of the machine, " + a.Detail
	} else {
		a.Unit = "CPUs"
	}
	return a
}

func (p *Profile) lengthAnswer(l timeline) answer {
	a := answer{Question: "How long did it take", Value: none, Unit: "unknown", Quality: missing, Detail: "the input has no times"}
	if s := p.elapsed(l); s > 0 {
		a.Value, a.Unit = duration(s)
		a.Quality, a.Detail = "estimate", "from the first sample to the last"
		if t := p.meta.Target; t != nil && t.DurationNS != nil {
			a.Quality, a.Detail = "count", "from start to end of the target"
		}
	}
	if end := p.ending(); end != "" {
		a.Detail = end + ", " + a.Detail
	}
	return a
}

func (p *Profile) trustAnswer() answer {
	e := p.events[0]
	named := 0.0
	for _, s := range e.samples {
		if p.tree.functions[p.tree.fn[s.node]].named() {
			named += float64(s.weight)
		}
	}
	what := "samples"
	if p.folded {
		what = "stacks"
	}
	a := answer{"How far to trust this", percent(named, e.total), "% in named functions", grouped(float64(len(e.samples))) + " " + what, "derived"}
	if e.total == 0 {
		a.Unit, a.Quality, a.Detail = "unknown", missing, a.Detail+", which weigh nothing"
	}
	for _, n := range p.notices {
		if n.Cause == record.CauseLostSamples {
			a.Detail += ", some were lost"
			break
		}
	}
	return a
}
