package metric

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vperf/lib/event"
	"vperf/lib/record"
)

// whole is the scope of the whole run.
const whole = "all"

// A Run collects the records of one profile that metrics are computed from. Its zero value
// is empty.
type Run struct {
	Meta record.Meta // of both records; the host is the one that was profiled, never this one

	counts      map[countKey]map[string]Value // by what the parts of the machine are called; see add
	intervalEnd int64
	rss         map[int64]*Peak
	firstPID    int64
	events      []*Samples
	ids         map[record.ID]*Samples // of the open stream
	filters     []string               // by which samples were left out of it
	streams     map[int]map[record.ID]*Samples
	metrics     map[string]Value // of the whole run
}

// countKey names an event as it was counted in a scope: hardware events in user mode, in the
// kernel, or in both.
type countKey struct{ scope, event, mode string }

// Samples are the samples of one event.
type Samples struct {
	record.Event
	Count  int64
	Weight float64
	busy   float64 // weight of all threads but the idle one

	// By which samples were left out: with any, what the samples add up to is not of the run.
	Filters []string
	FirstNS int64 // [record.None] where samples have no time
	LastNS  int64
}

// Peak is the largest resident set of a process.
type Peak struct {
	PID      int64
	Bytes    int64
	TimeNS   int64 // when it was read
	FirstNS  int64 // when the first reading was
	Readings int64
}

// Vendor returns the vendor of the processor that was profiled.
func (r *Run) Vendor() string {
	if r.Meta.Host != nil && r.Meta.Host.CPU != nil {
		return r.Meta.Host.CPU.Vendor
	}
	return ""
}

// AddMeta adds what a record says to what is known.
func (r *Run) AddMeta(m *record.Meta) {
	if m.Target != nil {
		if r.Meta.Target == nil {
			r.Meta.Target = &record.Target{}
		}
		t := r.Meta.Target
		t.Cmd = either(m.Target.Cmd, t.Cmd, len(m.Target.Cmd) > 0)
		t.PID = either(m.Target.PID, t.PID, m.Target.PID != nil)
		t.Launcher = cmp.Or(m.Target.Launcher, t.Launcher)
		t.StartNS = either(m.Target.StartNS, t.StartNS, m.Target.StartNS != nil)
		t.ExitCode = either(m.Target.ExitCode, t.ExitCode, m.Target.ExitCode != nil)
		t.Signal = cmp.Or(m.Target.Signal, t.Signal)
		t.DurationNS = either(m.Target.DurationNS, t.DurationNS, m.Target.DurationNS != nil)
	}
	r.Meta.Host = either(m.Host, r.Meta.Host, m.Host != nil)
	r.Meta.PerfVersion = cmp.Or(m.PerfVersion, r.Meta.PerfVersion)
	r.Meta.Events = either(m.Events, r.Meta.Events, len(m.Events) > 0)
	r.Meta.Callgraph = cmp.Or(m.Callgraph, r.Meta.Callgraph)
	r.Meta.Options = either(m.Options, r.Meta.Options, len(m.Options) > 0)
}

func either[T any](a, b T, first bool) T {
	if first {
		return a
	}
	return b
}

// AddCounter adds a count. Of two counts of one event in one scope the first that has a value
// stands: a stream may hold a counter twice where streams were concatenated.
func (r *Run) AddCounter(c *record.Counter) {
	name := c.Event
	if c.Expression != "" && event.Base(c.Expression) == event.Base(c.Event) {
		name = c.Expression // the spelling that tells the mode and the kind of core
	}
	v := Value{Quality: c.Quality, Missing: c.Missing}
	switch {
	case c.Value != nil:
		v.Value = *c.Value
		v.Missing = ""
		if v.Quality == "" {
			v.Quality = record.Count
		}
	case c.Missing == "":
		v.Missing = record.CauseEventNotCounted
	}
	key := countKey{cmp.Or(c.Scope, whole), event.Base(name), mode(name)}
	if r.counts == nil {
		r.counts = map[countKey]map[string]Value{}
	}
	r.put(key, event.CoreType(name), v)
	// A part of the run stands in for the whole where the whole was not counted.
	if kind, _, isPart := strings.Cut(c.Scope, ":"); isPart && slices.Contains(parts, kind) {
		key.scope = kind
		r.put(key, c.Scope+" "+event.CoreType(name), v)
	}
}

// parts are the kinds of scopes that, taken together, are the run, in the order in which they
// are looked for: one kind is enough, for each counts everything.
var parts = []string{"tid", "cpu", "core", "cluster", "cache", "die", "socket", "node"}

