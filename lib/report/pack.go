package report

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"

	"github.com/goccy/go-json"
	"github.com/klauspost/compress/zlib"

	"vperf/lib/printable"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// packer gathers columns of non-negative integers. The page's data block is the base64 of
// the zlib stream of
//
//	length of the header (4 bytes, low first) header columns
//
// The header is JSON ([header]); it names each column, its count of integers and its code:
//
//	plain     the integers
//	delta     the differences to the one before (0 before the first), zigzag: 0 -1 1 -2 2 are 0 1 2 3 4
//	constant  no bytes at all: every integer is the column's value
//
// A column is written as planes: the lowest byte of every integer, then the second of
// every integer, and so on for as many as the largest one needs. Against varints this
// takes a fifth off what deflate leaves, because the noise in the low bytes no longer
// hides how few values the high ones have, and the page unpacks it without branches.
type packer struct{ columns []column }

type column struct {
	Name   string  `json:"name"`
	Count  int     `json:"count"`
	Code   string  `json:"code"`
	Planes int     `json:"planes"` // bytes of an integer
	Value  float64 `json:"value"`  // of a constant

	at func(int) uint64
}

// plain adds the n integers that at returns.
func (p *packer) plain(name string, n int, at func(int) uint64) {
	p.add(column{Name: name, Count: n, Code: "plain", at: at})
}

// delta adds the n integers that at returns, as differences.
func (p *packer) delta(name string, n int, at func(int) int64) {
	p.add(column{Name: name, Count: n, Code: "delta", at: func(i int) uint64 {
		d := at(i)
		if i > 0 {
			d -= at(i - 1)
		}
		return uint64(d)<<1 ^ uint64(d>>63)
	}})
}

func (p *packer) add(c column) {
	var most uint64
	same := true
	for i := range c.Count {
		v := c.at(i)
		same = same && v == c.at(0)
		most = max(most, v)
	}
	if same && c.Code == "plain" {
		c.Code, c.Value = "constant", float64(most)
	} else {
		c.Planes = (bits.Len64(most) + 7) / 8
	}
	p.columns = append(p.columns, c)
}

func (c *column) write(w io.Writer) error {
	chunk := make([]byte, 0, 32<<10)
	for shift := range c.Planes {
		for i := range c.Count {
			if len(chunk) == cap(chunk) {
				if _, err := w.Write(chunk); err != nil {
					return err
				}
				chunk = chunk[:0]
			}
			chunk = append(chunk, byte(c.at(i)>>(8*shift)))
		}
	}
	_, err := w.Write(chunk)
	return err
}

// header is the JSON part of the data block. The types of web/src/unpack.js mirror it.
type header struct {
	TickNS     int64          `json:"tickNS"`    // unit of the times, which count from the start of the run
	SpanTicks  int64          `json:"spanTicks"` // length of the run
	NCPU       int            `json:"ncpu"`      // logical CPUs; 0 where unknown
	Functions  []string       `json:"functions"` // as shown; 0 is the root
	Modules    []string       `json:"modules"`   // paths; 0 is "unknown"
	ShortNames []string       `json:"shortNames"`
	Threads    []threadHeader `json:"threads"`
	Events     []eventHeader  `json:"events"`
	RSS        []rssHeader    `json:"rss"`
	Metrics    []metricRow    `json:"metrics"` // of scopes other than the whole run
	Columns    []column       `json:"columns"`
}

type threadHeader struct {
	TID  *int64   `json:"tid"` // null where the recording has none
	PID  *int64   `json:"pid"`
	Name string   `json:"name"`
	CPU  *float64 `json:"cpu"` // seconds counted by task-clock; null where unknown
}

type eventHeader struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Kind    string   `json:"kind"`
	Samples int      `json:"samples"`
	Timed   int      `json:"timed"` // samples with a time: they come first
	Total   float64  `json:"total"`
	CPU     *float64 `json:"cpu"`  // seconds of CPU time that the whole weight stands for; null where unknown
	Part    bool     `json:"part"` // samples were left out: counts of the run and of threads are of more than these
}

