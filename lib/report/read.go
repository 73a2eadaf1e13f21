package report

import (
	"cmp"
	"slices"
	"strings"

	"vperf/lib/record"
)

// scope holds what the ids of a stream mean. It outlives the stream: a copy of it may follow,
// with records that were dropped from this one.
type scope struct {
	frames, stacks, events idMap
	shown                  bool
	filters                []string // by which samples were left out of it
	clock                  string
}

// Read adds the records of r. Problems go to r.Report as before, and into the page's
// notices as numbers.
func (p *Profile) Read(r *record.Reader) error {
	told := r.Report
	defer func() { r.Report = told }()
	r.Report = func(q record.Problem) {
		p.problem(q)
		if told != nil {
			told(q)
		}
	}
	p.scopes[0] = &scope{shown: true} // records before the first stream record
	for r.Next() {
		if t := r.Type(); t != record.TypeStream && t != record.TypeEnd {
			p.records++
		}
		if r.Repeat() {
			continue
		}
		sc := p.scopes[r.Stream()]
		if sc == nil {
			sc = &scope{shown: true}
			p.scopes[r.Stream()] = sc
		}
		p.add(sc, r)
	}
	return r.Err()
}

func (p *Profile) add(sc *scope, r *record.Reader) {
	if r.Type() == record.TypeStream {
		var s record.Stream
		if r.Decode(&s) {
			sc.shown, sc.clock, sc.filters = p.belongs(s.Profile), s.Clock, s.Filters()
		}
		return
	}
	if !sc.shown {
		return
	}
	switch r.Type() {
	case record.TypeFrame:
		var f record.Frame
		if r.Decode(&f) {
			sc.frames.set(f.ID, p.tree.function(f.Symbol, f.Module, f.Kind))
		}
	case record.TypeStack:
		var s record.Stack
		if r.Decode(&s) {
			p.addStack(sc, s)
		}
	case record.TypeSample:
		var s record.Sample
		if r.Decode(&s) {
			p.addSample(sc, s)
		}
	case record.TypeEvent:
		var e record.Event
		if r.Decode(&e) {
			sc.events.set(e.ID, p.event(eventKey{e.Name, e.Unit, e.Kind}))
		}
	case record.TypeThread:
		var t record.Thread
		if r.Decode(&t) {
			p.addThread(t)
		}
	case record.TypeRSS:
		var m record.RSS
		if r.Decode(&m) {
			p.addRSS(sc, m)
		}
	case record.TypeEnd:
	case record.TypeDump: // what it holds comes as records of vp-fold and vp-metrics
		p.dumps++
	default:
		p.addRare(r)
	}
}

// addRare adds the records of which there are few.
func (p *Profile) addRare(r *record.Reader) {
	switch r.Type() {
	case record.TypeMeta:
		var m record.Meta
		if r.Decode(&m) {
			p.addMeta(m)
		}
	case record.TypeCounter:
		var c record.Counter
		if r.Decode(&c) {
			p.counters = append(p.counters, c)
		}
	case record.TypeMetric:
		var m record.Metric
		if r.Decode(&m) {
			p.metrics = append(p.metrics, m)
		}
	case record.TypeFinding:
		var f record.Finding
		if r.Decode(&f) {
			p.findings = append(p.findings, f)
		}
	case record.TypeCapability:
		var c record.Capability
		if r.Decode(&c) && c.Status != record.OK {
			p.capabilities = append(p.capabilities, c)
		}
	case record.TypeNotice:
		var n record.Notice
		if r.Decode(&n) {
			p.notice(n)
		}
	default:
		p.unshown[r.Type()]++
	}
}

// belongs reports whether a stream of the profile id is part of the page.
func (p *Profile) belongs(id string) bool {
	switch {
	case id == "" || id == p.id:
		return true
	case p.id == "":
		p.id = id
		return true
	}
	p.others[id] = struct{}{}
	return false
}

func (p *Profile) addStack(sc *scope, s record.Stack) {
	fn, ok := sc.frames.get(s.Frame)
	if !ok {
		p.undefined++
		fn = p.tree.function("", "", record.KindUnknown)
	}
	parent := uint32(0)
	if s.Parent != 0 {
		if parent, ok = sc.stacks.get(s.Parent); !ok {
			p.undefined++
		}
	}
	sc.stacks.set(s.ID, p.tree.child(parent, fn))
}

