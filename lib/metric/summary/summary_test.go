package summary

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"

	"vperf/lib/record"
)

func TestNumber(t *testing.T) {
	for _, test := range []struct {
		v    float64
		unit string
		want string
	}{
		{0, "s", "0.000 s"},
		{2.5134, "s", "2.513 s"},
		{0.0025, "s", "2.50 ms"},
		{1.5e-6, "s", "1.5 us"},
		{3600, "s", "3,600.000 s"},
		{1.5e9, "ns", "1.500 s"},
		{0.0625, "ratio", "6.25 %"},
		{1, "ratio", "100.00 %"},
		{3e9, "Hz", "3.000 GHz"},
		{8e8, "Hz", "800.0 MHz"},
		{0, "bytes", "0 B"},
		{1023, "bytes", "1,023 B"},
		{1024, "bytes", "1.0 KiB"},
		{327680000, "bytes", "312.5 MiB"},
		{5e15, "bytes", "4,547.5 TiB"},
		{0, "1/s", "0.0 /s"},
		{99.94, "1/s", "99.9 /s"},
		{22374.4, "1/s", "22,374 /s"},
		{1234567890123, "count", "1,234,567,890,123 "},
		{1e300, "count", "1e+300 "},
		{100, "cycles", "100 "},
		{-1234, "count", "-1,234 "},
		{0.5, "instructions/cycle", "0.500 "},
		{1.5, "cores", "1.50 CPUs"},
		{3.25, "J", "3.25 J"},
	} {
		digits, suffix := number(test.v, test.unit)
		if got := digits + " " + suffix; got != test.want {
			t.Errorf("number(%v, %s) = %q, want %q", test.v, test.unit, got, test.want)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, test := range []struct {
		name  string
		width int
		want  string
	}{
		{"main", 10, "main"},
		{"0123456789", 10, "0123456789"},
		{"0123456789a", 10, "0123…6789a"},
		{"0123456789ab", 9, "0123…89ab"},
		{"abcdef", 3, "abc"},
		{"名前名前名前", 9, "名前…名前"}, // two columns each
		{"e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", 5, "e\u0301e\u0301…e\u0301e\u0301"},
		{"\x1b[31mx", 20, `\x1b[31mx`},
	} {
		got := shorten(test.name, test.width)
		if got != test.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", test.name, test.width, got, test.want)
		}
		if w := uniseg.StringWidth(got); w > test.width {
			t.Errorf("shorten(%q, %d) is %d wide", test.name, test.width, w)
		}
	}
}

// gathered returns the profiles of a stream.
func gathered(t *testing.T, stream string) []*Profile {
	t.Helper()
	r := record.NewReader("test", strings.NewReader(stream))
	r.Report = func(p record.Problem) { t.Error(p) }
	g := Gatherer{Text: true}
	for r.Next() {
		g.Add(r)
	}
	return g.Profiles()
}

func text(t *testing.T, stream string, style Style) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, gathered(t, stream), nil, style); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// everything is a stream that fills every section.
const everything = `{"type":"stream","schema":1,"by":"x","profile":"EVIL"}
{"type":"end","by":"x","counts":{},"complete":true}
{"type":"stream","schema":1,"by":"x","profile":"other"}
{"type":"meta","target":{"cmd":["EVIL"],"pid":1,"signal":"EVIL"},"host":{"name":"EVIL","kernel":"EVIL","cpu":{"vendor":"EVIL","name":"EVIL"},"ncpu":2,"hypervisor":"EVIL"},"perf_version":"EVIL","callgraph":"EVIL","options":{"freq":"EVIL"}}
{"type":"event","id":1,"name":"EVIL","unit":"EVIL","kind":"cpu"}
{"type":"thread","tid":7,"name":"EVIL"}
{"type":"frame","id":1,"symbol":"EVIL","module":"/EVIL","kind":"EVIL"}
{"type":"stack","id":1,"frame":1}
{"type":"sample","event":1,"tid":7,"weight":1,"stack":1}
{"type":"metric","name":"EVIL","scope":"all","value":1,"unit":"EVIL","formula":"EVIL","quality":"EVIL"}
{"type":"metric","name":"EVIL2","scope":"all","missing":"EVIL","formula":"EVIL"}
{"type":"rss","pid":1,"time_ns":1,"bytes":1}
{"type":"counter","event":"EVIL","scope":"all","value":1,"quality":"estimate"}
{"type":"finding","rule":"EVIL","verdict":"EVIL","severity":"error","advice":"EVIL","next":"EVIL"}
{"type":"notice","severity":"EVIL","text":"EVIL","fix":"EVIL"}
{"type":"end","by":"x","counts":{},"complete":true}
`

