package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
)

// gathered is a sample with its frames, for comparison.
type gathered struct {
	recording.Sample
	frames []record.Frame // leaf first
	trace  string
}

func gather(t testing.TB, r *Reader) []gathered {
	t.Helper()
	var all []gathered
	for r.Next() {
		s := r.Sample()
		g := gathered{Sample: *s, trace: string(s.Payload)}
		g.Payload = nil
		if s.Stack != 0 {
			for _, i := range r.Stack(s.Stack) {
				g.frames = append(g.frames, *r.Frame(i))
			}
		}
		all = append(all, g)
	}
	return all
}

func gatherText(t testing.TB, text string) ([]gathered, *Reader) {
	t.Helper()
	r := NewReader(strings.NewReader(text))
	all := gather(t, r)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return all, r
}

// expected is what testdata/*/expected.json says of a sample. What it leaves out is not
// compared.
type expected struct {
	Comm   *string  `json:"comm"`
	PID    *int64   `json:"pid"`
	TID    *int64   `json:"tid"`
	CPU    *int64   `json:"cpu"`
	Time   *float64 `json:"time"`
	Event  *string  `json:"event"`
	Period *uint64  `json:"period"`
	Weight *uint64  `json:"weight"`
	Trace  *string  `json:"trace"`
	Count  *int     `json:"frames"`
	Frames []struct {
		Sym     string
		Dso     string
		Inlined bool
	} `json:"frames_leaf_first"`
}

func (e *expected) check(t *testing.T, g *gathered) {
	t.Helper()
	if e.Comm != nil && *e.Comm != g.Comm {
		t.Errorf("comm %q, want %q", g.Comm, *e.Comm)
	}
	if e.Event != nil && *e.Event != g.Event {
		t.Errorf("event %q, want %q", g.Event, *e.Event)
	}
	for _, n := range []struct {
		name string
		want *int64
		got  int64
	}{{"pid", e.PID, g.PID}, {"tid", e.TID, g.TID}, {"cpu", e.CPU, g.CPU}} {
		if n.want != nil && *n.want != n.got {
			t.Errorf("%s %d, want %d", n.name, n.got, *n.want)
		}
	}
	if e.Time != nil && int64(math.Round(*e.Time*1e9)) != g.TimeNS {
		t.Errorf("time %d, want %v s", g.TimeNS, *e.Time)
	}
	for _, want := range []*uint64{e.Period, e.Weight} {
		if want != nil && *want != g.Weight {
			t.Errorf("weight %d, want %d", g.Weight, *want)
		}
	}
	if e.Trace != nil && *e.Trace != g.trace {
		t.Errorf("payload %q, want %q", g.trace, *e.Trace)
	}
	if e.Count != nil && *e.Count != len(g.frames) {
		t.Errorf("%d frames, want %d", len(g.frames), *e.Count)
	}
	if e.Frames == nil {
		return
	}
	// A chain of Java frames is one line of the text.
	var lines []record.Frame
	for i, f := range g.frames {
		if i > 0 && g.frames[i-1].Inlined && g.frames[i-1].Module != "" {
			lines[len(lines)-1] = record.Frame{Symbol: f.Symbol + "->" + lines[len(lines)-1].Symbol, Module: f.Module}
			continue
		}
		lines = append(lines, f)
	}
	if len(lines) != len(e.Frames) {
		t.Fatalf("%d frames, want %d: %v", len(lines), len(e.Frames), g.frames)
	}
	for i, want := range e.Frames {
		if want.Sym == "[unknown]" {
			want.Sym = ""
		}
		if f := lines[i]; f.Symbol != want.Sym || f.Module != want.Dso || f.Inlined != want.Inlined {
			t.Errorf("frame %d: %q in %q, inlined %v; want %+v", i, f.Symbol, f.Module, f.Inlined, want)
		}
	}
}