func (p *Profile) addSample(sc *scope, s record.Sample) {
	node, ok := uint32(0), true
	if s.Stack != 0 {
		if node, ok = sc.stacks.get(s.Stack); !ok {
			p.undefined++
		}
	}
	if node == 0 {
		node = p.tree.child(0, p.tree.function(noStack, "", record.KindUnknown))
	}
	ev, ok := sc.events.get(s.Event)
	if !ok {
		p.undefined++
		ev = p.event(eventKey{name: "unnamed event"})
		sc.events.set(s.Event, ev)
	}
	if p.clock == "" {
		p.clock = sc.clock
	}
	e := p.events[ev]
	if len(sc.filters) > 0 && !e.part {
		e.part = true
		p.notice(record.Notice{Severity: record.Info, Text: "not all samples of the run are here, only those of " + strings.Join(sc.filters, " ")})
	}
	if len(e.samples) == cap(e.samples) {
		// append grows by a quarter from here on; doubling touches less fresh memory in all.
		e.samples = slices.Grow(e.samples, max(1024, len(e.samples)))
	}
	t := s.TimeNS
	if t < 0 {
		t = record.None
	}
	th := p.thread(s.TID)
	e.samples = append(e.samples, sample{timeNS: t, weight: s.Weight, node: node, thread: th})
	if s.PID != record.None {
		p.threads[th].pid = s.PID
	}
}

func (p *Profile) addThread(t record.Thread) {
	th := &p.threads[p.thread(t.TID)]
	if t.Name != "" {
		th.name = t.Name // the last name wins: a thread begins under its parent's
	}
	if t.PID != nil {
		th.pid = *t.PID
	}
}

func (p *Profile) addRSS(sc *scope, m record.RSS) {
	if m.TimeNS < 0 || m.Bytes < 0 {
		p.problem(record.Problem{Cause: record.CauseBadInput})
		return
	}
	k := rssKey{m.PID, sc.clock}
	s := p.rssOf[k]
	if s == nil {
		s = &rssSeries{rssKey: k}
		p.rssOf[k] = s
		p.rss = append(p.rss, s)
	}
	s.readings = append(s.readings, m)
}

// addMeta lays what the page shows of m over what earlier records said: what m leaves out
// stands.
func (p *Profile) addMeta(m record.Meta) {
	if m.Target != nil {
		if p.meta.Target == nil {
			p.meta.Target = &record.Target{}
		}
		t := p.meta.Target
		if len(m.Target.Cmd) > 0 {
			t.Cmd = m.Target.Cmd
		}
		t.PID = over(t.PID, m.Target.PID)
		t.StartNS = over(t.StartNS, m.Target.StartNS)
		t.ExitCode = over(t.ExitCode, m.Target.ExitCode)
		t.DurationNS = over(t.DurationNS, m.Target.DurationNS)
		t.Signal = overText(t.Signal, m.Target.Signal)
	}
	if m.Host != nil {
		p.addHost(*m.Host)
	}
	p.meta.Callgraph = overText(p.meta.Callgraph, m.Callgraph)
}

func (p *Profile) addHost(m record.Host) {
	if p.meta.Host == nil {
		p.meta.Host = &record.Host{}
	}
	h := p.meta.Host
	h.Name = overText(h.Name, m.Name)
	h.Kernel = overText(h.Kernel, m.Kernel)
	h.CPU = over(h.CPU, m.CPU)
	h.NCPU = cmp.Or(m.NCPU, h.NCPU)
}

func over[T any](old, new *T) *T {
	if new != nil {
		return new
	}
	return old
}

func overText(old, new string) string {
	if new != "" {
		return new
	}
	return old
}

// idMap maps the ids of a stream to indices. Ids are dense where our own tools wrote them,
// and anything where others did: those beyond the dense part are kept in a map, so that one
// id of 4,000,000,000 does not cost as many bytes.
type idMap struct {
	dense  []uint32 // index + 1
	sparse map[record.ID]uint32
}

func (m *idMap) set(id record.ID, index uint32) {
	const slack = 1024
	n := record.ID(len(m.dense))
	switch {
	case id < n:
		m.dense[id] = index + 1
	case id < n+slack:
		m.dense = append(m.dense, make([]uint32, int(id-n)+1)...)
		m.dense[id] = index + 1
	default:
		if m.sparse == nil {
			m.sparse = map[record.ID]uint32{}
		}
		m.sparse[id] = index
	}
}

func (m *idMap) get(id record.ID) (uint32, bool) {
	if int(id) < len(m.dense) && m.dense[id] != 0 {
		return m.dense[id] - 1, true
	}
	i, ok := m.sparse[id]
	return i, ok
}
