package summary

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"vperf/lib/metric"
	"vperf/lib/printable"
	"vperf/lib/record"
	"vperf/lib/shell"
	"vperf/lib/stack"
)

// The longest lists.
const (
	maxHotspots = 10
	maxThreads  = 20
)

// Write writes the profiles, with what is to be said beside them: of each the sections that it
// has something for.
func Write(out io.Writer, profiles []*Profile, beside []record.Notice, style Style) error {
	w := newWriter(out, style)
	for i, p := range profiles {
		if len(profiles) > 1 {
			if i > 0 {
				w.WriteByte('\n')
			}
			w.WriteString(w.paint("Profile "+printable.Terminal(cmp.Or(p.ID, "without an id")), bold) + "\n\n")
			w.sections = 0
		}
		w.profile(p)
	}
	w.notices(beside)
	return w.Flush()
}

func (w *writer) profile(p *Profile) {
	metrics := p.Metrics()
	w.collection(p, metrics)
	w.metrics(p, metrics)
	w.hotspots(p)
	w.threads(p, metrics)
	w.memory(p)
	w.findings(p.Findings)
	w.notices(slices.Concat(p.Notices, p.Remarks()))
}

func (w *writer) collection(p *Profile, metrics []record.Metric) {
	t := table{right: []bool{false, false}}
	if target := p.Run.Meta.Target; target != nil {
		if len(target.Cmd) > 0 {
			words := make([]string, len(target.Cmd))
			for i, word := range target.Cmd {
				words[i] = shell.Quote(word)
			}
			t.add("Command", printable.Terminal(strings.Join(words, " ")))
		}
		switch {
		case target.Signal != "":
			t.add("Ended by", printable.Terminal(target.Signal))
		case target.ExitCode != nil:
			t.add("Exit status", fmt.Sprint(*target.ExitCode))
		}
	}
	if host := p.Run.Meta.Host; host != nil {
		t.add("Host", printable.Terminal(describe(host)))
	}
	if p.Run.Meta.PerfVersion != "" {
		t.add("perf", printable.Terminal(p.Run.Meta.PerfVersion))
	}
	s := p.Run.Sampled()
	if s != nil && s.Name != "" {
		text := s.Name
		if freq := p.Run.Meta.Options["freq"]; freq != "" {
			text += ", " + freq + " Hz"
		}
		if g := p.Run.Meta.Callgraph; g != "" {
			text += ", call stacks by " + g
		}
		t.add("Sampled", printable.Terminal(text))
	}
	switch {
	case s != nil && s.Count > 0:
		text := count(s.Count)
		digits, suffix := number(s.Weight, s.Unit)
		text += strings.TrimRight(fmt.Sprintf(" (weight %s %s", digits, cmp.Or(suffix, s.Unit)), " ") + ")"
		if len(s.Filters) > 0 {
			text += ", only those of " + strings.Join(s.Filters, " ")
		}
		t.add("Samples", printable.Terminal(text))
	case p.Raw:
		t.add("Samples", "raw: put vp-fold in front of vp-metrics to see where time went")
	case s != nil:
		t.add("Samples", "none")
	}
	for i := range metrics {
		if m := &metrics[i]; m.Name == "elapsed_s" && m.Scope == "all" && m.Value != nil {
			t.add("Elapsed", value(*m))
		}
	}
	if len(t.rows) > 0 {
		w.section("Collection", "")
		t.write(w, false, false)
	}
}

func describe(h *record.Host) string {
	var parts []string
	if h.Name != "" {
		parts = append(parts, h.Name)
	}
	if h.CPU != nil && cmp.Or(h.CPU.Name, h.CPU.Vendor) != "" {
		parts = append(parts, cmp.Or(h.CPU.Name, h.CPU.Vendor))
	}
	if h.NCPU > 0 {
		parts = append(parts, plural(int64(h.NCPU), "CPU"))
	}
	if h.Kernel != "" {
		kernel := h.Kernel
		if !strings.HasPrefix(kernel, "Linux") {
			kernel = "Linux " + kernel
		}
		parts = append(parts, kernel)
	}
	if h.Hypervisor != "" {
		parts = append(parts, "guest of "+h.Hypervisor)
	}
	return strings.Join(parts, ", ")
}

