package report_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"vperf/lib/record"
	"vperf/lib/report"
)

// read makes a profile of streams as one input.
func read(t testing.TB, streams ...string) *report.Profile {
	t.Helper()
	p := report.New()
	if err := p.Read(record.NewReader("test", strings.NewReader(strings.Join(streams, "")))); err != nil {
		t.Fatal(err)
	}
	return p
}

func html(t testing.TB, p *report.Profile, title string) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.WriteHTML(&b, title); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// stream writes a stream; f gets the writer between its brackets.
func stream(head record.Stream, f func(w *record.Writer, in *record.Interner)) string {
	var b bytes.Buffer
	w := record.NewWriter(&b)
	head.By = "test 1"
	w.Begin(head)
	f(w, record.NewInterner(w))
	w.End("")
	w.Flush()
	return b.String()
}

// call returns the stack of the named functions, the root first; "k:f" is a kernel function
// and "m/f" is in module m.
func call(in *record.Interner, names ...string) record.ID {
	var s record.ID
	for _, n := range names {
		f := record.Frame{Symbol: n, Kind: record.KindUser}
		if k, ok := strings.CutPrefix(n, "k:"); ok {
			f = record.Frame{Symbol: k, Module: "[kernel.kallsyms]", Kind: record.KindKernel}
		} else if m, sym, ok := strings.Cut(n, "/"); ok {
			f.Module, f.Symbol = m, sym
		}
		s = in.Stack(s, in.Frame(f))
	}
	return s
}

// cpu is a stream of one cpu event with a sample per stack, of weight 1, 2, 4, ...
func cpu(profile string, stacks ...[]string) string {
	return stream(record.Stream{Profile: profile, Clock: "monotonic"}, func(w *record.Writer, in *record.Interner) {
		w.Write(&record.Event{ID: 1, Name: "cycles", Unit: "cycles", Kind: record.KindCPU})
		for i, s := range stacks {
			w.Write(&record.Sample{Event: 1, TID: 1, TimeNS: int64(i) * 1e6, Weight: 1 << i, Stack: call(in, s...), CPU: record.None, PID: record.None})
		}
	})
}

func hotspots(p *report.Profile) string {
	var b strings.Builder
	for _, h := range p.Hotspots(0) {
		fmt.Fprintf(&b, "%s %s %g %g\n", h.Name, h.Module, h.Self, h.Total)
	}
	return b.String()
}

