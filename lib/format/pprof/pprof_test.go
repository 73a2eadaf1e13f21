package pprof

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	runtimepprof "runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"vperf/lib/format"
	"vperf/lib/format/internal/sample"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

func encode(t *testing.T, p *format.Profile) []byte {
	t.Helper()
	var out, again bytes.Buffer
	if err := Write(&out, p); err != nil {
		t.Fatal(err)
	}
	if err := Write(&again, p); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("the same profile makes different files (%v)", err)
	}
	return out.Bytes()
}

func gunzip(t *testing.T, data []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

var cpuClock = record.Event{Name: "cpu-clock", Unit: "ns"}

// goPprof runs `go tool pprof` on a profile.
func goPprof(t *testing.T, data []byte, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.pb.gz")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"tool", "pprof", "-symbolize=none"}, args, []string{file})...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestPprof has the tool read what was written, and show the numbers of the samples.
func TestPprof(t *testing.T) {
	p := sample.Profile(cpuClock, false, sample.App)
	p.BuildIDs = map[string]string{"/opt/app": "0123456789abcdef"}
	p.Args = []string{"--tid=9"}
	data := encode(t, p)

	top := goPprof(t, data, "-top", "-unit=ms", "-nodecount=99")
	for _, want := range []string{
		`File: app`, `Type: cpu-clock`, `Duration: 30ms, Total samples = 40ms`,
		`(?m)^\s+30ms\s.*\s30ms\s.* sys_read$`, `(?m)^\s+4ms\s.*\s34ms\s.* inner \(inline\)$`,
		`(?m)^\s+0\s.*\s39ms\s.* work$`, `(?m)^\s+5ms\s.*\s5ms\s.* \[unknown\]$`, `(?m)^\s+0\s.*\s35ms\s.* main$`,
	} {
		if !regexp.MustCompile(want).MatchString(top) {
			t.Errorf("no %s in\n%s", want, top)
		}
	}
	if counted := goPprof(t, data, "-top", "-sample_index=samples"); !strings.Contains(counted, "Total samples = 5") {
		t.Errorf("5 samples are\n%s", counted)
	}
	if pool := goPprof(t, data, "-top", "-unit=ms", "-tagfocus=thread=pool"); !strings.Contains(pool, "Showing nodes accounting for 5ms") {
		t.Errorf("the thread pool is\n%s", pool)
	}
	raw := goPprof(t, data, "-raw")
	for _, want := range []string{
		"samples/count cpu-clock/nanoseconds[dflt]", "comm:[app] thread:[pool]", "tid:[10]", "pid:[9]",
		"/opt/app 0123456789abcdef [FN][FL][LN][IN]", "[kernel.kallsyms]  [FN]",
	} {
		if !strings.Contains(raw, want) {
			t.Errorf("no %q in\n%s", want, raw)
		}
	}
	if comments := goPprof(t, data, "-comments"); !strings.Contains(comments, "vp-fold 1\nevent cpu-clock\n--tid=9") {
		t.Errorf("comments are %s", comments)
	}
}

// TestLocations keeps an inlined function in the location of the function that holds it.
func TestLocations(t *testing.T) {
	got, err := profile.ParseData(encode(t, sample.Profile(cpuClock, false, sample.App)))
	if err == nil {
		err = got.CheckValid()
	}
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range got.Sample[0].Location {
		line := l.Mapping.File
		for _, x := range l.Line {
			line += fmt.Sprintf(" %s:%d", x.Function.Name, x.Line)
		}
		lines = append(lines, line)
	}
	want := []string{"[kernel.kallsyms] sys_read:0", "/opt/app inner:3 work:7", "/opt/app main:7"}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	if len(got.Sample) != 4 || got.Sample[0].Value[0] != 2 || got.Sample[0].Value[1] != 30e6 {
		t.Errorf("%d samples, the first is %v", len(got.Sample), got.Sample[0].Value)
	}
	if got.TimeNanos != 0 {
		t.Errorf("a clock that counts from boot became the time of day %d", got.TimeNanos)
	}
}

// TestMappings has the program first, by whose name the tools call the profile.
func TestMappings(t *testing.T) {
	s := sample.Sample{Stack: "k:entry;l:start;main", Weight: 2}
	got, err := profile.ParseData(encode(t, sample.Profile(cpuClock, false, []sample.Sample{s})))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, m := range got.Mapping {
		files = append(files, m.File)
	}
	if want := []string{"/opt/app", "/lib/libc.so.6", "[kernel.kallsyms]"}; !slices.Equal(files, want) {
		t.Errorf("%q, want %q", files, want)
	}
}

func TestTimeOfDay(t *testing.T) {
	const noon = 1_700_000_000_000_000_000
	s := sample.Sample{TimeNS: noon, Stack: "f", Weight: 1}
	got, err := profile.ParseData(encode(t, sample.Profile(cpuClock, false, []sample.Sample{s})))
	if err != nil {
		t.Fatal(err)
	}
	if got.TimeNanos != noon {
		t.Errorf("time %d", got.TimeNanos)
	}
	if len(got.SampleType) != 1 { // each sample weighs 1
		t.Errorf("%d sample types", len(got.SampleType))
	}
}

// lines reads all samples of a source.
func lines(t *testing.T, r *Reader) (list []string) {
	t.Helper()
	for r.Next() {
		s := r.Sample()
		var names []string
		for _, i := range r.Stack(s.Stack) {
			f := r.Frame(i)
			name := stack.Naming{Mark: true}.Name(f)
			names = append([]string{name}, names...)
		}
		list = append(list, fmt.Sprintf("%s %d/%d %s %s %d*%d", s.Comm, s.PID, s.TID, s.Event, strings.Join(names, ";"), r.Count(), s.Weight))
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	return list
}

// TestRoundTrip reads what was written.
func TestRoundTrip(t *testing.T) {
	p := sample.Profile(cpuClock, false, sample.App)
	p.BuildIDs = map[string]string{"/opt/app": "0123456789abcdef"}
	plain := gunzip(t, encode(t, p))
	if !Looks(plain[:64]) {
		t.Error("it does not look like a profile")
	}
	r, err := NewReader(bytes.NewReader(plain), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"app 9/9 cpu-clock main;work;inner_[i];sys_read_[k] 2*30000000",
		"pool 9/10 cpu-clock thread;work;work;[unknown] 1*5000000",
		"app 9/9 cpu-clock main;work;inner_[i] 1*4000000",
		"app 9/9 cpu-clock main;</script>\xff 1*1000000",
	}
	if got := lines(t, r); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if e := r.Event(); e.Unit != "ns" || e.Kind != record.KindCPU {
		t.Errorf("%+v", e)
	}
	if id := r.BuildID("/opt/app"); id != "0123456789abcdef" {
		t.Errorf("build id %q", id)
	}
	if f := r.Frame(1); f.Kind != record.KindUser || f.File != "app.c" || f.Line != 7 {
		t.Errorf("%+v", f)
	}
}

// heap is a profile as Go's runtime writes it, with a negative value as in a difference.
func heap() *profile.Profile {
	f := &profile.Function{ID: 1, Name: "f"}
	l := &profile.Location{ID: 1, Address: 0x4010, Line: []profile.Line{{Function: f}}}
	bare := &profile.Location{ID: 2, Address: 0x5010, Mapping: &profile.Mapping{ID: 1, File: "/lib/libc.so"}}
	return &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "bytes"}, {Type: "delay", Unit: "microseconds"}},
		Function:   []*profile.Function{f}, Location: []*profile.Location{l, bare}, Mapping: []*profile.Mapping{bare.Mapping},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{l, bare}, Value: []int64{1, 64, 3}},
			{Location: []*profile.Location{l}, Value: []int64{0, 0, -1}},
			{Value: []int64{2, 0, 5}},
		},
	}
}