func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*/expected.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		var want struct {
			Samples json.RawMessage
			Period  *uint64 `json:"period"`
			Total   *uint64 `json:"total_period"`
			ByEvent map[string]json.RawMessage
			Event   map[string]json.RawMessage `json:"by_event"`
			Foreign *uint64                    `json:"skipped_nonblank_lines"`
			Lost    *uint64                    `json:"lost_chunks_reported"`
			Errors  *uint64                    `json:"trace_errors"`
			Header  struct {
				PerfVersion string `json:"perf_version"`
			} `json:"header"`
		}
		dir := filepath.Dir(file)
		readJSON(t, file, &want)
		if want.Samples == nil && want.Event == nil {
			continue // of a test of its own
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			in, err := os.Open(filepath.Join(dir, "input.txt"))
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			r := NewReader(in)
			got := gather(t, r)
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
			var list []expected
			var count int
			switch {
			case want.Samples == nil:
				count = len(got)
			case json.Unmarshal(want.Samples, &list) == nil:
				count = len(list)
			default:
				if err := json.Unmarshal(want.Samples, &count); err != nil {
					t.Fatal(err)
				}
			}
			if len(got) != count {
				t.Fatalf("%d samples, want %d", len(got), count)
			}
			for i := range list {
				list[i].check(t, &got[i])
			}
			total, byEvent := uint64(0), map[string]uint64{}
			for _, g := range got {
				total += g.Weight
				byEvent[g.Event] += g.Weight
			}
			for _, p := range []*uint64{want.Period, want.Total} {
				if p != nil && *p != total {
					t.Errorf("weight of all samples %d, want %d", total, *p)
				}
			}
			if want.Event != nil && len(want.Event) != len(byEvent) {
				t.Errorf("events %v, want %d", byEvent, len(want.Event))
			}
			for name, raw := range want.Event {
				var sum struct{ Period uint64 }
				if json.Unmarshal(raw, &sum.Period) != nil {
					json.Unmarshal(raw, &sum)
				}
				if byEvent[name] != sum.Period {
					t.Errorf("event %s weighs %d, want %d", name, byEvent[name], sum.Period)
				}
			}
			for _, n := range []struct {
				reason recording.Reason
				want   *uint64
			}{{recording.Foreign, want.Foreign}, {recording.LostChunks, want.Lost}, {recording.TraceError, want.Errors}} {
				if w := orZero(n.want); r.Tally().N(n.reason) != w {
					t.Errorf("%d %s, want %d", r.Tally().N(n.reason), n.reason, w)
				}
			}
			for _, never := range []recording.Reason{recording.BadFrame, recording.StrayFrame, recording.Cut} {
				if n := r.Tally().N(never); n != 0 {
					t.Errorf("%d %s", n, never)
				}
			}
			if v := r.Header()["perf version"]; v != want.Header.PerfVersion {
				t.Errorf("header: perf version %q, want %q", v, want.Header.PerfVersion)
			}
		})
	}
}

func orZero(p *uint64) uint64 {
	if p == nil {
		return 0
	}
	return *p
}