func TestHotspots(t *testing.T) {
	tests := []struct {
		name  string
		input string
		want  string
	}{
		{"recursion counts once a stack", cpu("", []string{"a", "b", "a", "b"}, []string{"a"}), "a  2 3\nb  1 1\n"},
		{"modules keep their own", cpu("", []string{"x/f"}, []string{"y/f"}), "f y 2 2\nf x 1 1\n"},
		{"streams share functions and stacks", cpu("", []string{"a", "b"}) + cpu("", []string{"a", "b"}), "b  2 2\na  0 2\n"},
		{"a stream that comes twice counts once", cpu("p", []string{"a"}) + cpu("p", []string{"a"}), "a  1 1\n"},
		{"a copy without samples comes first", strings.SplitAfter(cpu("p", []string{"a"}), "\n")[0] + cpu("p", []string{"a"}), "a  1 1\n"},
		{"no frames", cpu("", []string{}), "[no stack]  1 1\n"},
		{"weights of a user frame and its child", cpu("", []string{"root"}, []string{"root", "child"}, []string{"root", "child", "leaf"}), "leaf  4 4\nchild  2 6\nroot  1 7\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := read(t, test.input)
			if got := hotspots(p); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

func TestTitle(t *testing.T) {
	threads := func(list ...record.Thread) string {
		return stream(record.Stream{}, func(w *record.Writer, _ *record.Interner) {
			w.Write(&record.Metric{Name: "x", Scope: "all"})
			for _, th := range list {
				w.Write(&th)
			}
		})
	}
	one, two := record.Int(1), record.Int(2)
	app := record.Thread{TID: 1, PID: one, Name: "app"}
	meta := `{"type":"meta","target":{"cmd":["/opt/x/run","-v"]}}` + "\n"
	tests := []struct{ name, input, title, want string }{
		{"as asked", meta, "mine", "mine"},
		{"the command", meta + threads(app), "", "run"},
		{"the process", threads(app, record.Thread{TID: 7, PID: one, Name: "pool"}), "", "app"},
		{"two processes", threads(app, record.Thread{TID: 2, PID: two, Name: "other"}), "", "profile"},
		{"nothing known", threads(record.Thread{TID: 7, Name: "pool"}), "", "profile"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			page := html(t, read(t, test.input), test.title)
			if want := "<title>" + test.want + " · profile</title>"; !strings.Contains(page, want) {
				t.Errorf("no %s in %.600s", want, page)
			}
		})
	}
}

func TestDeepStack(t *testing.T) {
	deep := make([]string, 3000)
	for i := range deep {
		deep[i] = fmt.Sprint("f", i%2999) // the last one is the first again
	}
	p := read(t, cpu("", deep))
	if got := p.Hotspots(0); len(got) != 2999 || got[0].Name != "f0" || got[0].Total != 1 {
		t.Errorf("%d functions, first %+v", len(got), got[0])
	}
	html(t, p, "")
}

func TestSamplesOfUndefinedStacksKeepTheirWeight(t *testing.T) {
	p := read(t, `{"type":"event","id":1,"name":"cycles","kind":"cpu"}
{"type":"sample","event":1,"weight":5,"stack":77}
{"type":"sample","event":9,"weight":6,"stack":4000000000}
{"type":"stack","id":1,"frame":3,"parent":4294967295}
{"type":"sample","event":1,"weight":7,"stack":1}
`)
	page := html(t, p, "")
	if got, want := hotspots(p), "[unknown]  7 7\n[no stack]  5 5\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if want := "5 references to frames, stacks or events that the input does not define"; !strings.Contains(page, want) {
		t.Errorf("the page does not say %q", want)
	}
}

func TestPageIsTheSameEveryTime(t *testing.T) {
	var b bytes.Buffer
	synthetic(&b, 2000, 300, 5)
	first := html(t, read(t, b.String()), "")
	for range 3 {
		if html(t, read(t, b.String()), "") != first {
			t.Fatal("two pages of one stream differ")
		}
	}
}

func TestPageDoesNotNameTheInput(t *testing.T) {
	p := report.New()
	r := record.NewReader("/secret/path.ndjson", strings.NewReader(cpu("", []string{"a"})+"garbage\n"))
	if err := p.Read(r); err != nil {
		t.Fatal(err)
	}
	page := html(t, p, "")
	if strings.Contains(page, "secret") {
		t.Error("the page names a file of the machine that made it")
	}
	if !strings.Contains(page, "1 line of the input could not be read and was left out") {
		t.Error("the page does not count the bad line")
	}
}

func TestProblemsStillReachTheReader(t *testing.T) {
	var told []string
	r := record.NewReader("in", strings.NewReader("garbage\n"))
	r.Report = func(q record.Problem) { told = append(told, q.String()) }
	report.New().Read(r)
	if len(told) != 1 || !strings.HasPrefix(told[0], "in:1: ") {
		t.Errorf("told %q", told)
	}
}

func TestNotices(t *testing.T) {
	rss := stream(record.Stream{Clock: "other"}, func(w *record.Writer, _ *record.Interner) {
		w.Write(&record.RSS{PID: 1, TimeNS: 9e12, Bytes: 5})
	})
	cut := `{"type":"stream","schema":1,"by":"x"}` + "\n"
	tests := []struct{ name, input, want string }{
		{"two profiles", cpu("one", []string{"a"}) + cpu("two", []string{"b"}), "the input holds 2 profiles: this page shows the first, one"},
		{"cut stream", cut + `{"type":"metric","name":"x","scope":"all","value":1}` + "\n", "1 stream without an end record"},
		{"another clock", cpu("", []string{"a"}) + rss, "1 reading of memory use was taken on another clock"},
		{"not shown", cpu("", []string{"a"}) + `{"type":"remark","file":"a.c"}` + "\n" + `{"type":"brandnew"}` + "\n", "The input also holds 1 unknown record, 1 remark record."},
		{"dumps alone", `{"type":"dump","of":"perf.data","seq":0,"text":"x"}` + "\n", "no_samples: the samples are still in the raw output of perf"},
		{"dumps without samples", `{"type":"dump","of":"perf.data","seq":0,"text":"x"}` + "\n" + `{"type":"notice","severity":"warning","cause":"no_samples","text":"too short"}` + "\n", "no_samples: too short"},
		{"metas add up", `{"type":"meta","host":{"name":"h","ncpu":4},"target":{"cmd":["a"]}}` + "\n" + `{"type":"meta","host":{"kernel":"6.1"},"target":{"exit_code":3}}` + "\n", "exit 3 · h, 4 CPUs, Linux 6.1"},
		{"no metrics", cpu("", []string{"a"}), "The input has no metric records."},
		{"fix", `{"type":"notice","severity":"error","cause":"no_samples","text":"why","fix":"do so"}` + "\n", `no_samples: why`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			page := html(t, read(t, test.input), "")
			if !strings.Contains(page, test.want) {
				t.Errorf("the page does not say %q", test.want)
			}
			if test.name == "dumps without samples" && strings.Contains(page, "still in the raw output") {
				t.Error("the page sends to vp-fold, which was there")
			}
		})
	}
	page := html(t, read(t, cpu("one", []string{"a"})+cpu("two", []string{"b"})), "")
	if strings.Contains(page, ">b</span>") {
		t.Error("the second profile is in the page")
	}
}