// metrics shows what has a value, then what is missing by reason.
func (w *writer) metrics(p *Profile, metrics []record.Metric) {
	t := table{right: []bool{false, true, false, false}}
	var missing []*record.Metric
	for i := range metrics {
		m := &metrics[i]
		if m.Scope != "all" || inCollection(m.Name) {
			continue
		}
		if m.Value == nil {
			missing = append(missing, m)
			continue
		}
		var how []string
		if m.Quality != "" && m.Quality != record.Count && m.Quality != record.Derived { // the formula shows those
			how = append(how, string(m.Quality))
		}
		if note := metric.Note(m, p.Run.Vendor()); note != "" {
			how = append(how, note)
		}
		if strings.ReplaceAll(m.Formula, "-", "_") != m.Name {
			how = append(how, m.Formula)
		}
		digits, suffix := number(*m.Value, m.Unit)
		if f, ok := metric.Lookup(m.Name); ok && f.Name == "busy_cores" && p.Run.Meta.Host != nil && p.Run.Meta.Host.NCPU > 0 {
			suffix = fmt.Sprintf("of %s", plural(int64(p.Run.Meta.Host.NCPU), "CPU"))
		}
		t.add(clip(label(m), 36), digits, clip(printable.Terminal(suffix), 16), printable.Terminal(strings.Join(how, "; ")))
	}
	if len(t.rows)+len(missing) == 0 {
		return
	}
	w.section("Hardware metrics", "")
	t.write(w, false, true)
	w.missing(missing)
}

// inCollection lists what the collection section shows.
func inCollection(name string) bool { return name == "samples" || name == "sample_weight" }

func label(m *record.Metric) string {
	if f, ok := metric.Lookup(m.Name); ok {
		return f.Label
	}
	return printable.Terminal(m.Name)
}

// missing shows the metrics without a value, those of one reason together.
func (w *writer) missing(metrics []*record.Metric) {
	type group struct {
		reason, hint string
		labels       []string
	}
	var groups []*group
	of := map[string]*group{} // by reason
	by := map[string]*group{} // by label
	for _, m := range metrics {
		reason, hint := metric.Explain(m)
		g := of[reason]
		if g == nil {
			g = &group{reason: reason, hint: hint}
			of[reason] = g
			groups = append(groups, g)
		}
		name, above := label(m), labelAbove(m)
		by[name] = g
		if above != "" {
			if by[above] == g {
				continue // that it is missing, too, goes without saying
			}
			name = above + " " + strings.TrimSpace(name)
		}
		g.labels = append(g.labels, name)
	}
	for _, g := range groups {
		labels := strings.Join(g.labels, ", ")
		if g.reason == metric.Words(record.CauseDisabled) {
			w.wrapped("  not measured: ", labels, "")
			continue
		}
		w.wrapped("  missing: ", labels, "")
		w.wrapped("           ", g.reason, yellow)
		if g.hint != "" {
			w.wrapped("           hint: ", g.hint, dim)
		}
	}
}

// labelAbove returns the label of the row that a metric is indented under, empty if it is not
// indented.
func labelAbove(m *record.Metric) string {
	above := ""
	for i := range metric.Table {
		f := &metric.Table[i]
		indented := strings.HasPrefix(f.Label, " ")
		switch {
		case f.Name == m.Name && indented:
			return above
		case !indented:
			above = f.Label
		}
	}
	return ""
}

func (w *writer) hotspots(p *Profile) {
	event := p.Run.Sampled()
	if event == nil || p.weights[event] == nil {
		return
	}
	weights := *p.weights[event]
	total := float64(weights.Total())
	spots := stack.Hotspots(p.table, weights)
	title := plural(event.Count, "sample")
	if event.Name != "" {
		title += " of " + event.Name
	}
	w.section("Hotspots", title)
	if len(spots) == 0 {
		w.line("no sample has a call stack")
		return
	}
	t := table{right: []bool{true, true, false, false}}
	t.add("self", "inclusive", "function", "module")
	modules := 0
	for _, s := range spots[:min(len(spots), maxHotspots)] {
		modules = max(modules, len(stack.ModuleName(s.Module)))
	}
	modules = min(modules, 30)
	width := w.Width - 3 - 9 - 2 - 9 - 2 - 2 - modules
	attributed := 0.0
	for i, s := range spots {
		if attributed += float64(s.Self); i >= maxHotspots {
			continue
		}
		t.add(percent(float64(s.Self), total), percent(float64(s.Total), total),
			shorten(cmp.Or(s.Symbol, "[unknown]"), max(width, 12)), shorten(stack.ModuleName(s.Module), modules))
	}
	t.write(w, true, false)
	rest := 0.0
	for _, s := range spots[min(len(spots), maxHotspots):] {
		rest += float64(s.Self)
	}
	if more := len(spots) - maxHotspots; more > 0 {
		w.colored(fmt.Sprintf("%s in %s", percent(rest, total), plural(int64(more), "further function")), dim)
	}
	if none := total - attributed; none > 0 {
		w.colored(percent(none, total)+" in samples without a call stack", dim)
	}
}

