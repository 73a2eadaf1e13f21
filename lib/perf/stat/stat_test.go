package stat

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"vperf/lib/record"
)

// read returns everything in text, and what was reported.
func read(t testing.TB, name, text string) (counts []Count, r *Reader, problems []record.Problem) {
	t.Helper()
	r = NewReader(name, strings.NewReader(text))
	r.Report = func(p record.Problem) { problems = append(problems, p) }
	for r.Next() {
		counts = append(counts, r.Count())
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return counts, r, problems
}

func readFile(t testing.TB, name string) (counts []Count, r *Reader, problems []record.Problem) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, name, string(text))
}

// count is a Count with everything absent, to be filled in by a test.
func count(line int, event string, value float64, unit string, running, enabled int64, percent float64) Count {
	return Count{
		Line: line, Event: event, Value: value, Unit: unit, Scope: "all", TimeNS: record.None,
		RunningNS: running, EnabledNS: enabled, Percent: percent, Noise: -1,
	}
}

func missing(line int, event, unit string, cause record.Cause, running, enabled int64, percent float64) Count {
	c := count(line, event, 0, unit, running, enabled, percent)
	c.Missing = cause
	return c
}

func with(c Count, change func(*Count)) Count { change(&c); return c }

func printed(c Count, value float64, name string) Count {
	c.Printed = Printed{value, name}
	return c
}

func compare(t *testing.T, got, want []Count) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d counts, want %d\n%+v", len(got), len(want), got)
	}
	for i := range want {
		g, w := got[i], want[i]
		if math.Abs(g.Value-w.Value) <= 1e-9*math.Abs(w.Value) { // 0.42 ms need not be 420000 ns to the last bit
			g.Value = w.Value
		}
		if g != w {
			t.Errorf("count %d\n got %+v\nwant %+v", i, g, w)
		}
	}
}

// Inputs that broke other tools, each with what it says.
func TestCases(t *testing.T) {
	const none = record.None
	for file, want := range map[string][]Count{
		// Decimal commas between other separators are no trouble ...
		"st-001-sep-semicolon.csv": {
			printed(count(1, "task-clock", 420000, "ns", 421000, 421000, 100), 0, "CPUs utilized"),
			printed(count(2, "cycles", 900200, "cycles", 280000, 420989, 66.51), 2, "GHz"),
			printed(count(3, "instructions", 450100, "count", 280000, 420989, 66.51), 0, "insn per cycle"),
			count(4, "power/energy-cores/", 0.07, "J", 220000, 220000, 100),
		},
		// ... between commas the columns are found by what they must be ...
		"st-001-sep-comma.csv": {
			with(printed(count(1, "cycles", 5120000400, "cycles", 2000100300, 2000100300, 100), 2, "GHz"),
				func(c *Count) { c.Scope = "cgroup:batch/a" }),
			printed(count(2, "task-clock", 420000, "ns", 421000, 421000, 100), 0, "CPUs utilized"),
		},
		// ... and in JSON by the names.
		"st-001-json.txt": {
			printed(count(1, "task-clock", 420000, "ns", 421000, 421000, 100), 0.0015, "CPUs utilized"),
		},
		// A percentage of 100 does not mean that it ran; a 0 in no time is no 0.
		"st-002-csv": {
			printed(count(1, "task-clock", 2.19e6, "ns", 2189033, 2189033, 100), 0.499, "CPUs utilized"),
			printed(count(2, "page-faults", 49, "count", 2189033, 2189033, 100), 22.384, "K/sec"),
			missing(3, "cycles", "cycles", record.CauseEventUnsupported, 0, 0, 100),
			missing(4, "instructions", "count", record.CauseEventUnsupported, 0, 0, 100),
			missing(5, "branches", "count", record.CauseEventNotCounted, 0, none, 0),
			missing(6, "branch-misses", "count", record.CauseEventNotCounted, 0, 0, 100),
			printed(count(7, "cpu-migrations", 0, "count", 2189033, 2189033, 100), 0, "/sec"),
		},
		// -r puts a column in front of the running time.
		"st-004-r3.csv": {
			with(printed(count(1, "task-clock", 2.83e6, "ns", 2833061, 2833061, 100), 0.91, "CPUs utilized"), func(c *Count) { c.Noise = 5.83 }),
			with(printed(count(2, "context-switches", 0, "count", 2833061, 2833061, 100), 0, "/sec"), func(c *Count) { c.Noise = 0 }),
			with(printed(count(3, "page-faults", 47, "count", 2833061, 2833061, 100), 17.398, "K/sec"), func(c *Count) { c.Noise = 1.42 }),
			with(missing(4, "cycles", "cycles", record.CauseEventUnsupported, 0, 0, 100), func(c *Count) { c.Noise = 0 }),
		},
		// Counts are scaled already.
		"st-008-csv": {
			count(1, "cycles", 1000000, "cycles", 250000, 1000000, 25),
			count(2, "instructions", 2000000, "count", 1000000, 1000000, 100),
			count(3, "cache-misses", 300, "count", 4000, 1000000, 0.4),
			count(4, "cache-references", 40000, "count", 1000000, 1000000, 100),
		},
		// Every row has its own unit.
		"st-009-csv": {
			printed(count(1, "task-clock", 510000, "ns", 510000, 510000, 100), 0.5, "CPUs utilized"),
			count(2, "duration_time", 1002003, "ns", 1002003, 1002003, 100),
			count(3, "user_time", 400000, "ns", 400000, 400000, 100),
			count(4, "system_time", 110000, "ns", 110000, 110000, 100),
			count(5, "power/energy-pkg/", 3.25, "J", 1002003, 1002003, 100),
			count(6, "uncore_imc/data_reads/", 12582912, "bytes", 1002003, 1002003, 100),
			printed(count(7, "ref-cycles", 1500000, "cycles", 510000, 510000, 100), 2.9, "GHz"),
		},
	} {
		t.Run(file, func(t *testing.T) {
			got, r, problems := readFile(t, filepath.Join("testdata", file))
			compare(t, got, want)
			if r.bad != 0 {
				t.Errorf("%d lines were not understood", r.bad)
			}
			if byGuess := len(problems) == 1 && strings.Contains(problems[0].Text, "LC_ALL=C"); byGuess != (file == "st-001-sep-comma.csv") {
				t.Errorf("reports: %v", problems)
			}
		})
	}
}

