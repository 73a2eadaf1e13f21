package sched

import (
	"bytes"
	"math"
)

// A Switch is what a sched_switch tracepoint says: prev leaves a CPU and next gets it.
type Switch struct {
	PrevComm []byte
	PrevTID  int64
	State    State // in which prev leaves
	NextComm []byte
	NextTID  int64
}

// maxComm is the length of a thread's name at most (TASK_COMM_LEN, without its 0).
const maxComm = 15

// ParseSwitch reads the text of a sched_switch tracepoint, as the kernel formats it or as
// the plugin of libtraceevent does:
//
//	prev_comm=A prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=B next_pid=2 next_prio=120
//	A:1 [120] S ==> B:2 [120]
//
// Names may hold anything, " ==> " and "prev_state=" included. The parts between them are
// longer than a name, so that they cannot occur in one. In the short form they can, and
// the last place counts at which the first name is not too long.
func ParseSwitch(text []byte) (s Switch, ok bool) {
	text = bytes.TrimSpace(text)
	if rest, ok := bytes.CutPrefix(text, []byte("prev_comm=")); ok {
		return parseKeys(rest)
	}
	for at := min(maxComm, len(text)-1); at >= 0; at-- {
		if text[at] != ':' {
			continue
		}
		p := fields{b: text[at:]}
		s.PrevTID = p.id(":")
		p.int(" [")
		p.want("] ")
		s.State = ParseState(p.word())
		if p.want(" ==> "); p.failed {
			continue
		}
		next := p.b
		for i := len(next) - 1; i >= 0; i-- {
			q := fields{b: next[i:]}
			s.NextTID = q.id(":")
			q.int(" [")
			if q.want("]"); !q.failed {
				s.PrevComm, s.NextComm = text[:at], next[:i]
				return s, true
			}
		}
	}
	return Switch{}, false
}

// parseKeys reads what stands behind "prev_comm=".
func parseKeys(text []byte) (s Switch, ok bool) {
	const prevID, nextID = " prev_pid=", " next_pid="
	for at := 0; ; at++ {
		i := bytes.Index(text[at:], []byte(prevID))
		if i < 0 {
			return Switch{}, false
		}
		at += i
		p := fields{b: text[at:]}
		s.PrevTID = p.id(prevID)
		p.int(" prev_prio=")
		p.want(" prev_state=")
		s.State = ParseState(p.word())
		if p.want(" ==> next_comm="); p.failed {
			continue
		}
		next := p.b
		for end := len(next); ; {
			j := bytes.LastIndex(next[:end], []byte(nextID))
			if j < 0 {
				return Switch{}, false
			}
			q := fields{b: next[j:]}
			s.NextTID = q.id(nextID)
			q.int(" next_prio=")
			if !q.failed {
				s.PrevComm, s.NextComm = text[:at], next[:j]
				return s, true
			}
			end = j + len(nextID) - 1
		}
	}
}

// fields reads a text piece by piece, and fails once for all.
type fields struct {
	b      []byte
	failed bool
}

func (f *fields) want(text string) {
	rest, ok := bytes.CutPrefix(f.b, []byte(text))
	f.b, f.failed = rest, f.failed || !ok
}

// int reads a number behind a text. Priorities of deadline tasks are -1.
func (f *fields) int(behind string) int64 {
	f.want(behind)
	var negative bool
	f.b, negative = bytes.CutPrefix(f.b, []byte("-"))
	n, i := int64(0), 0
	for ; i < len(f.b) && f.b[i] >= '0' && f.b[i] <= '9' && n <= math.MaxInt32; i++ {
		n = n*10 + int64(f.b[i]-'0')
	}
	f.failed = f.failed || i == 0 || n > math.MaxInt32
	f.b = f.b[i:]
	if negative {
		return -n
	}
	return n
}

// id reads the number of a thread.
func (f *fields) id(behind string) int64 {
	n := f.int(behind)
	f.failed = f.failed || n < 0
	return n
}

// word reads up to the next blank.
func (f *fields) word() []byte {
	i := bytes.IndexByte(f.b, ' ')
	if i < 0 {
		i = len(f.b)
	}
	word := f.b[:i]
	f.b = f.b[i:]
	return word
}