func readJSON(t *testing.T, file string, to any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestEndOfFile(t *testing.T) {
	for name, want := range map[string]struct {
		samples, weight int
		cut             bool
	}{
		"no-final-blank":   {2, 20, false},
		"no-final-newline": {2, 20, false},
		"cut-mid-frame":    {1, 10, true},
		"head-only":        {1, 10, true},
		"empty":            {0, 0, false},
		"only-header":      {0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile("testdata/end-of-file/input." + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			got, r := gatherText(t, string(text))
			weight := uint64(0)
			for _, g := range got {
				weight += g.Weight
				if len(g.frames) != 3 {
					t.Errorf("a sample of %d frames came through, want 3", len(g.frames))
				}
			}
			cut := uint64(0)
			if want.cut {
				cut = 1
			}
			if len(got) != want.samples || weight != uint64(want.weight) || r.Tally().Cut != want.cut || r.Tally().N(recording.Cut) != cut {
				t.Errorf("%d samples weigh %d, cut %v; want %+v", len(got), weight, r.Tally().Cut, want)
			}
		})
	}
}

// TestCutAnywhere ends a text after each of its bytes. Samples are whole or counted as
// cut, and none is lost without a word.
func TestCutAnywhere(t *testing.T) {
	text := "# comment\n" +
		"app  9600    60.000000:         10 cycles: \n\t          401136 work+0x26 (/opt/app)\n\t          401196 main+0x16 (/opt/app)\n\n" +
		"app  9600    60.100000:         10 cycles: \n\t          401136 work+0x26 (/opt/app)\n\t          401196 main+0x16 (/opt/app)\n\n"
	second := strings.LastIndex(text, "cycles: ") + len("cycles:")
	frame2 := strings.LastIndex(text, "\t")
	for n := range len(text) {
		got, r := gatherText(t, text[:n])
		seen := 0
		if n > strings.Index(text, "cycles:")+6 {
			seen++
		}
		if n >= second {
			seen++
		}
		if have := len(got) + int(r.Tally().N(recording.Cut)); have != seen {
			t.Errorf("after %d bytes: %d samples and %d cut, but %d began", n, len(got), r.Tally().N(recording.Cut), seen)
		}
		for _, g := range got {
			for _, f := range g.frames {
				if f.Module != "/opt/app" || f.Symbol != "work" && f.Symbol != "main" {
					t.Errorf("after %d bytes: frame %+v", n, f)
				}
			}
			if len(g.frames) < 2 && n > frame2 {
				t.Errorf("after %d bytes: a sample of %d frames", n, len(g.frames))
			}
		}
	}
}

func TestWindows(t *testing.T) {
	for _, name := range []string{"input.txt", "input.bom.txt"} {
		in, err := os.ReadFile("testdata/windows/" + name)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := gatherText(t, string(in))
		if len(got) != 2 || got[0].Comm != "app" || got[1].Weight != 10 {
			t.Fatalf("%s: %v", name, got)
		}
		if f := got[0].frames; len(f) != 3 || f[2].Symbol != "__libc_start_call_main" || strings.ContainsAny(fmt.Sprint(got), "\r\ufeff") {
			t.Errorf("%s: frames %v", name, f)
		}
	}
	in, err := os.ReadFile("testdata/windows/input.utf16le.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(in), string(in[2:]), "\xfe\xff\x00a\x00p"} {
		r := NewReader(strings.NewReader(text))
		if r.Next() || !errors.Is(r.Err(), ErrUTF16) {
			t.Errorf("%.4q: %v, want %v", text, r.Err(), ErrUTF16)
		}
	}
}

func TestNotPerfScript(t *testing.T) {
	for text, want := range map[string]error{
		"# tracer: nop\n#\n            bash-4500    [001] d..2.    12.800000: sched_switch: prev_comm=bash prev_pid=4500\n": ErrFtrace,
		"\x7fELF\x02\x01\x01\x00\x00\x00\x00": ErrBinary,
		"some other\ntext entirely\n":         nil,
	} {
		r := NewReader(strings.NewReader(text))
		if r.Next() || !errors.Is(r.Err(), want) {
			t.Errorf("%.20q: %v, want %v", text, r.Err(), want)
		}
	}
}

// TestSwitches checks that the payload of a tracepoint arrives whole: names of threads in
// it hold blanks, arrows and what looks like fields.
func TestSwitches(t *testing.T) {
	var want struct {
		Switches []struct {
			PrevComm  string `json:"prev_comm"`
			PrevPID   int64  `json:"prev_pid"`
			PrevState string `json:"prev_state"`
			NextComm  string `json:"next_comm"`
			NextPID   int64  `json:"next_pid"`
		}
	}
	readJSON(t, "testdata/switch-states/expected.json", &want)
	text, err := os.ReadFile("testdata/switch-states/input.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, r := gatherText(t, string(text))
	if len(got) != len(want.Switches) || len(r.Tally().Counts) != 0 {
		t.Fatalf("%d switches, want %d; %v", len(got), len(want.Switches), r.Tally().Counts)
	}
	for i, w := range want.Switches {
		g := got[i]
		payload := fmt.Sprintf("prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120",
			w.PrevComm, w.PrevPID, w.PrevState, w.NextComm, w.NextPID)
		if w.PrevPID == 0 {
			w.PrevComm = "swapper"
		}
		if g.trace != payload || g.Comm != w.PrevComm || g.TID != w.PrevPID || g.Event != "sched:sched_switch" || g.Weight != 1 || len(g.frames) != 1 {
			t.Errorf("switch %d: %+v, want %s", i, g, payload)
		}
	}
	text, err = os.ReadFile("testdata/switch-pairs/input.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, _ = gatherText(t, string(text))
	if len(got) != 8 || got[6].Comm != ":-1" || got[6].TID != recording.None || got[0].TimeNS != 10_000_000_000 {
		t.Errorf("switch-pairs: %+v", got)
	}
}

func TestHeads(t *testing.T) {
	const none = recording.None
	for _, c := range []struct {
		line string
		want recording.Sample
	}{
		{"app 7/8 [012] 1.000000001: 5 cycles:u: ", recording.Sample{Comm: "app", PID: 7, TID: 8, CPU: 12, TimeNS: 1_000_000_001, Weight: 5, Event: "cycles:u"}},
		{"app 8 1.5: cycles: ", recording.Sample{Comm: "app", PID: none, TID: 8, CPU: none, TimeNS: 1_500_000_000, Weight: 1, Event: "cycles"}},
		{"  leading 8 1.5: cycles:", recording.Sample{Comm: "leading", PID: none, TID: 8, CPU: none, TimeNS: 1_500_000_000, Weight: 1, Event: "cycles"}},
		{"# hash 8 1.5: cycles:", recording.Sample{Comm: "# hash", PID: none, TID: 8, CPU: none, TimeNS: 1_500_000_000, Weight: 1, Event: "cycles"}},
		{":-1 -1/-1 1.5: 2 cycles:", recording.Sample{Comm: ":-1", PID: none, TID: none, CPU: none, TimeNS: 1_500_000_000, Weight: 2, Event: "cycles"}},
		{":8 8/8 1.5: 2 cycles:", recording.Sample{Comm: ":8", PID: 8, TID: 8, CPU: none, TimeNS: 1_500_000_000, Weight: 2, Event: "cycles"}},
		{"7/8 1.123456789: 1 cycles:u: ", recording.Sample{PID: 7, TID: 8, CPU: none, TimeNS: 1_123_456_789, Weight: 1, Event: "cycles:u"}},
		{"app 8 [001] U     1.5: 3 cycles: ", recording.Sample{Comm: "app", PID: none, TID: 8, CPU: 1, TimeNS: 1_500_000_000, Weight: 3, Event: "cycles"}},
		{"app\t7/8\t\t[000] 0.5:\t\t\t1 cpu_clock:", recording.Sample{Comm: "app", PID: 7, TID: 8, CPU: 0, TimeNS: 500_000_000, Weight: 1, Event: "cpu_clock"}},
		{"tomcat 20117 cycles: ", recording.Sample{Comm: "tomcat", PID: none, TID: 20117, CPU: none, TimeNS: none, Weight: 1, Event: "cycles"}},
		{"tomcat 20117 250000 cycles:u: ", recording.Sample{Comm: "tomcat", PID: none, TID: 20117, CPU: none, TimeNS: none, Weight: 250000, Event: "cycles:u"}},
		{"tomcat 20117 [003] 250000 cycles:u: ", recording.Sample{Comm: "tomcat", PID: none, TID: 20117, CPU: 3, TimeNS: none, Weight: 250000, Event: "cycles:u"}},
		{"x: y 4201 cycles: ", recording.Sample{Comm: "x: y", PID: none, TID: 4201, CPU: none, TimeNS: none, Weight: 1, Event: "cycles"}},
		{"1.5: cycles: ", recording.Sample{PID: none, TID: none, CPU: none, TimeNS: 1_500_000_000, Weight: 1, Event: "cycles"}},
		{"app 8 1.5: 18446744073709551600 cycles: ", recording.Sample{Comm: "app", PID: none, TID: 8, CPU: none, TimeNS: 1_500_000_000, Weight: 18446744073709551600, Event: "cycles"}},
		{"t\xff 8 1.5: cycles:", recording.Sample{Comm: "t\ufffd", PID: none, TID: 8, CPU: none, TimeNS: 1_500_000_000, Weight: 1, Event: "cycles"}},
	} {
		got, _ := gatherText(t, c.line+"\n\n")
		c.want.Place = 1
		if len(got) != 1 {
			t.Errorf("%q: %d samples", c.line, len(got))
			continue
		}
		if g := got[0]; fmt.Sprint(g.Sample) != fmt.Sprint(c.want) || g.frames != nil {
			t.Errorf("%q:\n got %+v\nwant %+v", c.line, g.Sample, c.want)
		}
	}
}

func TestNoHeads(t *testing.T) {
	for _, line := range []string{
		"Warning:",
		"Processed 1500 events and lost 3 chunks!",
		"[ perf record: Captured and wrote 0.078 MB perf.data (474 samples) ]",
		"failed to read 5 foo: bar",
		"app 8 1.5: no event here",
		"app 8 1.5: : ",
		"app 8 99999999999.5: cycles: ",
		"kernel: [ 12.500000] usb 1-1: new device",
		"1.5: 2.5: ",
	} {
		got, r := gatherText(t, line+"\n\n")
		if len(got) != 0 || r.Tally().N(recording.Foreign) != 1 {
			t.Errorf("%q: %d samples, %v", line, len(got), r.Tally().Counts)
		}
	}
}

func TestOneLineFrames(t *testing.T) {
	for _, c := range []struct{ line, symbol, module, payload string }{
		{"  ls 9 1.5: 1 cycles:  ffffffff9b201293 [unknown] ([unknown])", "", "", ""},
		{
			"  ls 9 1.5: 636 cpu/mem-loads/pp:     7ffe7a3307d8        68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A                7     7f56ff584f80 f (/lib/ld.so)",
			"f", "/lib/ld.so", "7ffe7a3307d8        68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A                7",
		},
		{
			"7/9 1.5:                            1   branches:uH:   tr strt                             0 [unknown] (foo.so) =>           404bf2 runtime.chanrecv+0x372 (foo.so)",
			"", "foo.so", "  tr strt",
		},
		{"7/9 1.5: 1 branches:uH:   jcc                            404c03 recv+0x383 (foo.so) =>           404c0d recv+0x38d (foo.so)", "recv", "foo.so", "  jcc"},
		{" Ded 9 1.5:  instructions:uH:          1085b67a 0x1085ab3a/0x1085b598/P/-/-/0/  0x110c5520/0x1085ab36/P/-/-/0/", "", "", ""},
		{
			" fio 9 [021] 1.5:          1    block:block_rq_issue: 259,76 R 4096 () 57622160 + 8 [fio] ffffffff8beead90 blk_mq_start ([kernel.kallsyms])",
			"blk_mq_start", "[kernel.kallsyms]", "259,76 R 4096 () 57622160 + 8 [fio]",
		},
	} {
		got, r := gatherText(t, c.line+"\n"+c.line+"\n")
		if len(got) != 2 || len(got[1].frames) != 1 || len(r.Tally().Counts) != 0 {
			t.Errorf("%q: %v %v", c.line, got, r.Tally().Counts)
			continue
		}
		if f := got[1].frames[0]; f.Symbol != c.symbol || f.Module != c.module || strings.TrimSpace(got[1].trace) != strings.TrimSpace(c.payload) {
			t.Errorf("%q: %+v %q", c.line, f, got[1].trace)
		}
	}
}

// TestOtherRecords has the records that --show-mmap-events and the like mix in.
func TestOtherRecords(t *testing.T) {
	const text = "swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x120bb08) @ 0xffffffff81000000]: x [kernel.kallsyms]_text\n" +
		"perf-exec     0     0.000000: PERF_RECORD_COMM: perf-exec:15303/15303\n" +
		"sleep 15303   959.739669: PERF_RECORD_COMM exec: sleep:15303/15303\n" +
		"app 9 1.500000: 10 cycles: \n\t          401136 work+0x26 (/opt/app)\n\n" +
		"app 9 1.600000: PERF_RECORD_LOST lost 12\n" +
		"app 9 1.600000: PERF_RECORD_NAMESPACES 9/9 - nr_namespaces: 7\n\t\t[0/net: 3/0xf0000081, 1/uts: 3/0xeffffffe, 2/ipc: 3/0xefffffff\n" +
		"app 9 1.700000: PERF_RECORD_SWITCH_CPU_WIDE OUT          next pid/tid:     0/0    \n" +
		"app 9 1.800000: 10 cycles: \n\t          401136 work+0x26 (/opt/app)\n" +
		"app 9 1.900000: PERF_RECORD_EXIT(9:9):(9:9)\n" +
		"app 9 2.000000: 10 cycles: \n\t          401136 work+0x26 (/opt/app)\n\n"
	got, r := gatherText(t, text)
	if len(got) != 3 {
		t.Fatalf("%d samples, want 3", len(got))
	}
	for _, g := range got {
		if len(g.frames) != 1 || g.Event != "cycles" {
			t.Errorf("%+v", g)
		}
	}
	tally := r.Tally()
	if tally.N(recording.Lost) != 12 || tally.N(recording.Other) != 6 || len(tally.Counts) != 2 {
		t.Errorf("%+v", tally.Counts)
	}
}

func TestSourceLines(t *testing.T) {
	const text = "app 9 1.500000: 10 cycles: \n" +
		"\t          401136 inl+0x26\n  a b.h:7 (inlined)\n" +
		"\t          401136 work+0x26 (/opt/app)\n  main.c:12 (discriminator 3)\n" +
		"\t          401196 main+0x16 (/opt/app)\n  ??:0\n" +
		"\t           2724a start+0x7a (/lib/libc.so.6)\n  libc.so.6[2724a]\n\n"
	got, r := gatherText(t, text+text)
	want := []record.Frame{
		{Symbol: "inl", File: "a b.h", Line: 7, Inlined: true},
		{Symbol: "work", Module: "/opt/app", Kind: record.KindUser, File: "main.c", Line: 12},
		{Symbol: "main", Module: "/opt/app", Kind: record.KindUser},
		{Symbol: "start", Module: "/lib/libc.so.6", Kind: record.KindUser},
	}
	if len(got) != 2 || got[0].Stack != got[1].Stack || len(got[1].frames) != len(want) || len(r.Tally().Counts) != 0 {
		t.Fatalf("%+v %v", got, r.Tally().Counts)
	}
	for i, f := range got[1].frames {
		f.ID = 0
		if f != want[i] {
			t.Errorf("frame %d: %+v, want %+v", i, f, want[i])
		}
	}
}

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		module  string
		address uint64
		want    record.FrameKind
	}{
		{"[kernel.kallsyms]", 0xffffffff81000000, record.KindKernel},
		{"[guest.kernel.kallsyms]", 0, record.KindKernel},
		{"[nf_tables]", 0xffffffffc0000000, record.KindKernel},
		{"/lib/modules/4.1.0/build/vmlinux", 0x414b3b, record.KindKernel},
		{"/usr/lib/debug/boot/vmlinux-6.1", 0x414b3b, record.KindKernel},
		{"/lib/modules/6.1/kernel/fs/ext4.ko.xz", 0x14, record.KindKernel},
		{"bpf_prog_6deef7357e7b4530", 0xffffffffc0001000, record.KindKernel},
		{"[vdso]", 0x7ffe00000a10, record.KindUser},
		{"[vsyscall]", 0xffffffffff600000, record.KindUser},
		{"[heap]", 0x1000, record.KindUser},
		{"//anon", 0x1000, record.KindUser},
		{"/opt/app (deleted)", 0x1000, record.KindUser},
		{"", 0xffffffff81000000, record.KindKernel},
		{"", 0x7f0000000000, record.KindUnknown},
		{"", 0xfffd8118e8240489, record.KindUnknown},
	} {
		if got := kindOf(c.module, c.address); got != c.want {
			t.Errorf("kindOf(%q, %#x) = %q, want %q", c.module, c.address, got, c.want)
		}
	}
}

func TestFrameLines(t *testing.T) {
	for _, c := range []struct {
		line           string
		symbol, module string
		inlined, whole bool
		address        uint64
		notAFrameAtAll bool
	}{
		{line: "\t401136 f+0x26 (/opt/a b (c) (deleted))", symbol: "f", module: "/opt/a b (c) (deleted)", whole: true, address: 0x401136},
		{line: "\t401136 f (/opt/app+0x1136)", symbol: "f", module: "/opt/app", whole: true, address: 0x401136},
		{line: "\t401136 f (x) (inlined)", symbol: "f (x)", inlined: true, whole: true, address: 0x401136},
		{line: "\t401136 [unknown] ([unknown])", whole: true, address: 0x401136},
		{line: "\t401136 (/opt/app)", module: "/opt/app", whole: true, address: 0x401136},
		{line: "\t401136", address: 0x401136},
		{line: "\t401136 operator()(int)", symbol: "operator()(int)", address: 0x401136},
		{line: "\t401136 f (/opt/odd) name)", symbol: "f", module: "/opt/odd) name", whole: true, address: 0x401136},
		{line: "\tffffffffffffffff f (a)", symbol: "f", module: "a", whole: true, address: math.MaxUint64},
		{line: "\t0 a+0x (b)", symbol: "a+0x", module: "b", whole: true},
		{line: "\t0 +0x1 (b)", module: "b", whole: true},
		{line: "401136 f (a)", notAFrameAtAll: true},
		{line: "\t10000000000000000 f (a)", notAFrameAtAll: true},
		{line: "\taddress symbol (module)", notAFrameAtAll: true},
		{line: "\t40x f (a)", notAFrameAtAll: true},
		{line: "\t", notAFrameAtAll: true},
		{line: "", notAFrameAtAll: true},
	} {
		f, ok := parseFrame([]byte(c.line))
		if ok == c.notAFrameAtAll {
			t.Errorf("%q: frame %v", c.line, ok)
			continue
		}
		if ok && (string(f.symbol) != c.symbol || string(f.module) != c.module || f.inlined != c.inlined || f.whole != c.whole || f.address != c.address) {
			t.Errorf("%q: %q %q inlined %v whole %v %#x", c.line, f.symbol, f.module, f.inlined, f.whole, f.address)
		}
	}
}

func TestCallChains(t *testing.T) {
	for _, c := range []struct {
		symbol, module string
		want           int
	}{
		{"A::a->B::b->C::c", "/tmp/perf-7.map", 3},
		{"A::a", "/tmp/perf-7.map", 0},
		{"ptr<T>::operator->", "/opt/app", 0},
		{"ptr<T>::operator->", "/tmp/perf-7.map", 0},
		{"a->b", "/tmp/perf-x.map", 0},
		{"a->b", "/tmp/perf-.map", 0},
	} {
		if got := callChain(c.symbol, c.module); len(got) != c.want {
			t.Errorf("callChain(%q, %q) = %q", c.symbol, c.module, got)
		}
	}
}

func TestForeignInsideChain(t *testing.T) {
	const text = "app 9 1.500000: 10 cycles: \n\t          401136 work+0x26 (/opt/app)\nFailed to open /tmp/perf-77.map\n" +
		"\t        some thing else\n\t          401196 main+0x16 (/opt/app)\n\n"
	got, r := gatherText(t, text)
	if len(got) != 1 || len(got[0].frames) != 2 {
		t.Fatalf("%+v", got)
	}
	tally := r.Tally()
	if tally.N(recording.Foreign) != 1 || tally.N(recording.BadFrame) != 1 || tally.Counts[0].Place != 3 || tally.Counts[1].Place != 4 {
		t.Errorf("%+v", tally.Counts)
	}
}

func TestStrayFrames(t *testing.T) {
	const text = "\t          401196 main+0x16 (/opt/app)\n\napp 9 1.500000: 10 cycles: \n\t          401136 work+0x26 (/opt/app)\n\n"
	got, r := gatherText(t, text)
	if len(got) != 1 || r.Tally().N(recording.StrayFrame) != 1 {
		t.Errorf("%d samples, %+v", len(got), r.Tally().Counts)
	}
}

func TestDeepStackAndLongLine(t *testing.T) {
	var b strings.Builder
	const depth = 20000
	b.WriteString("deep 9 71.000000: 1000 cycles: \n")
	for i := depth; i > 0; i-- {
		fmt.Fprintf(&b, "\t%16x f%d+0x4 (/opt/deep)\n", 4198400+i*16, i)
	}
	long := strings.Repeat("x", 3<<20)
	fmt.Fprintf(&b, "\t%16x %s+0x4 (/opt/deep)\n\n", 1, long)
	got, _ := gatherText(t, b.String())
	if len(got) != 1 || len(got[0].frames) != depth+1 || got[0].frames[depth].Symbol != long || got[0].frames[0].Symbol != "f20000" {
		t.Errorf("%d samples", len(got))
	}
}

// TestAddresses keeps frames apart that differ in nothing else.
func TestAddresses(t *testing.T) {
	const text = "app 9 1.500000: 10 cycles: \n\t          401136 work+0x26 (/opt/app)\n\n" +
		"app 9 1.600000: 10 cycles: \n\t          401137 work+0x27 (/opt/app)\n\n"
	for keep, want := range map[bool]int{false: 1, true: 2} {
		r := NewReader(strings.NewReader(text))
		r.Addresses = keep
		got := gather(t, r)
		if len(got) != 2 || got[1].Stack != want {
			t.Errorf("addresses %v: stack %d, want %d", keep, got[1].Stack, want)
		}
		if keep && got[1].frames[0].Address != "0x401137" {
			t.Errorf("address %q", got[1].frames[0].Address)
		}
	}
}

func TestReadError(t *testing.T) {
	want := errors.New("disk on fire")
	r := NewReader(io.MultiReader(strings.NewReader("app 9 1.5: 10 cycles: \n\t          401136 work+0x26 (/opt/app)\n\n"), iotest.ErrReader(want)))
	if got := gather(t, r); len(got) != 1 || !errors.Is(r.Err(), want) {
		t.Errorf("%d samples, %v", len(got), r.Err())
	}
}

// TestBoundaries reads every case byte by byte: what is in the buffer must not matter.
func TestBoundaries(t *testing.T) {
	files, _ := filepath.Glob("testdata/*/input*")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		whole, slow := NewReader(strings.NewReader(string(text))), NewReader(iotest.OneByteReader(strings.NewReader(string(text))))
		a, b := gather(t, whole), gather(t, slow)
		if fmt.Sprint(a) != fmt.Sprint(b) || fmt.Sprint(whole.Tally()) != fmt.Sprint(slow.Tally()) || whole.Err() != slow.Err() {
			t.Errorf("%s: differs when read byte by byte", file)
		}
	}
}