// The columns that options put in front of a count, and separators of every kind.
func TestRows(t *testing.T) {
	one := func(event string, change func(*Count)) []Count {
		return []Count{with(count(1, event, 7, "count", 10, 10, 100), change)}
	}
	same := func(*Count) {}
	for row, want := range map[string][]Count{
		"7,,faults,10,100.00,,":                      one("faults", same),
		"7;;faults;10;100.00;;":                      one("faults", same),
		"7\t\tfaults\t10\t100.00\t\t":                one("faults", same),
		"7||faults|10|100.00||":                      one("faults", same),
		"7::page-faults:u:10:100.00::":               one("page-faults:u", same),
		"7::sched:sched_switch:10:100.00::":          one("sched:sched_switch", same),
		"7  faults 10 100.00  ":                      one("faults", same),
		"7::::faults::10::100.00::::":                one("faults", same),
		"7,,faults,10,100.00":                        one("faults", same),
		"7,,faults,10,100.00,,,extra,columns,1,2,3":  one("faults", same),
		"7,faults,10,100.00":                         one("faults", same),
		"7,faults":                                   {count(1, "faults", 7, "count", record.None, record.None, -1)},
		"7,,cpu/mem-loads,ldlat=30/P,10,100.00,,":    one("cpu/mem-loads,ldlat=30/P", same),
		"7,,cpu/event=0x3c,umask=1/,10,100.00,,":     one("cpu/event=0x3c,umask=1/", same),
		"7,,faults,,10,100.00,,":                     one("faults", same),
		"7,,faults,/sys/fs/x,10,100.00,,":            one("faults", func(c *Count) { c.Scope = "cgroup:/sys/fs/x" }),
		"     0.100327002,7,,faults,10,100.00,,":     one("faults", func(c *Count) { c.TimeNS = 100327002 }),
		"12.000000001,CPU11,7,,faults,10,100.00,,":   one("faults", func(c *Count) { c.TimeNS = 12000000001; c.Scope = "cpu:11" }),
		"0,100327002,7,,faults,10,100,00,,":          one("faults", func(c *Count) { c.TimeNS = 100327002 }),
		"0.001813453,S0,1,7,,faults,10,100.00,,":     one("faults", func(c *Count) { c.TimeNS = 1813453; c.Scope = "socket:0"; c.CPUs = 1 }),
		"summary,7,,faults,10,100.00,,":              one("faults", func(c *Count) { c.Summary = true }),
		"CPU3,7,,faults,10,100.00,,":                 one("faults", func(c *Count) { c.Scope = "cpu:3" }),
		"N1,16,7,,faults,10,100.00,,":                one("faults", func(c *Count) { c.Scope = "node:1"; c.CPUs = 16 }),
		"S0-D1-C2,2,7,,faults,10,100.00,,":           one("faults", func(c *Count) { c.Scope = "core:S0-D1-C2"; c.CPUs = 2 }),
		"S0-C2,2,7,,faults,10,100.00,,":              one("faults", func(c *Count) { c.Scope = "core:S0-C2"; c.CPUs = 2 }),
		"S0-D1,2,7,,faults,10,100.00,,":              one("faults", func(c *Count) { c.Scope = "die:S0-D1"; c.CPUs = 2 }),
		"S0-D0-L3-ID8,2,7,,faults,10,100.00,,":       one("faults", func(c *Count) { c.Scope = "cache:S0-D0-L3-ID8"; c.CPUs = 2 }),
		"S0-D0-CLS4,2,7,,faults,10,100.00,,":         one("faults", func(c *Count) { c.Scope = "cluster:S0-D0-CLS4"; c.CPUs = 2 }),
		"a,b 3-7563,7,,faults,10,100.00,,":           one("faults", func(c *Count) { c.Scope = "tid:7563"; c.Thread = "a,b 3" }),
		"5,,x-7563,7,,faults,10,100.00,,":            one("faults", func(c *Count) { c.Scope = "tid:7563"; c.Thread = "5,,x" }),
		"S0-7563,7,,faults,10,100.00,,":              one("faults", func(c *Count) { c.Scope = "tid:7563"; c.Thread = "S0" }),
		"-x--9,7,,faults,10,100.00,,":                one("faults", func(c *Count) { c.Scope = "tid:9"; c.Thread = "-x-" }),
		"0.050152911,sh-9,7,,faults,10,100.00,,":     one("faults", func(c *Count) { c.Scope = "tid:9"; c.Thread = "sh"; c.TimeNS = 50152911 }),
		"7,,faults,1.18%,10,100.00,,":                one("faults", func(c *Count) { c.Noise = 1.18 }),
		"7,,faults,/cg,1.18%,10,100.00,,":            one("faults", func(c *Count) { c.Noise = 1.18; c.Scope = "cgroup:/cg" }),
		"7,,faults,33,33%,10,100,00,,":               one("faults", func(c *Count) { c.Noise = 33.33 }),
		"0,,context-switches:u,10,100.00,0.000,/sec": {printed(missing(1, "context-switches:u", "count", record.CausePerfEventParanoid, 10, 10, 100), 0, "/sec")},
		"0.51,,task-clock,10,100.00,,":               {count(1, "task-clock", 510000, "ns", 10, 10, 100)},
		"7,,faults,10,0.00,,":                        one("faults", func(c *Count) { c.EnabledNS = record.None; c.Percent = 0 }),
		"nan,,faults,10,100.00,,":                    {missing(1, "faults", "count", record.CauseEventNotCounted, 10, 10, 100)},
		"1.5,Hz/s,odd,10,100.00,,":                   {count(1, "odd", 1.5, "Hz/s", 10, 10, 100)},
		"7,,faults,10,100.00,,\r":                    one("faults", same),
		`{"counter-value" : "7.000000", "unit" : "", "event" : "faults", "event-runtime" : 10, "pcnt-running" : 100.00, }`:                                       one("faults", same),
		`{"core" : "S0-D0-C0""counter-value" : "7.000000", "unit" : "", "event" : "faults", "event-runtime" : 10, "pcnt-running" : 100.00}`:                      one("faults", func(c *Count) { c.Scope = "core:S0-D0-C0" }),
		`{"thread" : "a"b-9", "counter-value" : "7.000000", "unit" : "", "event" : "faults", "event-runtime" : 10, "pcnt-running" : 100.00}`:                     one("faults", func(c *Count) { c.Scope = "tid:9"; c.Thread = `a"b` }),
		`{"interval" : 0.101052626, "counter-value" : "7.0", "unit" : "", "event" : "faults", "variance" : 2.50, "event-runtime" : 10, "pcnt-running" : 100.00}`: one("faults", func(c *Count) { c.TimeNS = 101052626; c.Noise = 2.5 }),
		`{"counter-value" : "7", "event" : "faults", "cgroup" : "/a", "event-runtime" : 10, "pcnt-running" : 100,00, "metric-value" : 0,001500, "metric-unit" : "K/sec"}`: {
			printed(with(count(1, "faults", 7, "count", 10, 10, 100), func(c *Count) { c.Scope = "cgroup:/a" }), 0.0015, "K/sec"),
		},
	} {
		t.Run(row, func(t *testing.T) {
			got, r, _ := read(t, "row", row)
			compare(t, got, want)
			if r.bad != 0 {
				t.Error("not understood")
			}
		})
	}
}