type rssHeader struct {
	PID    int64 `json:"pid"`
	Target bool  `json:"target"`
}

// timeline is the run: what the times in the page count from, and in what unit.
type timeline struct {
	startNS, endNS, tickNS int64
}

// ticks converts a time, rounding down; one before the run is at its start.
func (l timeline) ticks(ns int64) int64 { return max(0, ns-l.startNS) / l.tickNS }

func (l timeline) span() int64 { return l.ticks(l.endNS) }

func (l timeline) seconds() float64 { return float64(l.endNS-l.startNS) / 1e9 }

// timeline spans samples and readings, and the target's life where it is known. Times are
// kept in microseconds, or in a coarser power of ten if the run would not fit 32 bits.
func (p *Profile) timeline() timeline {
	l := timeline{startNS: record.None, endNS: record.None, tickNS: 1000}
	add := func(t int64) {
		if l.startNS == record.None || t < l.startNS {
			l.startNS = t
		}
		l.endNS = max(l.endNS, t)
	}
	for _, e := range p.events {
		if n := e.timed(); n > 0 {
			add(e.samples[0].timeNS)
			add(e.samples[n-1].timeNS)
		}
	}
	for _, s := range p.rss {
		if p.onSampleClock(s) {
			for _, m := range s.readings {
				add(m.TimeNS)
			}
		}
	}
	if t := p.meta.Target; t != nil && t.StartNS != nil && t.DurationNS != nil && l.startNS != record.None {
		// Only if it overlaps what was sampled: else it is of another clock.
		if end := *t.StartNS + *t.DurationNS; *t.StartNS >= 0 && *t.DurationNS >= 0 && *t.StartNS <= l.endNS && end >= l.startNS {
			add(*t.StartNS)
			add(end)
		}
	}
	if l.startNS == record.None {
		return timeline{tickNS: 1000}
	}
	for (l.endNS-l.startNS)/l.tickNS > 1<<32-2 {
		l.tickNS *= 10
	}
	return l
}

// timed returns the number of samples that have a time; finish put them first.
func (e *event) timed() int {
	n := len(e.samples)
	for n > 0 && e.samples[n-1].timeNS == record.None {
		n--
	}
	return n
}

// pack writes the data block to w.
func (p *Profile) pack(w io.Writer, o ordered, l timeline) error {
	var c packer
	h := header{TickNS: l.tickNS, SpanTicks: l.span(), NCPU: p.ncpu(), Metrics: p.scopedMetrics()}
	p.packFunctions(&c, &h)
	c.delta("node.depth", len(o.depth), func(i int) int64 { return int64(o.depth[i]) })
	c.plain("node.function", len(o.fn), func(i int) uint64 { return uint64(o.fn[i]) })
	h.Threads = p.threadHeaders()
	leaves := p.leaves(o)
	c.plain("leaf.node", len(leaves.node), func(i int) uint64 { return uint64(leaves.node[i]) })
	h.Events = []eventHeader{}
	for i, e := range p.events {
		h.Events = append(h.Events, eventHeader{
			Name: printable.Page(e.name), Unit: printable.Page(e.unit), Kind: printable.Page(string(e.kind)),
			Samples: len(e.samples), Timed: e.timed(), Total: e.total, CPU: p.cpuSeconds(e), Part: e.part,
		})
		prefix, n := fmt.Sprintf("event%d", i), len(e.samples)
		c.delta(prefix+".time", e.timed(), func(i int) int64 { return l.ticks(e.samples[i].timeNS) })
		c.plain(prefix+".thread", n, func(i int) uint64 { return uint64(e.samples[i].thread) })
		c.plain(prefix+".leaf", n, func(i int) uint64 { return uint64(leaves.of[o.place[e.samples[i].node]]) })
		c.plain(prefix+".weight", n, func(i int) uint64 { return e.samples[i].weight })
	}
	p.packRSS(&c, &h, l)
	h.Columns = c.columns
	return writeBlock(w, &h)
}