func (w *writer) threads(p *Profile, metrics []record.Metric) {
	event := p.Run.Sampled()
	cpuTime, ipc := map[string]record.Metric{}, map[string]record.Metric{}
	for _, m := range metrics {
		switch m.Name {
		case "cpu_time_s":
			cpuTime[m.Scope] = m
		case "ipc":
			ipc[m.Scope] = m
		}
	}
	type row struct {
		*thread
		share
	}
	var rows []row
	sampled := 0
	total := 0.0
	for _, t := range p.threads {
		r := row{thread: t}
		if event != nil && t.samples[event] != nil {
			r.share = *t.samples[event]
			sampled++
			total += r.weight
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.TID, b.TID))
	})
	detail := plural(int64(len(rows)), "thread")
	if event != nil {
		detail += fmt.Sprintf(", %d sampled", sampled)
	}
	w.section("Threads", detail)
	counted := len(cpuTime) > 1 || len(ipc) > 1
	t := table{right: []bool{true, true, true, true, true, false}}
	t.add("tid", "samples", "share", "CPU time", "IPC", "name")
	for _, r := range rows[:min(len(rows), maxThreads)] {
		scope := fmt.Sprintf("tid:%d", r.TID)
		t.add(fmt.Sprint(r.TID), count(r.count), percent(r.weight, total), value(cpuTime[scope]), value(ipc[scope]), printable.Terminal(cmp.Or(r.Name, "?")))
	}
	if !counted {
		t.drop(3, 5)
	}
	if sampled == 0 {
		t.drop(1, 3)
	}
	t.write(w, true, false)
	if len(rows) > maxThreads {
		rest := 0.0
		for _, r := range rows[maxThreads:] {
			rest += r.weight
		}
		w.colored(fmt.Sprintf("%s of the samples in %s", percent(rest, total), plural(int64(len(rows)-maxThreads), "further thread")), dim)
	}
}

// drop leaves out the columns from one up to another.
func (t *table) drop(from, to int) {
	t.right = slices.Delete(t.right, from, to)
	for i := range t.rows {
		t.rows[i] = slices.Delete(t.rows[i], from, to)
	}
}

func value(m record.Metric) string {
	if m.Value == nil {
		return "-"
	}
	digits, suffix := number(*m.Value, m.Unit)
	return strings.TrimRight(digits+" "+suffix, " ")
}

func (w *writer) memory(p *Profile) {
	peak, ok := p.Run.Peak()
	if !ok {
		return
	}
	origin, since := peak.FirstNS, "after the first reading"
	if t := p.Run.Meta.Target; t != nil && t.StartNS != nil {
		origin, since = *t.StartNS, "into the run"
	}
	w.section("Memory", plural(peak.Readings, "reading")+fmt.Sprintf(" of process %d", peak.PID))
	bytes, unit := number(float64(peak.Bytes), "bytes")
	at, second := seconds(float64(peak.TimeNS-origin) / 1e9)
	w.line(fmt.Sprintf("Peak resident set %s %s, %s %s %s", bytes, unit, at, second, since))
}

func (w *writer) findings(findings []record.Finding) {
	if len(findings) == 0 {
		return
	}
	w.section("Findings", "")
	for _, f := range findings {
		w.wrapped("  "+mark(f.Severity), f.Verdict, severityColor(f.Severity))
		if f.Advice != "" {
			w.wrapped("    ", f.Advice, "")
		}
		if f.Next != "" {
			w.wrapped("    next: ", f.Next, dim)
		}
	}
}

func (w *writer) notices(notices []record.Notice) {
	if len(notices) == 0 {
		return
	}
	w.section("Notices", "")
	seen := map[string]bool{}
	for _, n := range notices {
		if seen[n.Text] { // every stage that passes a stream on may say the same
			continue
		}
		seen[n.Text] = true
		w.wrapped("  "+mark(n.Severity), n.Text, severityColor(n.Severity))
		if n.Fix != "" {
			w.wrapped("    hint: ", n.Fix, dim)
		}
	}
}

func mark(s record.Severity) string {
	switch s {
	case record.Error:
		return "error: "
	case record.Warning:
		return "warning: "
	}
	return ""
}

func severityColor(s record.Severity) string {
	switch s {
	case record.Error:
		return red
	case record.Warning:
		return yellow
	}
	return ""
}
