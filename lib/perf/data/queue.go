package data

import "slices"

// A waiting record is one that waits for others with an earlier time.
type waiting struct {
	time  uint64
	chunk uint32
	at    uint32
}

// A queue puts records in the order of their times, equal ones in that in which they came.
// perf record reads one buffer after the other, so that it writes a sorted run of records
// per CPU, and a FINISHED_ROUND record behind the last of them. What was read in one round
// can be later than the beginning of the next, but not than its end: a round is complete
// when the one behind it was read.
type queue struct {
	list  []waiting
	ready int    // list[:ready] is sorted and complete
	next  int    // list[:next] was yielded
	last  uint64 // the latest time so far
	round uint64 // and what it was when the last round ended

	scratch []waiting
	runs    []int
}

func (q *queue) add(w waiting) {
	if q.next == len(q.list) {
		q.list, q.ready, q.next = q.list[:0], 0, 0
	}
	q.last = max(q.last, w.time)
	q.list = append(q.list, w)
}

func (q *queue) empty() bool { return q.next == len(q.list) }

// finishRound makes what is complete ready.
func (q *queue) finishRound() {
	q.flush(q.round)
	q.round = q.last
}

// flush makes the records up to a time ready.
func (q *queue) flush(limit uint64) {
	if q.next > 0 {
		q.list = q.list[:copy(q.list, q.list[q.next:])]
		q.next = 0
	}
	q.sort()
	q.ready = 0
	for q.ready < len(q.list) && q.list[q.ready].time <= limit {
		q.ready++
	}
}

// flushHalf makes the earlier half ready, for want of memory. Records that come later and
// belong in front of them are out of order then.
func (q *queue) flushHalf() {
	q.flush(0)
	if n := len(q.list); n > 0 {
		q.ready = (n + 1) / 2
	}
}

// pop returns the next record that is ready.
func (q *queue) pop() (w waiting, ok bool) {
	if q.next == q.ready {
		return w, false
	}
	q.next++
	return q.list[q.next-1], true
}

// sort merges the runs in which the list is sorted already.
func (q *queue) sort() {
	runs := q.runs[:0]
	for i := range q.list {
		if i == 0 || q.list[i].time < q.list[i-1].time {
			runs = append(runs, i)
		}
	}
	q.runs = runs
	if len(runs) < 2 {
		return
	}
	q.scratch = slices.Grow(q.scratch[:0], len(q.list))[:len(q.list)]
	from, to := q.list, q.scratch
	for len(runs) > 1 {
		merged := runs[:0]
		for i := 0; i < len(runs); i += 2 {
			start, middle, end := runs[i], len(from), len(from)
			if i+1 < len(runs) {
				middle = runs[i+1]
			}
			if i+2 < len(runs) {
				end = runs[i+2]
			}
			merge(to[start:end], from[start:middle], from[middle:end])
			merged = append(merged, start)
		}
		runs = merged
		from, to = to, from
	}
	q.list, q.scratch = from, to
}

// merge merges two sorted runs; of equal times those of a come first.
func merge(to, a, b []waiting) {
	for i := range to {
		if len(b) == 0 || len(a) > 0 && a[0].time <= b[0].time {
			to[i], a = a[0], a[1:]
		} else {
			to[i], b = b[0], b[1:]
		}
	}
}
