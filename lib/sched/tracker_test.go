package sched

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"vperf/lib/perf/recording"
	"vperf/lib/perf/script"
)

// A witness keeps what a Tracker says, and checks what always holds.
type witness struct {
	*Tracker
	t      testing.TB
	waits  []Wait
	lives  []Life
	totals *Totals
}

func newWitness(t testing.TB) *witness {
	w := &witness{Tracker: NewTracker(), t: t}
	last := map[int64]int64{}
	w.OnWait = func(x *Wait) {
		if x.DurationNS < 0 || x.StartNS < last[x.TID] || x.TID <= 0 || x.State == Ended {
			t.Errorf("wait %+v after one that ended at %d", *x, last[x.TID])
		}
		last[x.TID] = x.StartNS + x.DurationNS
		w.waits = append(w.waits, *x)
	}
	w.OnLife = func(l *Life) {
		if l.NS() != l.EndNS-l.StartNS {
			t.Errorf("life of %d ns of which %d are accounted for: %+v", l.EndNS-l.StartNS, l.NS(), *l)
		}
		if l.OnNS < 0 || l.OpenNS < 0 || l.LostNS < 0 {
			t.Errorf("less than nothing: %+v", *l)
		}
		w.lives = append(w.lives, *l)
		delete(last, l.TID) // the number may be given again, and time go backwards
	}
	return w
}

// end ends the recording and compares the sums.
func (w *witness) end() {
	w.totals = w.End()
	sum := Life{}
	for i := range w.lives {
		sum.add(&w.lives[i])
	}
	sum.StartNS, sum.EndNS = w.totals.StartNS, w.totals.EndNS
	if sum != w.totals.Life || w.totals.Threads != uint64(len(w.lives)) || sum.Waits != uint64(len(w.waits)) {
		w.t.Errorf("totals %+v, but the lives are %+v", w.totals, sum)
	}
}

// text reads what perf script printed.
func (w *witness) text(name string) {
	w.t.Helper()
	file, err := os.Open(name)
	if err != nil {
		w.t.Fatal(err)
	}
	defer file.Close()
	r := script.NewReader(file)
	r.OnTask(w.Task)
	for r.Next() {
		if s := r.Sample(); IsSwitch(s.Event) {
			w.Sample(s)
		} else if s.TimeNS != recording.None {
			w.Seen(s.TimeNS)
		}
	}
	if r.Err() != nil {
		w.t.Fatal(r.Err())
	}
	w.end()
}

// say feeds a recording in a short form: one record a word,
//
//	fork:TID@T exec:TID@T exit:TID@T in:TID@T out:TID@T preempt:TID@T PREV-STATE-NEXT@T cs:TID@T
//
// the last two being samples of the tracepoint and the counter whose stack has the number T.
func (w *witness) say(text string) {
	w.t.Helper()
	kinds := map[string]recording.TaskKind{
		"fork": recording.TaskFork, "exec": recording.TaskExec, "exit": recording.TaskExit,
		"in": recording.TaskIn, "out": recording.TaskOut, "preempt": recording.TaskPreempt,
	}
	for word := range strings.FieldsSeq(text) {
		what, rest, ok := strings.Cut(word, ":")
		if what == "cs" {
			s := recording.Sample{Event: "context-switches/period=1/", PID: recording.None, CPU: 0}
			fmt.Sscanf(rest, "%d@%d", &s.TID, &s.TimeNS)
			s.Stack = int(s.TimeNS)
			w.Sample(&s)
			continue
		}
		if ok {
			e := recording.TaskEvent{Kind: kinds[what], PID: recording.None, CPU: recording.None}
			fmt.Sscanf(rest, "%d@%d", &e.TID, &e.TimeNS)
			w.Task(&e)
			continue
		}
		s := recording.Sample{Event: Tracepoint, PID: recording.None, CPU: 0}
		var next int64
		head, at, _ := strings.Cut(word, "@")
		part := strings.Split(head, "-")
		fmt.Sscan(part[0], &s.TID)
		fmt.Sscan(part[2], &next)
		fmt.Sscan(at, &s.TimeNS)
		s.Stack = int(s.TimeNS)
		s.Payload = fmt.Appendf(nil, "prev_comm=c prev_pid=%d prev_prio=1 prev_state=%s ==> next_comm=d next_pid=%d next_prio=1", s.TID, part[1], next)
		w.Sample(&s)
	}
	w.end()
}