// TestHostileLines has lines on which careless scanning takes quadratic time: minutes, where
// this takes milliseconds.
func TestHostileLines(t *testing.T) {
	const size = 1 << 20
	for _, part := range []string{"1.5:x ", "a:", "1.5: ", "x: ", "ffffffffffffffff ", "a 1 ", "(", ")", " (", "->", "[001] ", "+0x1", "  ", "|OP  |"} {
		long := strings.Repeat(part, size/len(part))
		for _, text := range []string{
			long + "\n", long + " 9 1.5: 1 c:u: \n", "a 9 1.5: 1 c:u: " + long + ")\n", "a 9 1.5: 1 c:step: " + long + ")\n",
			"a 9 1.5: 1 c: \n\t 401136 " + long + "\n\n", "a 9 1.5: 1 c: \n\t 401136 x->" + long + " (/tmp/perf-1.map)\n\n", "a 9 1.5: 1 c: \n" + long,
		} {
			gather(t, NewReader(strings.NewReader(text)))
		}
	}
	sources := "a 9 1.5: 1 c: \n" + strings.Repeat("\t          401136 f (a)\n  x.c:1\n", 1<<17)
	gather(t, NewReader(strings.NewReader(sources)))
}

// TestMemoForgets reads more distinct lines than the memo keeps.
func TestMemoForgets(t *testing.T) {
	m := newLineMemo()
	for i := range 3 * 4096 {
		text := fmt.Appendf(nil, "line %d\n", i)
		n, h := m.find(text)
		if n != 0 {
			t.Fatalf("line %d was there", i)
		}
		n = m.add(memoLine{text: text, hash: h, frame: int32(i)})
		if again, _ := m.find(text); again != n || m.lines[n].frame != int32(i) {
			t.Fatalf("line %d is not found again", i)
		}
	}
	m.reset()
	if n, _ := m.find([]byte("line 1\n")); n != 0 || m.full() {
		t.Error("reset forgot nothing")
	}
}

