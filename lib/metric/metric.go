// Package metric derives numbers from what was counted, sampled and read during a run, and
// says of each how it came about.
//
// A [Formula] is data: a name that does not change, a unit, and one or more [Way]s to
// compute it. A way is an expression over inputs; the first whose inputs are all there is
// taken, and the record names it, for ways of one formula need not mean the same. Inputs are
//
//   - events, by the names that [event.Base] gives them: instructions, branch-misses;
//   - metrics that stand before it in the table: cpu_time_s;
//   - facts of the run: meta.target.duration_ns, meta.host.ncpu, rss.peak_bytes, ...
//
// A [Run] collects the records of one profile and evaluates the formulas, for the whole run
// (scope "all") and for every thread that has counters of its own ("tid:N"). Where only parts
// of the run were counted - threads, CPUs, sockets, the two kinds of cores of a hybrid
// processor - the parts are added up before anything is derived from them.
//
// # Quality
//
//   - count: one number that was counted, or measured, over the whole time, at most in
//     another unit;
//   - derived: computed from several such numbers, a ratio above all;
//   - estimate: an input was multiplexed and scaled up by perf, or is known only from
//     samples;
//   - missing, with a cause: an input is missing, or the denominator counted 0. A missing
//     metric has no value. What is known of its inputs is there.
//
// # Names
//
// The names of the table ([Table]) are stable, and columns of `vp-metrics --format tsv`.
package metric

import (
	"errors"
	"math"
	"slices"

	"vperf/lib/event"
	"vperf/lib/record"
)

// A Formula says how to compute a metric.
type Formula struct {
	Name  string
	Unit  string // s, ratio (0 to 1), count, cycles, 1/s, Hz, bytes, J, W, or what is divided by what
	Label string // for people

	PerThread bool // makes sense for a thread
	Optional  bool // left out, not missing, where its event was not asked for
	Ways      []Way
}

// A Way is one way to compute a metric.
type Way struct {
	Expr   string // operands and operators are parted by blanks: event names hold hyphens and slashes
	Vendor string // of the processors that it holds for, as in [record.CPU]; empty for all
	Whole  bool   // needs events counted in user mode and in the kernel
	Note   string // what it means here, where that is not what one would think
	Source string
}

// A Value is an operand or a result.
type Value struct {
	Value   float64
	Quality record.Quality
	Missing record.Cause // why there is none; empty if there is
}

// worse returns the quality of what is computed from a and b.
func worse(a, b record.Quality) record.Quality {
	if rank[a] > rank[b] {
		return a
	}
	return b
}

var rank = map[record.Quality]int{record.Count: 0, record.Derived: 1, record.Estimate: 2, record.Model: 3}

// scope is what formulas are evaluated in.
type scope struct {
	run     *Run
	name    string
	metrics map[string]Value // those computed so far
}

// evaluate computes a formula. ok is false if it does not concern the scope: a thread whose
// events were not asked for, a metric that is optional.
func (s *scope) evaluate(f *Formula) (m record.Metric, ok bool) {
	m.Missing = record.CauseDisabled
	for i := range f.Ways {
		w := &f.Ways[i]
		if w.Vendor != "" && w.Vendor != s.run.Vendor() {
			continue
		}
		tried := s.try(f, w)
		// Of ways that fail, the first whose events were asked for has the cause that helps.
		if m.Name == "" || tried.Missing == "" || m.Missing == record.CauseDisabled && tried.Missing != record.CauseDisabled {
			m = tried
		}
		if m.Missing == "" {
			break
		}
	}
	if m.Name == "" || m.Missing == record.CauseDisabled && (f.Optional || s.name != whole) {
		return record.Metric{}, false
	}
	value := Value{Quality: m.Quality, Missing: m.Missing}
	if m.Value != nil {
		value.Value = *m.Value
	}
	s.metrics[f.Name] = value
	return m, true
}

// try computes a formula in one way, from events that were counted in user mode and in the
// kernel, or else from events that were all counted in one of them.
func (s *scope) try(f *Formula, w *Way) record.Metric {
	e := compile(w.Expr)
	m := s.inMode(f, e, "")
	for _, mode := range []string{"u", "k"} {
		if m.Missing == "" {
			return m
		}
		part := s.inMode(f, e, mode)
		switch {
		case part.Missing == "" && w.Whole:
			m.Missing = record.CausePerfEventParanoid
			return m
		case part.Missing == "" || m.Missing == record.CauseDisabled && part.Missing != record.CauseDisabled:
			m = part
		}
	}
	return m
}

// inMode computes a formula from hardware events that were all counted in one mode: u for
// user, k for kernel, "" for both.
func (s *scope) inMode(f *Formula, e *expression, mode string) record.Metric {
	m := record.Metric{Name: f.Name, Scope: s.name, Unit: f.Unit, Quality: record.Count}
	names := make(map[string]string, len(e.operands))
	values := make(map[string]float64, len(e.operands))
	for _, operand := range e.operands {
		value, name := s.operand(operand, mode)
		names[operand] = name
		if value.Missing != "" {
			// The first operand is what the metric is about. Of a thread only what was asked for
			// altogether is told.
			if m.Missing == "" || s.name != whole && value.Missing == record.CauseDisabled {
				m.Missing = value.Missing
			}
			continue
		}
		values[operand] = value.Value
		if m.Inputs == nil {
			m.Inputs = map[string]float64{}
		}
		m.Inputs[name] = value.Value
		m.Quality = worse(m.Quality, value.Quality)
	}
	if len(e.operands) > 1 {
		m.Quality = worse(m.Quality, record.Derived)
	}
	m.Formula = e.render(names)
	if m.Missing == "" {
		v, err := e.eval(values)
		switch {
		case errors.Is(err, errZero):
			m.Missing = record.CauseEventNotCounted
		case math.IsNaN(v) || math.IsInf(v, 0):
			m.Missing = record.CauseBadInput
		default:
			m.Value = record.Float(v)
		}
	}
	if m.Missing != "" {
		m.Quality = ""
	}
	return m
}

// operand looks an operand up, and returns the name that it is really called by.
func (s *scope) operand(name, mode string) (Value, string) {
	e, known := event.Lookup(name)
	if !known {
		if v, ok := s.run.fact(name, s.name); ok {
			return v, name
		}
		if _, ok := byName[name]; ok {
			return s.metric(name), name
		}
	}
	modes := []string{mode}
	if e.Software { // the kernel counts them all alike
		modes = []string{"", "u", "k"}
	}
	missing := Value{Missing: record.CauseDisabled}
	if slices.Contains(e.Unmapped, s.run.Vendor()) { // and therefore not asked for
		missing.Missing = record.CauseEventUnsupported
		if v, _, ok := s.run.count(whole, "cycles", ""); ok && v.Missing == record.CauseNoPMU {
			missing = v
		}
	}
	for _, mode := range modes {
		v, called, ok := s.run.count(s.name, name, mode)
		switch {
		case ok && v.Missing == "":
			return v, called
		case ok && missing.Missing == record.CauseDisabled:
			missing = v
		}
	}
	if mode != "" && !e.Software {
		name += ":" + mode
	}
	return missing, name
}

// metric returns a metric that was computed before: the scope's own or, if it is one of the
// run only, the run's.
func (s *scope) metric(name string) Value {
	if v, ok := s.metrics[name]; ok {
		return v
	}
	if v, ok := s.run.metrics[name]; ok && !byName[name].PerThread {
		return v
	}
	return Value{Missing: record.CauseDisabled}
}
