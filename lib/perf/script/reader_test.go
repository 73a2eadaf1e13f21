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

// TestShapeOfText has lines that mean one thing or another by what the text showed before.
func TestShapeOfText(t *testing.T) {
	const chained = "app 9 1.500000: 10 cycles: \n\t          401136 work+0x26 (/opt/app)\n\n"

	// Where samples have call chains, the end of a tracepoint's line is no frame.
	const alloc = "app 9 1.600000: kmem:kmalloc: call_site= ffffffff81000000 alloc (x)\n\t          401196 main+0x16 (/opt/app)\n\n"
	got, _ := gatherText(t, chained+alloc)
	if len(got) != 2 || len(got[1].frames) != 1 || got[1].frames[0].Symbol != "main" || got[1].trace != "call_site= ffffffff81000000 alloc (x)" {
		t.Errorf("%+v", got)
	}
	got, _ = gatherText(t, alloc)
	if len(got) != 1 || got[0].frames[0].Symbol != "alloc" {
		t.Errorf("%+v", got)
	}

	// Where samples have times, what has none is no sample.
	const untimed = "app 9 cycles: \n\n"
	got, r := gatherText(t, chained+untimed)
	if len(got) != 1 || r.Tally().N(recording.Foreign) != 1 {
		t.Errorf("%+v", got)
	}
	if got, _ = gatherText(t, untimed); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestStrayFrames(t *testing.T) {
	const text = "\t          401196 main+0x16 (/opt/app)\n\napp 9 1.500000: 10 cycles: \n\t          401136 work+0x26 (/opt/app)\n\n"
	got, r := gatherText(t, text)
	if len(got) != 1 || r.Tally().N(recording.StrayFrame) != 1 {
		t.Errorf("%d samples, %+v", len(got), r.Tally().Counts)
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
