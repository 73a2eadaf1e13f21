package stat

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"vperf/lib/record"
)

// Totals adds up the counts of a run: one [record.Counter] for each event and scope, over
// all intervals, or as --summary added them up itself. Of an event that was asked for twice
// the first that was counted is taken.
//
// An interval in which an event was not counted adds nothing: perf prints it where the target did
// not run. Only an event that was counted in none is missing.
type Totals struct {
	keys    map[key]int
	sums    []sum
	threads map[string]string
	endNS   int64
}

type key struct{ event, scope string }

type sum struct {
	record.Counter
	timeNS  int64 // the interval last added
	summary bool
}

// Add adds a count.
func (t *Totals) Add(c Count) {
	if t.keys == nil {
		t.keys = map[key]int{}
		t.threads = map[string]string{}
	}
	if c.Thread != "" {
		t.threads[c.Scope] = c.Thread
	}
	t.endNS = max(t.endNS, c.TimeNS)
	k := key{c.Event, c.Scope}
	i, ok := t.keys[k]
	if !ok {
		t.keys[k] = len(t.sums)
		t.sums = append(t.sums, sum{c.Counter(), c.TimeNS, c.Summary})
		return
	}
	s := &t.sums[i]
	again := sum{c.Counter(), c.TimeNS, c.Summary}
	switch {
	case s.summary != c.Summary:
		if c.Summary {
			*s = again
		}
	case s.timeNS != c.TimeNS:
		s.timeNS = c.TimeNS
		add(&s.Counter, &again.Counter)
	case s.Value == nil:
		*s = again
	}
}

// add adds the count of a further interval.
func add(sum, c *record.Counter) {
	if c.Value == nil {
		return
	}
	if sum.Value == nil {
		*sum = *c
		return
	}
	*sum.Value += *c.Value
	addInt(&sum.RunningNS, c.RunningNS)
	addInt(&sum.EnabledNS, c.EnabledNS)
	if c.Quality == record.Estimate {
		sum.Quality = record.Estimate
	}
}

func addInt(sum **int64, n *int64) {
	if *sum != nil && n != nil {
		**sum += *n
	} else {
		*sum = nil
	}
}

// Counters returns the totals in the order in which their events and scopes came first.
func (t *Totals) Counters() []record.Counter {
	counters := make([]record.Counter, len(t.sums))
	for i, s := range t.sums {
		counters[i] = s.Counter
	}
	return counters
}

// Threads returns the threads that were counted, by id.
func (t *Totals) Threads() []record.Thread {
	var threads []record.Thread
	for scope, name := range t.threads {
		if tid, err := strconv.ParseInt(strings.TrimPrefix(scope, "tid:"), 10, 64); err == nil {
			threads = append(threads, record.Thread{TID: tid, Name: name})
		}
	}
	slices.SortFunc(threads, func(a, b record.Thread) int { return cmp.Compare(a.TID, b.TID) })
	return threads
}

// EndNS returns the end of the last interval since the start of the run, 0 without -I.
func (t *Totals) EndNS() int64 { return t.endNS }