func (r *Run) put(key countKey, part string, v Value) {
	cells := r.counts[key]
	if cells == nil {
		cells = map[string]Value{}
		r.counts[key] = cells
	}
	if old, ok := cells[part]; !ok || old.Missing != "" {
		cells[part] = v
	}
}

func mode(name string) string {
	m := event.Modifiers(name)
	user, kernel := strings.Contains(m, "u"), strings.ContainsAny(m, "kh")
	switch {
	case user && !kernel:
		return "u"
	case kernel && !user:
		return "k"
	}
	return ""
}

// count returns what an event counted in a scope, and the name that says in which mode.
func (r *Run) count(scope, name, mode string) (v Value, called string, ok bool) {
	called = name
	if mode != "" {
		called += ":" + mode
	}
	scopes := []string{scope}
	switch {
	case scope != whole:
	case name == "task-clock": // of a CPU it runs while the CPU is idle, too
		scopes = append(scopes, "tid")
	default:
		scopes = append(scopes, parts...)
	}
	for _, scope := range scopes {
		if cells, found := r.counts[countKey{scope, name, mode}]; found {
			return sum(cells), called, true
		}
	}
	return v, called, false
}

// sum adds up the parts. perf counts nothing for a thread that never ran, or on a kind of core
// that the program never ran on: such a part adds nothing, and only if no part was counted
// is the sum missing.
func sum(cells map[string]Value) Value {
	total := Value{Quality: record.Count}
	counted := false
	for _, part := range slices.Sorted(maps.Keys(cells)) { // sums of floats depend on the order
		v := cells[part]
		if v.Missing != "" {
			if total.Missing == "" {
				total.Missing = v.Missing
			}
			continue
		}
		counted = true
		total.Value += v.Value
		total.Quality = worse(total.Quality, v.Quality)
	}
	if counted {
		total.Missing = ""
	}
	return total
}

// SetIntervalEnd tells the end of the last interval of perf stat -I.
func (r *Run) SetIntervalEnd(ns int64) { r.intervalEnd = max(r.intervalEnd, ns) }

// AddRSS adds a reading of a resident set.
func (r *Run) AddRSS(rss *record.RSS) {
	if r.rss == nil {
		r.rss = map[int64]*Peak{}
		r.firstPID = rss.PID
	}
	p := r.rss[rss.PID]
	if p == nil {
		p = &Peak{PID: rss.PID, FirstNS: rss.TimeNS, Bytes: -1}
		r.rss[rss.PID] = p
	}
	p.Readings++
	if rss.Bytes > p.Bytes {
		p.Bytes, p.TimeNS = rss.Bytes, rss.TimeNS
	}
}

// Peak returns the largest resident set of the target's own process, with its readings. ok is
// false if there are none. Without a target's pid the process that was read first counts as
// the target.
func (r *Run) Peak() (p Peak, ok bool) {
	pid := r.firstPID
	if t := r.Meta.Target; t != nil && t.PID != nil {
		pid = *t.PID
	}
	if p := r.rss[pid]; p != nil {
		return *p, true
	}
	return Peak{}, false
}

// SetStream says which stream the following records are of, as [record.Reader.Stream] numbers
// them: their ids are its. filters are what [record.Stream.Filters] says of it.
func (r *Run) SetStream(n int, filters []string) {
	if r.streams == nil {
		r.streams = map[int]map[record.ID]*Samples{}
	}
	if r.streams[n] == nil {
		r.streams[n] = map[record.ID]*Samples{}
	}
	r.ids, r.filters = r.streams[n], filters
}

// AddEvent adds an event of the open stream. An event that other streams hold by the same name
// is the same event.
func (r *Run) AddEvent(e *record.Event) {
	if r.ids == nil {
		r.SetStream(0, nil)
	}
	s := r.ids[e.ID]
	if i := slices.IndexFunc(r.events, func(s *Samples) bool { return s.Name == e.Name }); s == nil && i >= 0 {
		s = r.events[i]
	} else if s == nil {
		s = &Samples{FirstNS: record.None, LastNS: record.None}
		r.events = append(r.events, s)
	}
	r.ids[e.ID] = s
	s.Event = *e
	s.Unit = cmp.Or(s.Unit, event.UnitOf(e.Name))
	s.Kind = record.Kind(cmp.Or(string(s.Kind), string(event.KindOf(e.Name))))
}

// AddSample adds a sample of the open stream, and returns the samples of its event so far.
func (r *Run) AddSample(x *record.Sample) *Samples {
	s := r.ids[x.Event]
	if s == nil { // the event was dropped, or stands behind its samples
		r.AddEvent(&record.Event{ID: x.Event})
		s = r.ids[x.Event]
	}
	if s.Filters == nil {
		s.Filters = r.filters
	}
	s.Count++
	s.Weight += float64(x.Weight)
	if x.TID != 0 {
		s.busy += float64(x.Weight)
	}
	if x.TimeNS != record.None {
		if s.FirstNS == record.None || x.TimeNS < s.FirstNS {
			s.FirstNS = x.TimeNS
		}
		s.LastNS = max(s.LastNS, x.TimeNS)
	}
	return s
}