func FuzzReader(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/input*")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(text, false)
		}
	}
	f.Add([]byte("a 1 1.5: 1 c: \n\t0 f->g (/tmp/perf-1.map)\n  x.c:1\n\n"), true)
	f.Add([]byte("a 1 0.0: PERF_RECORD_LOST lost 1\n\t0\n a 1 1.1: x: 0123456789abcdef y (z)\n"), true)
	f.Fuzz(func(t *testing.T, text []byte, addresses bool) {
		r := NewReader(iotest.HalfReader(strings.NewReader(string(text))))
		r.Addresses = addresses
		n := uint64(0)
		for r.Next() {
			n++
			s := r.Sample()
			if s.Stack == 0 {
				continue
			}
			if len(r.Stack(s.Stack)) == 0 || len(r.Stack(s.Stack)) > len(text)+1 {
				t.Fatal("stack of impossible size")
			}
			for _, i := range r.Stack(s.Stack) {
				f := r.Frame(i)
				if f.ID != record.ID(i) || !utf8.ValidString(f.Symbol) || !utf8.ValidString(f.Module) {
					t.Fatalf("frame %d: %+v", i, f)
				}
			}
			if !utf8.ValidString(s.Comm) || !utf8.ValidString(s.Event) || s.Event == "" || s.TimeNS < recording.None || s.TID < recording.None {
				t.Fatalf("sample %+v", s)
			}
		}
		if r.Tally().Samples != n || r.Tally().N(recording.Cut) > 1 {
			t.Fatalf("%d samples, tally %+v", n, r.Tally())
		}
	})
}