func TestSampleTypes(t *testing.T) {
	for _, c := range []struct {
		wanted, dflt string
		event        record.Event
		want         []string
	}{
		{"", "", record.Event{Name: "delay", Unit: "ns", Kind: record.KindCounter}, []string{" -1/-1 delay [libc.so <5010>];f 1*3000", " -1/-1 delay  1*5000"}},
		{"", "space", record.Event{Name: "space", Unit: "bytes", Kind: record.KindCounter}, []string{" -1/-1 space [libc.so <5010>];f 1*64"}},
		{"objects", "space", record.Event{Name: "objects", Unit: "count", Kind: record.KindCounter}, []string{" -1/-1 objects [libc.so <5010>];f 1*1", " -1/-1 objects  1*2"}},
	} {
		p := heap()
		p.DefaultSampleType = c.dflt
		var data bytes.Buffer
		if err := p.WriteUncompressed(&data); err != nil {
			t.Fatal(err)
		}
		var wanted func(string) bool
		if c.wanted != "" {
			wanted = func(name string) bool { return name == c.wanted }
		}
		r, err := NewReader(&data, wanted, true)
		if err != nil {
			t.Fatal(err)
		}
		got := lines(t, r)
		for i, want := range c.want {
			want = strings.Replace(want, " <5010>", "", 1) // only folded text with --addrs shows it
			if i >= len(got) || got[i] != want {
				t.Errorf("%q: got %q, want %q", c.wanted, got, c.want)
				break
			}
		}
		if r.Event() != c.event {
			t.Errorf("%q: %+v", c.wanted, r.Event())
		}
		if n := r.Tally().N(recording.BadValue); (n == 1) != (c.event.Name == "delay") {
			t.Errorf("%q: %d negative values", c.wanted, n)
		}
	}
	var data bytes.Buffer
	heap().WriteUncompressed(&data)
	_, err := NewReader(&data, func(string) bool { return false }, false)
	var missing *EventError
	if !errors.As(err, &missing) || len(missing.Types) != 3 {
		t.Errorf("an unknown sample type is %v", err)
	}
}