// block is the data block of a page.
func block(t testing.TB, page string) (head map[string]any, columns []byte) {
	t.Helper()
	m := regexp.MustCompile(`<script type="application/octet-stream" id="data">([A-Za-z0-9+/=]*)</script>`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("the page has no data block")
	}
	z, err := zlib.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(m[1])))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint32(data)
	if err := json.Unmarshal(data[4:4+n], &head); err != nil {
		t.Fatal(err)
	}
	return head, data[4+n:]
}

func TestDataBlock(t *testing.T) {
	page := html(t, read(t, cpu("", []string{"c"}, []string{"a", "k:b"}, []string{"a"})), "")
	head, data := block(t, page)
	columns := map[string][]uint64{}
	for _, c := range head["columns"].([]any) {
		c := c.(map[string]any)
		n, planes := int(c["count"].(float64)), int(c["planes"].(float64))
		list := make([]uint64, n)
		for i := range list {
			if c["code"] == "constant" {
				list[i] = uint64(c["value"].(float64))
			}
			for p := range planes {
				list[i] |= uint64(data[p*n+i]) << (8 * p)
			}
		}
		data = data[n*planes:]
		columns[c["name"].(string)] = list
	}
	if len(data) != 0 {
		t.Errorf("%d bytes behind the columns", len(data))
	}
	want := map[string][]uint64{
		"node.depth":    {0, 2, 2, 1}, // zigzag of 0 1 1 -1: a weighs most, and stands first with its child
		"node.function": {0, 2, 3, 1},
		"event0.weight": {1, 2, 4},
		"event0.time":   {0, 2000, 2000}, // zigzag of 1000 microseconds
		"event0.thread": {0, 0, 0},
		"function.kind": {0, 0, 0, 1},
	}
	for name, w := range want {
		if got := columns[name]; fmt.Sprint(got) != fmt.Sprint(w) {
			t.Errorf("%s: %v, want %v", name, got, w)
		}
	}
	if got := fmt.Sprint(head["functions"]); got != "[ c a b]" {
		t.Errorf("functions %s", got)
	}
}

