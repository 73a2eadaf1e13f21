// Package summary gathers the records of profiles and shows what they hold in text.
package summary

import (
	"bytes"

	"vperf/lib/metric"
	"vperf/lib/perf/stat"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// A Profile is what the streams of one profile hold.
type Profile struct {
	ID    string // empty for streams that name none, and for perf stat's own output
	Clock string
	Run   metric.Run

	Given    []record.Metric // metrics that the streams hold already
	Notices  []record.Notice
	Findings []record.Finding
	Counters []record.Counter
	Raw      bool // dumps of samples are among the records

	threads map[int64]*thread
	table   *stack.Table
	weights map[*metric.Samples]*stack.Weights
}

// thread is a thread and the samples that were taken of it, by event.
type thread struct {
	record.Thread
	samples map[*metric.Samples]*share
}

type share struct {
	count  int64
	weight float64
}

func newProfile(id string) *Profile {
	return &Profile{ID: id, threads: map[int64]*thread{}, table: stack.NewTable(), weights: map[*metric.Samples]*stack.Weights{}}
}

// A Gatherer sorts records by profile. Frames, stacks and threads are needed for the text
// alone.
type Gatherer struct {
	Text bool

	profiles []*Profile
	byID     map[string]*Profile
	streams  map[int]*stream // by [record.Reader.Stream], the records outside of them by a negative number
	open     *stream
	inputs   int
	scratch  struct {
		sample record.Sample
		frame  record.Frame
		stack  record.Stack
	}
}

// Profiles returns the profiles in the order in which they came.
func (g *Gatherer) Profiles() []*Profile { return g.profiles }

// A stream is what ids mean, and whose records they are in.
type stream struct {
	profile *Profile
	frames  map[record.ID]record.ID // -> of the profile's table
	stacks  map[record.ID]record.ID
}

// begin makes the stream of number n the open one.
func (g *Gatherer) begin(n int, s record.Stream) {
	if g.byID == nil {
		g.byID, g.streams = map[string]*Profile{}, map[int]*stream{}
	}
	p := g.byID[s.Profile]
	if p == nil {
		p = newProfile(s.Profile)
		g.byID[s.Profile] = p
		g.profiles = append(g.profiles, p)
	}
	if g.streams[n] == nil {
		g.streams[n] = &stream{profile: p, frames: map[record.ID]record.ID{}, stacks: map[record.ID]record.ID{}}
	}
	g.open = g.streams[n]
	p.Run.SetStream(n, s.Filters())
}

// BeginInput tells that another file begins: what follows belongs to no stream yet.
func (g *Gatherer) BeginInput() {
	g.open = nil
	g.inputs++
}

// Add takes the record that r is at. Types that nothing is made of are not decoded.
func (g *Gatherer) Add(r *record.Reader) {
	if r.Type() == record.TypeStream {
		var s record.Stream
		if r.Decode(&s) {
			g.begin(r.Stream(), s)
			if p := g.open.profile; p.Clock == "" {
				p.Clock = s.Clock
			}
		}
		return
	}
	if r.Repeat() {
		return
	}
	if g.open == nil {
		g.begin(-g.inputs, record.Stream{})
	}
	p := g.open.profile
	switch r.Type() {
	case record.TypeSample:
		if x := &g.scratch.sample; r.Decode(x) {
			g.sample(x)
		}
	case record.TypeFrame:
		if x := &g.scratch.frame; g.Text && r.Decode(x) {
			g.open.frames[x.ID] = p.table.Frame(*x)
		}
	case record.TypeStack:
		if x := &g.scratch.stack; g.Text && r.Decode(x) {
			if frame := g.open.frames[x.Frame]; frame != 0 { // else it was dropped or cut off: the sample counts, without frames
				g.open.stacks[x.ID] = p.table.Stack(g.open.stacks[x.Parent], frame)
			}
		}
	case record.TypeThread:
		var x record.Thread
		if g.Text && r.Decode(&x) {
			p.addThread(&x)
		}
	case record.TypeMeta:
		var x record.Meta
		if r.Decode(&x) {
			p.Run.AddMeta(&x)
		}
	case record.TypeEvent:
		var x record.Event
		if r.Decode(&x) {
			p.Run.AddEvent(&x)
		}
	case record.TypeCounter:
		var x record.Counter
		if r.Decode(&x) {
			p.addCounter(&x)
		}
	case record.TypeRSS:
		var x record.RSS
		if r.Decode(&x) {
			p.Run.AddRSS(&x)
		}
	case record.TypeMetric:
		var x record.Metric
		if r.Decode(&x) {
			p.Given = append(p.Given, x)
		}
	case record.TypeFinding:
		var x record.Finding
		if g.Text && r.Decode(&x) {
			p.Findings = append(p.Findings, x)
		}
	case record.TypeNotice:
		var x record.Notice
		if r.Decode(&x) {
			p.Notices = append(p.Notices, x)
		}
	case record.TypeDump:
		// A dump is large, and which it is stands at its beginning.
		p.Raw = p.Raw || isSampleDump(r.Line())
	}
}

func (g *Gatherer) sample(x *record.Sample) {
	p := g.open.profile
	event := p.Run.AddSample(x)
	if !g.Text {
		return
	}
	w := p.weights[event]
	if w == nil {
		w = &stack.Weights{}
		p.weights[event] = w
	}
	w.Add(g.open.stacks[x.Stack], x.Weight)
	if x.TID != record.None {
		s := p.thread(x.TID).samples
		if s[event] == nil {
			s[event] = &share{}
		}
		s[event].count++
		s[event].weight += float64(x.Weight)
	}
}

func (p *Profile) thread(tid int64) *thread {
	t := p.threads[tid]
	if t == nil {
		t = &thread{Thread: record.Thread{TID: tid}, samples: map[*metric.Samples]*share{}}
		p.threads[tid] = t
	}
	return t
}

// addThread takes what a record says of a thread. The last name is the one it ended with.
func (p *Profile) addThread(x *record.Thread) {
	t := p.thread(x.TID)
	if x.Name != "" {
		t.Name = x.Name
	}
	if x.PID != nil {
		t.PID = x.PID
	}
}

func (p *Profile) addCounter(c *record.Counter) {
	p.Run.AddCounter(c)
	p.Counters = append(p.Counters, *c)
}

// AddCounts takes the output of perf stat. It belongs to no profile. It returns the records
// that it amounts to.
func (g *Gatherer) AddCounts(counts *stat.Reader) ([]record.Counter, []record.Thread) {
	g.begin(-g.inputs, record.Stream{})
	p := g.open.profile
	var totals stat.Totals
	for counts.Next() {
		totals.Add(counts.Count())
	}
	counters, threads := totals.Counters(), totals.Threads()
	for i := range counters {
		p.addCounter(&counters[i])
	}
	for i := range threads {
		p.addThread(&threads[i])
	}
	p.Run.SetIntervalEnd(totals.EndNS())
	return counters, threads
}

// isSampleDump reports whether a dump record holds samples that were not folded.
func isSampleDump(line []byte) bool {
	head := line[:min(len(line), 100)]
	return bytes.Contains(head, []byte(`"of":"`+record.DumpPerfData+`"`)) || bytes.Contains(head, []byte(`"of":"`+record.DumpPerfScript+`"`))
}