func TestLooks(t *testing.T) {
	for text, want := range map[string]bool{
		"\x0a\x04\x08\x01\x10\x02\x0a": true, "\x0a\x04\x08\x01\x10\x02\x12": true,
		"\x0a\x05\x08\xff\x01\x10\x02\x12": true, "\x0a\x04\x08\x01\x10\x02\x00": false,
		"\x0a\x04\x08\x01\x10\x02": true, "H\xef\xbf\x01\x0a\x04\x08\x01\x10\x02\x0a": true, "H\xef\xbf\x01": false,
		"\x0a\x04\x08\x01\x10\x02\x12\x7f\x08": true, "2\x7f": false, "He": false, "H\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01": false,
		"\x0a\x04\x08\x01\x18\x02\x12": false, "\x0a\x04\x08\x01\x10": false, "\x0a\x02\x08\xff\x12": false,
		"\napp 9/9 1.0: cycles:\n": false, "\n\n\n\n\n\n\n": false, "main;f 12\n": false, "": false, "\x0a": false, "\x0a\x00\x0a\x00": false,
	} {
		if got := Looks([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestBlowUp does not unfold a few kilobytes into billions of frames.
func TestBlowUp(t *testing.T) {
	f := &profile.Function{ID: 1, Name: "f"}
	l := &profile.Location{ID: 1, Line: make([]profile.Line, 1000)}
	for i := range l.Line {
		l.Line[i].Function = f
	}
	s := &profile.Sample{Location: slices.Repeat([]*profile.Location{l}, 1000), Value: []int64{1}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}, Sample: slices.Repeat([]*profile.Sample{s}, 10),
		Function: []*profile.Function{f}, Location: []*profile.Location{l},
	}
	var data bytes.Buffer
	if err := p.WriteUncompressed(&data); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(&data, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if r.Next() || !errors.Is(r.Err(), errFrames) {
		t.Errorf("10 million frames were read: %v", r.Err())
	}
}

// TestRuntime knows what Go's own runtime writes.
func TestRuntime(t *testing.T) {
	var out bytes.Buffer
	if err := runtimepprof.StartCPUProfile(&out); err != nil {
		t.Skipf("SKIPPED, this test is being profiled: %v", err)
	}
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
		out.Len()
	}
	runtimepprof.StopCPUProfile()
	plain := gunzip(t, out.Bytes())
	if !Looks(plain[:min(len(plain), 512)]) {
		t.Fatalf("%q does not look like a profile", plain[:min(len(plain), 64)])
	}
	r, err := NewReader(bytes.NewReader(plain), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if e := r.Event(); e.Name != "cpu" || e.Unit != "ns" || e.Kind != record.KindCPU {
		t.Errorf("%+v", e)
	}
	lines(t, r)
}

func FuzzReader(f *testing.F) {
	var data bytes.Buffer
	heap().WriteUncompressed(&data)
	f.Add(data.Bytes())
	var out bytes.Buffer
	Write(&out, sample.Profile(cpuClock, false, sample.App))
	if z, err := gzip.NewReader(&out); err == nil {
		plain, _ := io.ReadAll(z)
		f.Add(plain)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Looks(data)
		r, err := NewReader(bytes.NewReader(data), nil, true)
		if err != nil {
			return
		}
		var n uint64
		for r.Next() {
			for _, i := range r.Stack(r.Sample().Stack) {
				_ = r.Frame(i).Symbol
			}
			n = stack.Plus(n, r.Count())
		}
		if got := r.Tally().Samples; r.Err() == nil && got != n {
			t.Errorf("%d samples, %d counted", n, got)
		}
	})
}