// packFunctions adds the functions and the modules that they are in, the module with the
// most weight of its own first: the page has more modules than colours.
func (p *Profile) packFunctions(c *packer, h *header) {
	fns := p.tree.functions
	weight := map[string]float64{}
	for _, f := range fns {
		weight[f.module] = 0
	}
	if len(p.events) > 0 {
		for _, s := range p.events[0].samples {
			weight[fns[p.tree.fn[s.node]].module] += float64(s.weight)
		}
	}
	delete(weight, "")
	modules := slices.SortedFunc(maps.Keys(weight), func(a, b string) int {
		return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(a, b))
	})
	h.Modules, h.ShortNames = []string{""}, []string{"unknown"}
	index := map[string]uint64{"": 0}
	for _, m := range modules {
		index[m] = uint64(len(h.Modules))
		h.Modules = append(h.Modules, printable.Page(m))
		h.ShortNames = append(h.ShortNames, printable.Page(stack.ModuleName(m)))
	}
	for _, f := range fns {
		h.Functions = append(h.Functions, f.display())
	}
	h.Functions[0] = "" // the root
	c.plain("function.module", len(fns), func(i int) uint64 { return index[fns[i].module] })
	c.plain("function.kind", len(fns), func(i int) uint64 { return uint64(fns[i].kind) })
}

// leaves are the nodes that samples refer to. Samples name them by their place in a list
// ordered by frequency, which takes a byte for most samples where the node itself takes three.
type leaves struct {
	node []uint32
	of   []uint32 // node -> its place in the list
}

func (p *Profile) leaves(o ordered) leaves {
	count := make([]int, len(o.fn))
	for _, e := range p.events {
		for _, s := range e.samples {
			count[o.place[s.node]]++
		}
	}
	l := leaves{of: make([]uint32, len(o.fn))}
	for i, n := range count {
		if n > 0 {
			l.node = append(l.node, uint32(i))
		}
	}
	slices.SortStableFunc(l.node, func(a, b uint32) int { return count[b] - count[a] })
	for i, n := range l.node {
		l.of[n] = uint32(i)
	}
	return l
}

func (p *Profile) threadHeaders() []threadHeader {
	known := func(n int64) *int64 {
		if n == record.None {
			return nil
		}
		return &n
	}
	list := make([]threadHeader, len(p.threads))
	for i, t := range p.threads {
		list[i] = threadHeader{TID: known(t.tid), PID: known(t.pid), Name: printable.Page(t.name)}
		if t.tid != record.None {
			list[i].CPU = p.taskClock(fmt.Sprintf("tid:%d", t.tid))
		}
	}
	return list
}

func (p *Profile) packRSS(c *packer, h *header, l timeline) {
	h.RSS = []rssHeader{}
	for _, s := range p.rss {
		if !p.onSampleClock(s) {
			continue
		}
		i, r := len(h.RSS), s.readings
		t := p.meta.Target
		h.RSS = append(h.RSS, rssHeader{PID: s.pid, Target: t != nil && t.PID != nil && *t.PID == s.pid})
		c.delta(fmt.Sprintf("rss%d.time", i), len(r), func(i int) int64 { return l.ticks(r[i].TimeNS) })
		c.delta(fmt.Sprintf("rss%d.bytes", i), len(r), func(i int) int64 { return r[i].Bytes })
	}
}

func writeBlock(w io.Writer, h *header) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	b64 := base64.NewEncoder(base64.StdEncoding, w)
	z, err := zlib.NewWriterLevel(b64, zlib.DefaultCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(text)))); err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	for _, c := range h.Columns {
		if err := c.write(z); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return b64.Close()
}