// Whatever a stream says, nothing but our own colours reaches the terminal, no line is
// wider than it, and without colours there is no escape at all.
func TestTerminal(t *testing.T) {
	evil := `\u001b]0;owned\u0007\r\nx\u202e` + strings.Repeat("y", 200)
	stream := strings.ReplaceAll(everything, "EVIL", evil)
	for _, style := range []Style{{Width: 80}, {Width: 80, Color: true}, {Width: 1}} {
		got := text(t, stream, style)
		for _, section := range []string{"Collection", "Hardware metrics", "Hotspots", "Threads", "Memory", "Findings", "Notices"} {
			if !strings.Contains(got, section) {
				t.Errorf("no section %s in\n%s", section, got)
			}
		}
		ours := 0
		for _, code := range []string{bold, dim, yellow, red} {
			ours += strings.Count(got, "\x1b["+code+"m")
		}
		if style.Color != (ours > 0) || strings.Count(got, "\x1b") != ours+strings.Count(got, "\x1b[0m") || strings.Count(got, "\x1b[0m") != ours {
			t.Errorf("%+v: %d escapes, %d of them ours", style, strings.Count(got, "\x1b"), ours)
		}
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			if strings.ContainsAny(line, "\r\a\u202e") {
				t.Errorf("not safe: %q", line)
			}
			// A text that has to be read whole is wrapped between words, and a word can be wider.
			if word := strings.Contains(line, "yyyyyyyyyy") && !strings.Contains(line, "…"); style.Width == 80 && !style.Color && uniseg.StringWidth(line) > 80 && !word {
				t.Errorf("%d columns: %q", uniseg.StringWidth(line), line)
			}
		}
	}
}

// Ids are scoped to their stream, recursion counts once, and what has no frames is shown.
func TestHotspots(t *testing.T) {
	stream := `{"type":"stream","schema":1,"by":"a","profile":"p"}
{"type":"event","id":1,"name":"cpu-clock","unit":"ns","kind":"cpu"}
{"type":"frame","id":1,"symbol":"f","module":"m"}
{"type":"stack","id":1,"frame":1}
{"type":"stack","id":2,"frame":1,"parent":1}
{"type":"sample","event":1,"tid":1,"weight":60,"stack":2}
{"type":"end","by":"a","counts":{},"complete":true}
{"type":"stream","schema":1,"by":"b","profile":"p"}
{"type":"event","id":9,"name":"page-faults"}
{"type":"frame","id":1,"symbol":"g","module":"m"}
{"type":"stack","id":2,"frame":1}
{"type":"sample","event":9,"tid":1,"weight":1,"stack":2}
{"type":"event","id":1,"name":"cpu-clock"}
{"type":"sample","event":1,"tid":1,"weight":1,"stack":1}
{"type":"end","by":"b","counts":{},"complete":true}
`
	got := text(t, stream, Style{Width: 80})
	if !strings.Contains(got, "  98.36 %    98.36 %  f         m\n") || !strings.Contains(got, "1.64 % in samples without") || strings.Contains(got, " g ") {
		t.Errorf("one function, f, and what has no stack in its stream:\n%s", got)
	}
	if got := text(t, `{"type":"sample","event":1,"tid":1,"weight":60}`+"\n", Style{Width: 80}); !strings.Contains(got, "no sample has a call stack") {
		t.Errorf("no stack:\n%s", got)
	}
}

