// Package report turns a record stream, or folded stacks, into one HTML file that a
// browser opens without a network: overview, hotspots, flame graph, threads.
//
// A [Profile] collects what [Profile.Read] and [Profile.ReadFolded] find; WriteHTML writes
// the page. The page depends on the records alone, never on when or where it is made, so
// that a replay is byte-identical.
//
// # What the page holds
//
// Samples travel once, as columns of integers (see [packer]), and every thread, time
// range and event is folded in the browser. Frames that differ only in file, line or
// address are one function; functions of the same name in different modules are two.
// Stacks are a trie in depth-first order, siblings by weight, so that a node's subtree is a
// contiguous run of nodes: sums, searches and layouts are then single passes over arrays.
//
// Events are never added up: the page shows one at a time, those of kind cpu first.
//
// # Several profiles
//
// Streams with the same profile id describe one profile. If the input holds several ids
// the page shows the first and says so. A stream without an id (what other tools wrote) is
// taken as part of the profile that is shown. A stream that comes twice is read once.
//
// # The page's script
//
// The modules in web/src are ES modules, checked by tsc and tested under node as they are.
// A page opened from file:// cannot import modules, and a blob import map would need a
// script to build it, so [bundle] joins them into one classic script: it sorts them by
// their imports and removes the import and export keywords. That is all it does, and it
// refuses what it does not understand. One script also means that a Content-Security-Policy
// can name it by hash, and that the same text, started from a blob, is the worker that
// folds the samples.
package report

import (
	"cmp"
	"fmt"
	"slices"

	"vperf/lib/record"
	"vperf/lib/words"
)

// Profile is what a page is made from. The zero value is not usable: see [New].
type Profile struct {
	id      string              // of the profile that is shown; "" until a stream names one
	others  map[string]struct{} // ids of profiles that are not shown
	scopes  map[int]*scope      // by stream, see [record.Reader.Stream]
	clock   string              // of the samples; "" where their stream names none
	meta    record.Meta
	threads []thread
	events  []*event
	tree    trie
	rss     []*rssSeries

	threadOf map[int64]uint32
	eventOf  map[eventKey]uint32
	rssOf    map[rssKey]*rssSeries

	counters     []record.Counter
	metrics      []record.Metric
	findings     []record.Finding
	capabilities []record.Capability
	notices      []record.Notice
	noticed      map[record.Notice]struct{}
	unshown      [record.NumTypes]int // records that no part of the page shows
	trouble      map[record.Cause]int // problems of the input, by cause
	undefined    int                  // references to frames, stacks and events that are not there
	dumps        int                  // raw output of tools, which a page cannot show
	records      int                  // read, whether shown or not, folded lines included; stream and end records are none
	folded       bool                 // some of it was folded text
}

type thread struct {
	tid, pid int64 // record.None where unknown
	name     string
}

type eventKey struct {
	name, unit string
	kind       record.Kind
}

type event struct {
	eventKey
	samples []sample
	total   float64
	part    bool // not all samples of the run are there
}

type sample struct {
	timeNS int64 // record.None where unknown
	weight uint64
	node   uint32
	thread uint32
}

type rssKey struct {
	pid   int64
	clock string
}

type rssSeries struct {
	rssKey
	readings []record.RSS
}

// New returns an empty Profile.
func New() *Profile {
	return &Profile{
		tree:     newTrie(),
		others:   map[string]struct{}{},
		scopes:   map[int]*scope{},
		threadOf: map[int64]uint32{},
		eventOf:  map[eventKey]uint32{},
		rssOf:    map[rssKey]*rssSeries{},
		noticed:  map[record.Notice]struct{}{},
		trouble:  map[record.Cause]int{},
	}
}

// Empty reports whether nothing was read that a page could show.
func (p *Profile) Empty() bool { return p.records == 0 }

func (p *Profile) thread(tid int64) uint32 {
	i, ok := p.threadOf[tid]
	if !ok {
		i = uint32(len(p.threads))
		p.threadOf[tid] = i
		p.threads = append(p.threads, thread{tid: tid, pid: record.None})
	}
	return i
}