// Sampled returns the event that tells where time was spent: of the events for that the one
// with most samples, else that of all events. It is nil where there are no events.
func (r *Run) Sampled() *Samples {
	var best *Samples
	for _, s := range r.events {
		if best == nil || better(s, best) {
			best = s
		}
	}
	return best
}

func better(a, b *Samples) bool {
	if a.Count == 0 || b.Count == 0 {
		return a.Count > b.Count
	}
	if aCPU, bCPU := a.Kind == record.KindCPU, b.Kind == record.KindCPU; aCPU != bCPU {
		return aCPU
	}
	return a.Count > b.Count
}

// fact returns a fact of the run. ok is false if there is none of that name.
func (r *Run) fact(name, scope string) (v Value, ok bool) {
	present := func(n int64, there bool) (Value, bool) {
		if !there {
			return Value{Missing: record.CauseDisabled}, true
		}
		return Value{Value: float64(n), Quality: record.Count}, true
	}
	t, s := r.Meta.Target, r.Sampled()
	sampled := s != nil && s.Count > 0 && s.Filters == nil && scope == whole // all that was, of the run
	switch name {
	case "meta.target.duration_ns":
		if t == nil || t.DurationNS == nil {
			return present(0, false)
		}
		return present(*t.DurationNS, true)
	case "meta.host.ncpu":
		if r.Meta.Host == nil {
			return present(0, false)
		}
		return present(int64(r.Meta.Host.NCPU), r.Meta.Host.NCPU > 0)
	case "interval.end_ns":
		return present(r.intervalEnd, r.intervalEnd > 0)
	case "rss.peak_bytes":
		p, ok := r.Peak()
		return present(p.Bytes, ok && scope == whole)
	case "samples.count", "samples.weight":
		switch {
		case s == nil || scope != whole:
			return present(0, false)
		case s.Count == 0:
			return Value{Missing: record.CauseNoSamples}, true
		case name == "samples.count":
			return present(s.Count, true)
		}
		return Value{Value: s.Weight, Quality: record.Estimate}, true
	case "samples.clock_ns":
		if !sampled || s.Unit != event.Nanoseconds {
			return present(0, false)
		}
		return Value{Value: s.busy, Quality: record.Estimate}, true
	case "samples.span_ns":
		if !sampled || s.FirstNS == record.None || s.LastNS == s.FirstNS {
			return present(0, false)
		}
		return Value{Value: float64(s.LastNS - s.FirstNS), Quality: record.Estimate}, true
	}
	return Value{}, false
}

// Metrics evaluates the table for the run, then for its threads in the order of their ids.
func (r *Run) Metrics() []record.Metric {
	r.metrics = map[string]Value{}
	metrics := r.evaluate(&scope{run: r, name: whole, metrics: r.metrics}, nil)
	for _, tid := range r.threads() {
		metrics = r.evaluate(&scope{run: r, name: "tid:" + strconv.FormatInt(tid, 10), metrics: map[string]Value{}}, metrics)
	}
	return metrics
}

func (r *Run) evaluate(s *scope, metrics []record.Metric) []record.Metric {
	for i := range Table {
		f := &Table[i]
		if !f.PerThread && s.name != whole {
			continue
		}
		m, ok := s.evaluate(f)
		if !ok {
			continue
		}
		if sampled := r.Sampled(); f.Name == "sample_weight" && sampled != nil {
			m.Unit = sampled.Unit
		}
		metrics = append(metrics, m)
	}
	return metrics
}

// threads returns the threads that have counters of their own.
func (r *Run) threads() []int64 {
	tids := map[int64]bool{}
	for key := range r.counts {
		if text, ok := strings.CutPrefix(key.scope, "tid:"); ok {
			if tid, err := strconv.ParseInt(text, 10, 64); err == nil {
				tids[tid] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(tids))
}

// Multiplexed reports whether a counter was counted for a part of the time only, and for
// which share of it, 0 where that is not known.
func Multiplexed(c *record.Counter) (share float64, ok bool) {
	if c.Value == nil || c.Quality != record.Estimate {
		return 0, false
	}
	if c.RunningNS == nil || c.EnabledNS == nil || *c.EnabledNS == 0 {
		return 0, true
	}
	return float64(*c.RunningNS) / float64(*c.EnabledNS), true
}