// Of an event that was counted for different shares of the time the smallest is told.
func TestRemarks(t *testing.T) {
	counter := `{"type":"counter","event":"%s","scope":"tid:%d","value":1,"quality":"estimate","enabled_ns":1000,"running_ns":%d}` + "\n"
	stream := fmt.Sprintf(counter, "cycles", 1, 500) + fmt.Sprintf(counter, "cycles", 2, 250) + fmt.Sprintf(counter, "cycles", 3, 400) +
		`{"type":"counter","event":"branches","scope":"all","value":1,"quality":"estimate"}` + "\n"
	got := text(t, stream, Style{Width: 200})
	if want := "cycles (25 % of the time), branches\n"; !strings.Contains(got, want) {
		t.Errorf("%q is not in\n%s", want, got)
	}
}

// Long lists end in what the rest amounts to.
func TestRest(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"event","id":1,"name":"cycles"}` + "\n")
	for i := 1; i <= 25; i++ {
		fmt.Fprintf(&b, `{"type":"frame","id":%d,"symbol":"f%d","module":"m"}`+"\n", i, i)
		fmt.Fprintf(&b, `{"type":"stack","id":%d,"frame":%d}`+"\n", i, i)
		fmt.Fprintf(&b, `{"type":"sample","event":1,"tid":%d,"weight":4,"stack":%d}`+"\n", i, i)
	}
	got := text(t, b.String(), Style{Width: 80})
	for _, want := range []string{"60.00 % in 15 further functions", "20.00 % of the samples in 5 further threads", "25 threads, 25 sampled"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// What samples are raw is said, and where they are not.
func TestRaw(t *testing.T) {
	event := `{"type":"event","id":1,"name":"cycles"}` + "\n"
	dump := `{"type":"dump","of":"perf.data","seq":0,"encoding":"zstd+base64","data":""}` + "\n"
	if got := text(t, event+dump, Style{}); !strings.Contains(got, "vp-fold") {
		t.Errorf("no word that the samples are raw:\n%s", got)
	}
	if got := text(t, event, Style{}); !strings.Contains(got, "Samples  none") {
		t.Errorf("no word that there are no samples:\n%s", got)
	}
}

// Whatever the input is, there are metrics without NaN and text that is safe to show.
func FuzzText(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte(`{"type":"counter","event":"cycles","scope":"all","value":1e308}` + "\n" + `{"type":"counter","event":"instructions","scope":"all","value":1e-308}` + "\n"))
	f.Add([]byte(`{"type":"sample","event":1,"tid":-5,"time_ns":-9223372036854775808,"weight":18446744073709551615,"stack":9}` + "\n"))
	f.Add([]byte(`{"type":"rss","pid":0,"time_ns":-1,"bytes":-1}` + "\n" + `{"type":"meta","target":{"start_ns":9223372036854775807}}` + "\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := record.NewReader("fuzz", bytes.NewReader(stream))
		g := Gatherer{Text: true}
		for r.Next() {
			g.Add(r)
		}
		var out bytes.Buffer
		if err := Write(&out, g.Profiles(), nil, Style{Width: 80}); err != nil {
			t.Fatal(err)
		}
		for _, c := range out.String() {
			if c != '\n' && !unicode.IsPrint(c) {
				t.Fatalf("%U in %q", c, out.String())
			}
		}
		for _, p := range g.Profiles() {
			for _, m := range p.News() {
				switch {
				case (m.Value == nil) == (m.Missing == ""):
					t.Errorf("neither value nor cause: %+v", m)
				case m.Value != nil && (math.IsNaN(*m.Value) || math.IsInf(*m.Value, 0)):
					t.Errorf("no number: %+v", m)
				}
			}
		}
	})
}