func TestBadLines(t *testing.T) {
	good := "7,,faults,10,100.00,,\n"
	for _, bad := range []string{
		"x", ",", ",,,,", "7", "7,", "7,,", "7,,,", "faults,7", "7,,faults,10", "7,,faults,10,", "7,,faults,x,100.00", "7,msec,,10,100.00",
		"7,,cpu/faults,10,100.00", "-,,faults,10,100.00,,", "0x10,,faults,10,100.00", "1_0,,faults,10,100.00", "17 cycles", "   indented", "Some events weren't counted.",
		"{", "{}", `{"`, `{"counter-value" : "7"}`, `{"event" : "faults"}`, `{"counter-value" : }`, `{"type":"end","by":"x","counts":{},"complete":true}`,
	} {
		counts, r, problems := read(t, "file", good+bad+"\n"+good)
		if len(counts) != 2 || r.bad != 1 || len(problems) != 1 {
			t.Errorf("%q: %d counts, %d bad, %v", bad, len(counts), r.bad, problems)
			continue
		}
		if p := problems[0]; p.Line != 2 || p.Name != "file" || p.Cause != record.CauseBadInput {
			t.Errorf("%q: reported as %v", bad, p)
		}
	}
}

func TestCounter(t *testing.T) {
	for row, want := range map[string]record.Counter{
		"7,,faults,10,100.00,,": {Event: "faults", Scope: "all", Value: record.Float(7), Unit: "count", EnabledNS: record.Int(10), RunningNS: record.Int(10), Quality: record.Count},
		"7,,cycles,10,25.00,,":  {Event: "cycles", Scope: "all", Value: record.Float(7), Unit: "cycles", EnabledNS: record.Int(40), RunningNS: record.Int(10), Quality: record.Estimate},
		// Less than one percent: for how long it was enabled is not known.
		"7,,cycles,10,0.00,,":            {Event: "cycles", Scope: "all", Value: record.Float(7), Unit: "cycles", RunningNS: record.Int(10), Quality: record.Estimate},
		"<not counted>,,cycles,0,0.00,,": {Event: "cycles", Scope: "all", Unit: "cycles", RunningNS: record.Int(0), Missing: record.CauseEventNotCounted},
		"7,faults":                       {Event: "faults", Scope: "all", Value: record.Float(7), Unit: "count", Quality: record.Count},
	} {
		counts, _, _ := read(t, "row", row)
		if got := counts[0].Counter(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %swant %s", row, dump([]record.Counter{got}), dump([]record.Counter{want}))
		}
	}
}

