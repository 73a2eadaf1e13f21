package sched

import (
	"strings"
	"testing"
)

func TestParseState(t *testing.T) {
	for want, texts := range map[State]string{
		Runnable: "R R+ S+ 0 0x0",
		Sleep:    "S S|K S|W S|K|W S|N I 1 0x1",
		Blocked:  "D D|K D|W D|K|W 2 0x2",
		Stopped:  "T t P 4 8 0x8",
		Ended:    "X Z x 16 32 0x20",
		Unknown:  "K W N R|K T|K S|Q D| |D D|KW SK Q ? 0x402 130 64 256 0x 1x -",
	} {
		for text := range strings.FieldsSeq(texts) {
			if got := ParseState([]byte(text)); got != want {
				t.Errorf("%q is %v, want %v", text, got, want)
			}
		}
	}
	if got := ParseState(nil); got != Unknown {
		t.Errorf("nothing is %v", got)
	}
	if got := State(200).String(); got != "unknown" {
		t.Error(got)
	}
}

func TestParseSwitch(t *testing.T) {
	for _, c := range []struct {
		text       string
		prev       string
		prevTID    int64
		state      State
		next       string
		nextTID    int64
		unreadable bool
	}{
		{text: "prev_comm=A prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=B next_pid=2 next_prio=120", prev: "A", prevTID: 1, state: Sleep, next: "B", nextTID: 2},
		{text: "prev_comm= ==> next_comm= prev_pid=1 prev_prio=-1 prev_state=D|K ==> next_comm= next_pid=9  next_pid=2 next_prio=0 expeller=7\r", prev: " ==> next_comm=", prevTID: 1, state: Blocked, next: " next_pid=9 ", nextTID: 2},
		{text: "prev_comm= prev_pid=7 pr prev_pid=1 prev_prio=120 prev_state=R+ ==> next_comm=x prev_state=D next_pid=902 next_prio=120", prev: " prev_pid=7 pr", prevTID: 1, state: Runnable, next: "x prev_state=D", nextTID: 902},
		{text: "prev_comm= prev_pid=1 prev_prio=120 prev_state=Q ==> next_comm= next_pid=2 next_prio=120", prevTID: 1, state: Unknown, nextTID: 2},
		{text: "sleep:20919 [120] S ==> swapper/1:0 [120]", prev: "sleep", prevTID: 20919, state: Sleep, next: "swapper/1", nextTID: 0},
		{text: "a:1 [1] S ==> :77 [-1] D|W ==> kworker/0:1H:5 [120]", prev: "a:1 [1] S ==> ", prevTID: 77, state: Blocked, next: "kworker/0:1H", nextTID: 5},
		{text: ":3 [120] t ==> a: b [1]:5 [1]", prevTID: 3, state: Stopped, next: "a: b [1]", nextTID: 5},
		{text: "", unreadable: true},
		{text: ":", unreadable: true},
		{text: "prev_comm=A", unreadable: true},
		{text: "prev_comm=A prev_pid=1 prev_prio=120 prev_state=S", unreadable: true},
		{text: "prev_comm=A prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=B next_pid=2", unreadable: true},
		{text: "prev_comm=A prev_pid=-1 prev_prio=120 prev_state=S ==> next_comm=B next_pid=2 next_prio=1", unreadable: true},
		{text: "prev_comm=A prev_pid=99999999999 prev_prio=120 prev_state=S ==> next_comm=B next_pid=2 next_prio=1", unreadable: true},
		{text: "a name too long for Linux:1 [120] S ==> b:2 [120]", unreadable: true},
		{text: "a:1 [120] S ==> b", unreadable: true},
		{text: "comm=a pid=1 prio=120", unreadable: true},
	} {
		s, ok := ParseSwitch([]byte(c.text))
		if ok == c.unreadable {
			t.Errorf("%q: ok is %v", c.text, ok)
		} else if ok && (string(s.PrevComm) != c.prev || s.PrevTID != c.prevTID || s.State != c.state || string(s.NextComm) != c.next || s.NextTID != c.nextTID) {
			t.Errorf("%q: %q %d %v %q %d", c.text, s.PrevComm, s.PrevTID, s.State, s.NextComm, s.NextTID)
		}
	}
}

func FuzzParseSwitch(f *testing.F) {
	f.Add([]byte("prev_comm=A prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=B next_pid=2 next_prio=120"))
	f.Add([]byte("a:1 [1] S ==> :77 [-1] D|W ==> kworker/0:1H:5 [120]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, ok := ParseSwitch(text)
		if ok && (s.PrevTID < 0 || s.NextTID < 0 || s.State >= NumStates || len(s.PrevComm)+len(s.NextComm) > len(text)) {
			t.Errorf("%+v", s)
		}
	})
}