func (p *Profile) event(k eventKey) uint32 {
	i, ok := p.eventOf[k]
	if !ok {
		i = uint32(len(p.events))
		p.eventOf[k] = i
		p.events = append(p.events, &event{eventKey: k})
	}
	return i
}

func (p *Profile) notice(n record.Notice) {
	if _, ok := p.noticed[n]; !ok {
		p.noticed[n] = struct{}{}
		p.notices = append(p.notices, n)
	}
}

// problem counts what the reader reports. Names and lines of the input stay out of the
// page: they are of the machine that makes it.
func (p *Profile) problem(q record.Problem) { p.trouble[q.Cause]++ }

// finish puts the events in the order in which the page offers them, those without samples
// left out, their samples by time (samples without a time last), and turns what was counted
// into notices.
func (p *Profile) finish() {
	p.events = slices.DeleteFunc(p.events, func(e *event) bool { return len(e.samples) == 0 })
	slices.SortStableFunc(p.events, func(a, b *event) int { return kindOrder(a.kind) - kindOrder(b.kind) })
	for _, e := range p.events {
		byTime := func(a, b sample) int {
			switch {
			case a.timeNS == b.timeNS:
				return 0
			case b.timeNS == record.None || a.timeNS != record.None && a.timeNS < b.timeNS:
				return -1
			}
			return 1
		}
		if !slices.IsSortedFunc(e.samples, byTime) {
			slices.SortStableFunc(e.samples, byTime)
		}
		e.total = 0
		for _, s := range e.samples {
			e.total += float64(s.weight)
		}
	}
	for _, s := range p.rss {
		slices.SortStableFunc(s.readings, func(a, b record.RSS) int { return cmp.Compare(a.TimeNS, b.TimeNS) })
	}
	p.ownNotices()
}

func kindOrder(k record.Kind) int {
	switch k {
	case record.KindCPU:
		return 0
	case "":
		return 1
	case record.KindMemory:
		return 2
	case record.KindSched:
		return 3
	}
	return 4
}

func (p *Profile) ownNotices() {
	warn := func(c record.Cause, format string, a ...any) {
		p.notice(record.Notice{Severity: record.Warning, Cause: c, Text: fmt.Sprintf(format, a...)})
	}
	if n := len(p.others); n > 0 {
		warn("", "the input holds %d profiles: this page shows the first, %s", n+1, p.id)
	}
	said := slices.ContainsFunc(p.notices, func(n record.Notice) bool { return n.Cause == record.CauseNoSamples })
	if p.dumps > 0 && len(p.events) == 0 && !said { // else vp-fold was here, and found none
		p.notice(record.Notice{
			Severity: record.Warning,
			Cause:    record.CauseNoSamples,
			Text:     "the samples are still in the raw output of perf: vp-fold turns it into stacks",
			Fix:      "vp-fold --drop dump run.ndjson | vp-metrics | vp-html -o report.html",
		})
	}
	if n := p.undefined; n > 0 {
		warn(record.CauseBadInput, "%s to frames, stacks or events that the input does not define", words.Count(n, "reference"))
	}
	causes := make([]record.Cause, 0, len(p.trouble))
	for c := range p.trouble {
		causes = append(causes, c)
	}
	slices.Sort(causes)
	for _, c := range causes {
		n := p.trouble[c]
		switch c {
		case record.CauseBadInput:
			warn(c, "%s of the input could not be read and %s left out", words.Count(n, "line"), were(n))
		case record.CauseTruncatedInput:
			warn(c, "%s without an end record: the input was cut, this page shows what came", words.Count(n, "stream"))
		default:
			warn(c, "%s of the input %s not complete", words.Count(n, "stream"), were(n))
		}
	}
	var foreign int
	for _, s := range p.rss {
		if !p.onSampleClock(s) {
			foreign += len(s.readings)
		}
	}
	if foreign > 0 {
		warn("", "%s of memory use %s taken on another clock than the samples and cannot be placed", words.Count(foreign, "reading"), were(foreign))
	}
}

func (p *Profile) onSampleClock(s *rssSeries) bool {
	return len(p.events) == 0 || s.clock == p.clock
}

func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
