package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"vperf/lib/printable"
	"vperf/lib/record"
	"vperf/lib/words"
)

var qualityText = []struct {
	quality string
	text    string
}{
	{string(record.Count), "read from a counter that ran all the time, or measured"},
	{string(record.Estimate), "sampled, or a counter that ran part of the time"},
	{string(record.Derived), "a ratio of the others: hover shows formula and inputs"},
	{string(record.Model), "a formula with assumptions"},
	{missing, "could not be had: the row says why"},
}

const missing = "missing"

// known returns a quality that the page has a sign for, else nothing.
func known(q record.Quality) string {
	switch q {
	case record.Count, record.Estimate, record.Derived, record.Model:
		return string(q)
	}
	return ""
}

// addNumbers fills the tables of metrics and counters of the whole run.
func (p *Profile) addNumbers(v *view) {
	count := map[string]int{}
	for _, m := range p.metrics {
		if m.Scope == "all" || m.Scope == "" {
			v.Metrics = append(v.Metrics, metricRowOf(m))
		}
	}
	for _, c := range p.counters {
		if c.Scope == "all" || c.Scope == "" {
			v.Counters = append(v.Counters, counterRow(c))
		}
	}
	for _, row := range slices.Concat(v.Metrics, v.Counters) {
		count[row.Quality]++
	}
	v.Metrics, v.Counters = gatherMissing(v.Metrics), gatherMissing(v.Counters)
	for _, q := range qualityText {
		if n := count[q.quality]; n > 0 {
			v.Qualities = append(v.Qualities, qualityRow{q.quality, q.text, n})
		}
	}
}

// gatherMissing puts what has no value last, one row for each cause: a machine without
// hardware counters misses a dozen numbers for one reason.
func gatherMissing(rows []metricRow) []metricRow {
	var have, lack []metricRow
	at := map[string]int{}
	for _, r := range rows {
		if r.Quality != missing {
			have = append(have, r)
			continue
		}
		i, ok := at[r.Value]
		if !ok {
			at[r.Value] = len(lack)
			lack = append(lack, r)
			continue
		}
		lack[i].Label += ", " + r.Label
		lack[i].Why = ""
	}
	return append(have, lack...)
}

// scopedMetrics are the metrics of threads and groups, which the page shows when one of
// those is selected.
func (p *Profile) scopedMetrics() []metricRow {
	rows := []metricRow{}
	for _, m := range p.metrics {
		if strings.HasPrefix(m.Scope, "tid:") || strings.HasPrefix(m.Scope, "group:") {
			rows = append(rows, metricRowOf(m))
		}
	}
	return rows
}

func metricRowOf(m record.Metric) metricRow {
	row := metricRow{Scope: printable.Page(m.Scope), Label: printable.Page(label(m.Name, m.Unit)), Quality: known(m.Quality)}
	if m.Value == nil {
		row.Quality, row.Value = missing, missingText(m.Missing)
	} else {
		row.Value, row.Unit = quantity(*m.Value, printable.Page(m.Unit))
	}
	row.Why = printable.Page(m.Formula)
	names := make([]string, 0, len(m.Inputs))
	for name := range m.Inputs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		row.Why += fmt.Sprintf("\n%s = %s", printable.Page(name), significant(m.Inputs[name]))
	}
	row.Why = strings.TrimSpace(row.Why)
	return row
}

func counterRow(c record.Counter) metricRow {
	row := metricRow{Scope: printable.Page(c.Scope), Label: printable.Page(c.Event), Quality: known(c.Quality)}
	if c.Value == nil {
		row.Quality, row.Value = missing, missingText(c.Missing)
	} else {
		row.Value, row.Unit = quantity(*c.Value, printable.Page(c.Unit))
	}
	if c.Expression != "" && c.Expression != c.Event {
		row.Why = "counted as " + printable.Page(c.Expression)
	}
	if e, r := c.EnabledNS, c.RunningNS; e != nil && r != nil && *e > 0 && *r < *e {
		row.Why = strings.TrimSpace(row.Why + "\nran " + share(float64(*r), float64(*e)) + " of the time")
	}
	return row
}

func missingText(c record.Cause) string {
	if c == "" {
		return "no value"
	}
	parts := strings.Split(printable.Page(string(c)), "_")
	for i, w := range parts {
		parts[i] = cmp.Or(abbreviations[w], w)
	}
	return strings.Join(parts, " ")
}

func findingOf(f record.Finding) finding {
	g := finding{notice: notice{printable.Page(string(f.Severity)), printable.Page(f.Verdict), printable.Page(f.Advice), printable.Page(f.Next), level(f.Severity)}}
	for _, e := range f.Evidence {
		row := metricRow{Label: printable.Page(label(e.Metric, "")), Quality: missing}
		if e.Value != nil {
			row.Value, row.Quality = significant(*e.Value), ""
		}
		if e.Threshold != nil {
			row.Why = "threshold " + significant(*e.Threshold)
		}
		g.Evidence = append(g.Evidence, row)
	}
	return g
}

func level(s record.Severity) int {
	switch s {
	case record.Error:
		return 3
	case record.Warning:
		return 2
	}
	return 1
}

// stackRows say how good the stacks of the first event are, as shares of its weight.
func (p *Profile) stackRows(o ordered) []stackRow {
	e, t := p.events[0], &p.tree
	holed := make([]bool, len(t.parent)) // a frame without a name is at the node or above it
	for i := 1; i < len(holed); i++ {
		holed[i] = holed[t.parent[i]] || !t.functions[t.fn[i]].named()
	}
	var kernel, whole, leaf, frameless float64
	deepest := uint32(0)
	for _, s := range e.samples {
		w, f := float64(s.weight), t.functions[t.fn[s.node]]
		deepest = max(deepest, o.depth[o.place[s.node]])
		switch {
		case f.symbol == noStack:
			frameless += w
		case !f.named():
			leaf += w
		case !holed[s.node]:
			whole += w
		}
		if f.kind == kernelCode {
			kernel += w
		}
	}
	rows := []stackRow{
		{"Every frame named", share(whole, e.total), ""},
		{"Running function unnamed", share(leaf, e.total), "stripped, or code made at run time"},
		{"A caller unnamed", share(max(0, e.total-whole-leaf-frameless), e.total), "no symbols there, or no frame pointers"},
		{"No frames", share(frameless, e.total), ""},
		{"In the kernel", share(kernel, e.total), ""},
	}
	return append(rows, stackRow{"Deepest stack", grouped(float64(deepest)), "frames"})
}

// also says which records the page has no place for, so that nothing vanishes in silence.
func (p *Profile) also() string {
	var parts []string
	for t, n := range p.unshown {
		if n > 0 {
			word := record.Type(t).String()
			if record.Type(t) == record.Unknown {
				word = "unknown"
			}
			parts = append(parts, words.Count(n, word+" record"))
		}
	}
	return strings.Join(parts, ", ")
}