func (w *witness) String() string {
	var b strings.Builder
	for _, x := range w.waits {
		fmt.Fprintf(&b, "%d:%v@%d+%d", x.TID, x.State, x.StartNS, x.DurationNS)
		if x.Stack != 0 {
			fmt.Fprintf(&b, "/%d", x.Stack)
		}
		b.WriteByte(' ')
	}
	for _, l := range w.lives {
		if l.Open > 0 {
			fmt.Fprintf(&b, "%d:open-%v>=%d ", l.TID, l.OpenState, l.OpenNS)
		}
	}
	for _, c := range w.totals.Counts {
		fmt.Fprintf(&b, "%d %s; ", c.N, c.Reason)
	}
	if n := w.totals.NoStack; n > 0 && n < w.totals.Waits {
		fmt.Fprintf(&b, "%d without a stack; ", n)
	}
	if w.totals.LateSeen > 0 {
		fmt.Fprintf(&b, "%d late; ", w.totals.LateSeen)
	}
	if w.totals.LostNS > 0 {
		fmt.Fprintf(&b, "lost %d; ", w.totals.LostNS)
	}
	return strings.TrimSuffix(strings.TrimSpace(b.String()), ";")
}

func TestTracker(t *testing.T) {
	for _, c := range []struct{ name, records, want string }{
		{"nothing", "", ""},
		{"switch records", "exec:5@10 out:5@20 in:5@50 preempt:5@60 in:5@61 exit:5@70", "5:unknown@20+30 5:runnable@60+1"},
		{"from fork to the first CPU", "fork:5@10 in:5@25 exit:5@30", "5:runnable@10+15"},
		{"tracepoint, across CPUs", "5-S-0@10 0-R-5@40 5-D-6@50 6-R+-5@70 5-X-6@80", "5:sleep@10+30/10 5:blocked@50+20/50 6:runnable@70+10/70 1 late"},
		{"both", "exec:5@5 5-S-0@10 out:5@12 in:5@50 5-R-7@60 preempt:5@61 in:5@80 exit:5@90", "5:sleep@10+40/10 5:runnable@60+20/60"},
		{"both, of the whole system", "5-S-6@10 out:5@12 in:6@13 6-S-5@20 out:6@22 in:5@24 5-S-0@30 out:5@31", "5:sleep@10+10/10 5:open-sleep>=1 6:open-sleep>=11 1 late"},
		{"both, switch record first", "out:5@10 5-D-0@10 in:5@30", "5:blocked@10+20/10"},
		{"woken before it slept", "exec:5@5 5-S-0@10 preempt:5@12 in:5@50", "5:runnable@10+40/10"},
		{"unknown letter, known to be preempted", "5-K-0@10 preempt:5@12 in:5@50", "5:runnable@10+40/10"},
		{"inherited tracepoints repeat", "fork:6@5 5-S-6@10 5-S-6@10 5-S-6@10 out:5@11 5-S-6@10 in:6@12 6-D-5@20 6-D-5@20 in:5@21", "6:runnable@5+5 5:sleep@10+10/10 6:open-blocked>=1 4 repeated switches"},
		{"attached late", "in:5@10 out:5@20 in:5@30", "5:unknown@20+10 1 late"},
		{"open at the end", "out:5@10 in:6@30", "5:open-unknown>=20 1 late"},
		{"idle never waits", "0-R-5@10 out:0@11 in:0@12 5-S-0@20 0-R-5@30", "5:sleep@20+10/20 1 late"},
		{"two departures", "out:5@10 out:5@30 in:5@35", "5:unknown@30+5 1 departures that no return follows; lost 20"},
		{"two returns", "in:5@10 in:5@30 out:5@40", "5:open-unknown>=0 1 returns that no departure precedes; 1 late; lost 20"},
		{"two returns from two sources, far apart", "out:5@1 7-S-5@10 in:5@20000010", "5:unknown@1+9 7:open-sleep>=20000000 1 returns that no departure precedes; lost 20000000"},
		{"two departures from two sources, far apart", "5-S-0@10 out:5@20000010 in:5@20000020", "5:unknown@20000010+10 1 departures that no return follows; lost 20000000"},
		{"exit off the CPU", "out:5@10 exit:5@30", "1 departures that no return follows; lost 20"},
		{"time going backwards", "out:5@30 in:5@20 in:5@40", "5:unknown@30+10 1 switches out of order"},
		{"after the exit", "exec:5@5 exit:5@10 5-X-0@12 out:5@13 6-S-5@14", "6:open-sleep>=0 2 switches of threads that had ended"},
		{"a number used again", "exec:5@5 exit:5@10 fork:5@20 in:5@30 exit:5@40", "5:runnable@20+10"},
		{"a number used again, exit lost", "exec:5@5 out:5@10 fork:5@20 in:5@30", "5:runnable@20+10 1 threads that were made before they ended"},
		{"a number used again, without a fork", "5-S-6@10 6-X-5@20 out:6@21 5-Z-0@30 0-R-6@20000030 6-D-0@20000040 0-R-6@20000050", "5:sleep@10+10/10 6:blocked@20000040+10/20000040 1 switches of threads that had ended; 2 late"},
		{"the last switch after the exit, then another of that number", "exec:5@5 exit:5@10 5-R-0@12 0-R-5@15 5-X-0@20 5-X-0@20 0-R-5@20000030 5-D-0@20000040 0-R-5@20000050", "5:blocked@20000040+10/20000040 3 switches of threads that had ended; 1 late"},
		{"fork before the exit that precedes it", "exec:5@5 exit:5@10 fork:5@8 in:5@9", "1 switches out of order; 1 switches of threads that had ended"},
		{"fork told twice", "fork:5@20 fork:5@20 in:5@30", "5:runnable@20+10 1 repeated switches"},
		{"successors that are not recorded", "5-S-9@10 in:5@50 5-S-9@60 in:5@70 5-S-9@80 in:5@90", "5:sleep@10+40/10 5:sleep@60+10/60 5:sleep@80+10/80"},
		{"a successor that only exits", "5-S-9@10 exit:9@30", "5:open-sleep>=20 1 late"},
		{"returns of one process are not seen", "exec:5@1 5-S-0@10 5-S-0@50 5-D-0@90 exit:5@95", "3 departures that no return follows; lost 85"},
		{"stacks of the counter", "exec:5@10 cs:5@20 out:5@21 in:5@30 preempt:5@40 in:5@50 cs:5@60 5-S-0@61 out:5@62 in:5@70 cs:5@80 out:5@20000080 in:5@20000090 exit:5@20000100 cs:5@20000101", "5:unknown@21+9/20 5:runnable@40+10 5:sleep@61+9/61 5:unknown@20000080+10 2 without a stack"},
		{"the counter alone", "cs:5@10 cs:6@20 cs:5@30", ""},
		{"no state", "5--0@10", "5:open-unknown>=0"},
	} {
		w := newWitness(t)
		w.say(c.records)
		if got := w.String(); got != c.want {
			t.Errorf("%s:\nhave %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestUntimed(t *testing.T) {
	w := newWitness(t)
	w.Task(&recording.TaskEvent{Kind: recording.TaskFork, TID: 7, PID: 3})
	w.Task(&recording.TaskEvent{Kind: recording.TaskIn, TID: 7, PID: recording.None, TimeNS: recording.None})
	w.Sample(&recording.Sample{TimeNS: recording.None})
	w.Sample(&recording.Sample{TimeNS: 5, TID: 7, Payload: []byte("comm=a pid=7")})
	w.Task(&recording.TaskEvent{Kind: recording.TaskOut, TID: 7, PID: recording.None, TimeNS: 9})
	w.end()
	if w.totals.N(Untimed) != 2 || w.totals.N(Unread) != 1 || len(w.lives) != 1 || w.lives[0].PID != 3 {
		t.Errorf("%+v %+v", w.totals, w.lives)
	}
}

// TestNamespace has threads whose numbers differ in the tracepoint, which knows only those
// of the first pid namespace.
func TestNamespace(t *testing.T) {
	w := newWitness(t)
	sample := func(at, tid int64, payload string) {
		w.Sample(&recording.Sample{TimeNS: at, TID: tid, PID: 1, CPU: recording.None, Payload: []byte(payload)})
	}
	sample(10, 2, "a:1002 [1] S ==> b:1003 [1]")
	w.Task(&recording.TaskEvent{Kind: recording.TaskIn, TID: 3, PID: 1, TimeNS: 11})
	sample(20, 3, "b:1003 [1] D ==> a:1002 [1]")
	sample(30, 2, "a:1002 [1] S ==> b:1003 [1]")
	w.end()
	if got, want := w.String(), "2:sleep@10+10 3:blocked@20+10 2:open-sleep>=0 1 without a stack; 1 late"; got != want {
		t.Errorf("have %s, want %s", got, want)
	}
}

// TestPairs has threads that return on another CPU, are preempted, end, and are idle.
func TestPairs(t *testing.T) {
	w := newWitness(t)
	w.text("../perf/script/testdata/switch-pairs/input.txt")
	const want = "100:sleep@10000000000+50000000/1 100:runnable@10060000000+1000000/3 200:sleep@10061000000+100000000/1 100:open-blocked>=100000000 1 late"
	if got := w.String(); got != want {
		t.Errorf("have %s\nwant %s", got, want)
	}
	if w.waits[2].Comm != "B w" || w.waits[0].CPU != 0 || w.totals.EndNS != 10_200_000_000 {
		t.Errorf("%+v", w)
	}
}

// TestNames reads switches of threads whose names look like parts of the text.
func TestNames(t *testing.T) {
	var expected struct {
		Switches []struct {
			PrevComm string `json:"prev_comm"`
			PrevPID  int64  `json:"prev_pid"`
			Class    string
			NextComm string `json:"next_comm"`
			NextPID  int64  `json:"next_pid"`
		}
	}
	data, err := os.ReadFile("../perf/script/testdata/switch-states/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	states := map[string]State{
		"sleep": Sleep, "idle-kernel-thread": Sleep, "disk-or-uninterruptible": Blocked, "killable": Blocked,
		"preempted": Runnable, "runnable": Runnable, "parked": Stopped, "stopped": Stopped, "traced": Stopped,
		"dead": Ended, "zombie": Ended, "other": Unknown,
	}
	file, err := os.Open("../perf/script/testdata/switch-states/input.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := script.NewReader(file)
	n := 0
	for ; r.Next(); n++ {
		s, ok := ParseSwitch(r.Sample().Payload)
		if !ok || n >= len(expected.Switches) {
			t.Fatalf("%q", r.Sample().Payload)
		}
		want := expected.Switches[n]
		if string(s.PrevComm) != want.PrevComm || s.PrevTID != want.PrevPID || string(s.NextComm) != want.NextComm || s.NextTID != want.NextPID {
			t.Errorf("%q %d %q %d, want %+v", s.PrevComm, s.PrevTID, s.NextComm, s.NextTID, want)
		}
		if state, ok := states[want.Class]; !ok || s.State != state {
			t.Errorf("%s: %v, want %s", s.PrevComm, s.State, want.Class)
		}
	}
	if n != len(expected.Switches) || n != 16 {
		t.Errorf("%d switches", n)
	}
}

// FuzzTracker makes records of bytes, four each.
func FuzzTracker(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x01\x01\x01\x09\x06\x01\x02\x05"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := newWitness(t)
		at := int64(100)
		for ; len(data) >= 4; data = data[4:] {
			at += int64(int8(data[3])) << (data[0] >> 4)
			if kind := recording.TaskKind(data[0] & 7); kind <= recording.TaskExit {
				w.Task(&recording.TaskEvent{Kind: kind, TID: int64(data[1]&7) - 1, PID: int64(data[2]), CPU: recording.None, TimeNS: at})
				continue
			}
			states := []string{"S", "D", "R", "R+", "T", "X", "?", "Z"}
			s := recording.Sample{TID: int64(data[1]&7) - 1, TimeNS: at, Payload: fmt.Appendf(nil, "a:%d [1] %s ==> b:%d [1]", data[1]>>3&7, states[data[2]&7], data[2]>>3&7)}
			if data[0]&7 == 6 {
				s.Event, s.Stack = Counter, 1
			}
			w.Sample(&s)
		}
		w.end()
	})
}