func TestHostileNames(t *testing.T) {
	evil := "</script><script>alert(1)</script><!-- \x00\x1b[31m \u202e \xff"
	input := stream(record.Stream{Profile: evil, Clock: "monotonic"}, func(w *record.Writer, in *record.Interner) {
		code := int64(1)
		w.Write(&record.Meta{Target: &record.Target{Cmd: []string{evil, evil}, ExitCode: &code}, Host: &record.Host{Name: evil}, Callgraph: evil})
		w.Write(&record.Event{ID: 1, Name: evil, Unit: evil, Kind: record.KindCPU})
		w.Write(&record.Thread{TID: 1, Name: evil})
		w.Write(&record.Sample{Event: 1, TID: 1, TimeNS: 1, Weight: 1, Stack: call(in, evil+"/"+evil), CPU: record.None, PID: record.None})
		w.Write(&record.Metric{Name: evil, Scope: "all", Value: record.Float(1), Unit: evil, Formula: evil, Inputs: map[string]float64{evil: 1}, Quality: record.Quality(evil)})
		w.Write(&record.Metric{Name: evil, Scope: "tid:1", Missing: record.Cause(evil)})
		w.Write(&record.Counter{Event: evil, Expression: evil, Scope: "all", Missing: record.Cause(evil)})
		w.Write(&record.Notice{Severity: record.Severity(evil), Cause: record.Cause(evil), Text: evil, Fix: evil})
		w.Write(&record.Finding{Rule: evil, Verdict: evil, Advice: evil, Next: evil, Evidence: []record.Evidence{{Metric: evil}}})
		w.Write(&record.Capability{Name: evil, Status: record.Denied, Detail: evil, Fix: evil})
	})
	page := html(t, read(t, input), evil)
	if n := strings.Count(strings.ToLower(page), "</script"); n != 2 {
		t.Errorf("%d script end tags", n)
	}
	if n := strings.Count(page, "<!--"); n != 0 {
		t.Errorf("%d comments", n)
	}
	if i := strings.IndexFunc(page, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r == 0x202e }); i >= 0 {
		t.Errorf("a control character: %q", page[max(0, i-40):i+10])
	}
	head, _ := block(t, page)
	want := `</script><script>alert(1)</script><!-- \x00\x1b[31m \u202e ` + "\ufffd"
	if got := head["events"].([]any)[0].(map[string]any)["name"]; got != want {
		t.Errorf("event name %q, want %q", got, want)
	}
}

func TestPolicy(t *testing.T) {
	page := html(t, read(t, cpu("", []string{"a"})), "")
	if !strings.Contains(page, `content="default-src &#39;none&#39;; script-src &#39;sha256-`) {
		t.Error("no policy that forbids requests")
	}
	for _, bad := range []string{"http://", "https://", "eval(", "new Function", "innerHTML", "outerHTML", "insertAdjacent", "document.write", "import(", "unsafe-inline", "localStorage"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}

func TestExtremes(t *testing.T) {
	input := stream(record.Stream{Clock: "monotonic"}, func(w *record.Writer, in *record.Interner) {
		w.Write(&record.Event{ID: 1, Name: "e", Kind: record.KindCPU, Unit: "ns"})
		for _, s := range []record.Sample{
			{TimeNS: 0, Weight: 0},
			{TimeNS: 1<<63 - 1, Weight: 1<<64 - 1},
			{TimeNS: record.None, Weight: 1},
			{TimeNS: 5, Weight: 1 << 60},
		} {
			s.Event, s.TID, s.CPU, s.PID, s.Stack = 1, 1<<40, record.None, record.None, call(in, "f")
			w.Write(&s)
		}
		w.Write(&record.RSS{PID: 1, TimeNS: 1 << 62, Bytes: 1 << 62})
		w.Write(&record.Counter{Event: "task-clock", Scope: "all", Value: record.Float(1e300), Unit: "ns"})
	})
	head, _ := block(t, html(t, read(t, input), ""))
	if span := head["spanTicks"].(float64); span >= 1<<32-1 {
		t.Errorf("the run has %g ticks: its times do not fit 32 bits", span)
	}
	if e := head["events"].([]any)[0].(map[string]any); e["timed"] != 3.0 || e["samples"] != 4.0 {
		t.Errorf("event %v", e)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(cpu("p", []string{"a", "k:b"}, []string{}))
	f.Add(`{"type":"meta","target":{"cmd":["a"],"start_ns":5,"duration_ns":-5},"host":{"ncpu":-1}}` + "\n")
	f.Add(`{"type":"metric","name":"","scope":"tid:1","value":1e308,"unit":"bytes"}` + "\n")
	f.Add(`{"type":"rss","pid":1,"time_ns":9223372036854775807,"bytes":1}` + "\n" + `{"type":"rss","pid":1,"time_ns":0,"bytes":1}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		p := report.New()
		if err := p.Read(record.NewReader("fuzz", strings.NewReader(text))); err != nil {
			return
		}
		page := html(t, p, "")
		block(t, page)
		if strings.Count(page, "</script") != 2 {
			t.Error("a script ends early")
		}
	})
}