// A few bad lines are reported one by one, many are counted, and the table for people is
// one mistake and not a hundred.
func TestReportsAreFew(t *testing.T) {
	_, r, problems := read(t, "file", strings.Repeat("what?\n", 100))
	if r.bad != 100 || len(problems) != 6 || !strings.Contains(problems[5].Text, "95 further") {
		t.Errorf("%d bad, %v", r.bad, problems)
	}
	_, r, problems = read(t, "file", "\n Performance counter stats for 'true':\n\n  0.66 msec task-clock  #  0.497 CPUs utilized\n\n 0.001 seconds time elapsed\n")
	if r.bad != 3 || len(problems) != 1 || !strings.Contains(problems[0].Text, "-x ';'") {
		t.Errorf("%d bad, %v", r.bad, problems)
	}
}

func TestSeparatorGiven(t *testing.T) {
	r := NewReader("x", strings.NewReader("7QQfaultsQ10Q100.00QQ\n7,,faults,10,100.00,,\n"))
	r.Separator = "Q"
	var events []string
	for r.Next() {
		events = append(events, r.Count().Event)
	}
	if len(events) != 1 || r.bad != 1 || events[0] != "faults" {
		t.Errorf("%v, %d bad", events, r.bad)
	}
}

type failing struct{ io *strings.Reader }

var errDisk = errors.New("input/output error")

func (f failing) Read(p []byte) (int, error) {
	if n, _ := f.io.Read(p); n > 0 {
		return n, nil
	}
	return 0, errDisk
}

func TestReadError(t *testing.T) {
	r := NewReader("stat.csv", failing{strings.NewReader("7,,faults,10,100.00,,\n7,,cs")})
	if !r.Next() || r.Next() {
		t.Error("the whole line is a count, the cut one is not")
	}
	if err := r.Err(); !errors.Is(err, errDisk) || !strings.HasPrefix(err.Error(), "stat.csv: ") {
		t.Errorf("Err() = %v", err)
	}
}

func TestLongLine(t *testing.T) {
	name := strings.Repeat("x", 200_000)
	counts, _, _ := read(t, "long", "7,,"+name+",10,100.00,,\n7,,faults,10,100.00,,")
	if len(counts) != 2 || counts[0].Event != name || counts[1].Line != 2 {
		t.Errorf("%d counts", len(counts))
	}
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]bool{
		"# started on Tue Dec  1 12:19:44 2026\n\n627.71,msec,cpu-clock,627712480,100.00,2.001,CPUs utilized\n": true,
		`{"counter-value" : "1.0", "unit" : "", "event" : "faults", "event-runtime" : 1, "pcnt-running" : 1}`:   true,
		`{"metric-value" : "none"}`:                    true,
		",S0,1,,,,,,,2.00,stalled cycles per insn\n":   true,
		"\n\n Performance counter stats for 'true':\n": true,
		`{"type":"stream","schema":1,"by":"x"}`:        false,
		`{"type":"sample","event":1}`:                  false,
		"main 1 [000] 1.0: 1 cycles:\n":                false,
		"":                                             false,
		"\x28\xb5\x2f\xfd":                             false,
		"a;b;c 12\n":                                   false,
	} {
		if Sniff([]byte(text)) != want {
			t.Errorf("Sniff(%q) = %v", text, !want)
		}
	}
}

func FuzzReader(f *testing.F) {
	files, err := filepath.Glob("testdata/st-*")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("a,b 3-7563,7,,faults,10,100.00,,\n0.1,S0,1,,,,,,,2.00,stalled\nsummary,7,,x/a,b/u,1.1%,10,0.00,,\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := NewReader("fuzz", bytes.NewReader(text))
		var totals Totals
		lines := bytes.Count(text, []byte("\n")) + 1
		n := 0
		for r.Next() {
			c := r.Count()
			n++
			if c.Event == "" || c.Scope == "" || c.Unit == "" {
				t.Errorf("nameless: %+v", c)
			}
			if math.IsNaN(c.Value) || math.IsInf(c.Value, 0) || !c.Known() && c.Value != 0 {
				t.Errorf("no value: %+v", c)
			}
			totals.Add(c)
		}
		if n+r.bad > lines {
			t.Errorf("%d counts and %d bad lines in %d lines", n, r.bad, lines)
		}
		if r.Err() != nil {
			t.Error(r.Err())
		}
		for _, c := range totals.Counters() {
			if (c.Value == nil) == (c.Missing == "") {
				t.Errorf("neither value nor cause: %+v", c)
			}
		}
	})
}

func BenchmarkReader(b *testing.B) {
	var text bytes.Buffer
	for range 1000 {
		text.WriteString("     0.100327002,58.75,msec,task-clock,58752756,100.00,0.588,CPUs utilized\n     0.100327002,63,,page-faults,58752756,100.00,1.072,K/sec\n     0.100327002,<not supported>,,cycles,0,100.00,,\n")
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		r := NewReader("bench", bytes.NewReader(text.Bytes()))
		n := 0
		for r.Next() {
			n++
		}
		if n != 3000 {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.N)*3000/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
