package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	pprofile "github.com/google/pprof/profile"

	"vperf/lib/format/calltree"
	"vperf/lib/perf/perftest"
)

// everyFormat is what samples can be written as, with what the weights in it add up to.
var everyFormat = map[string]func(t *testing.T, out []byte) uint64{
	"folded": func(t *testing.T, out []byte) uint64 { return sum(parseFolded(t, out)) },
	"pprof": func(t *testing.T, out []byte) (total uint64) {
		p, err := pprofile.ParseData(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Sample {
			total += uint64(s.Value[len(s.Value)-1])
		}
		return total
	},
	"tree": func(t *testing.T, out []byte) uint64 {
		var g calltree.Graph
		decode(t, out, &g)
		return g.Weight
	},
	"speedscope": func(t *testing.T, out []byte) (total uint64) {
		var file struct {
			Profiles []struct{ EndValue uint64 }
		}
		decode(t, out, &file)
		for _, p := range file.Profiles {
			total += p.EndValue
		}
		return total
	},
	"firefox": func(t *testing.T, out []byte) uint64 {
		var file struct {
			Threads []struct {
				Samples struct {
					Weight     []float64
					WeightType string
				}
			}
		}
		decode(t, out, &file)
		total := 0.0
		for _, th := range file.Threads {
			scale := map[string]float64{"samples": 1, "tracing-ms": 1e6}[th.Samples.WeightType]
			for _, w := range th.Samples.Weight {
				total += scale * w
			}
		}
		return uint64(math.Round(total))
	},
}

func decode(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
}

// recordedText has two events, two processes, kernel and inlined frames.
const recordedText = `app     9/9     [001]     1.000000:    1000000 cpu-clock: 
	ffffffff81000010 sys_read+0x10 ([kernel.kallsyms])
	          401136 inl+0x26 (inlined)
	          401136 work+0x26 (/opt/app)
	          401196 main+0x16 (/opt/app)

app     9/10    [000]     1.100000:    2000000 cpu-clock: 
	ffffffff81000020 sys_read+0x20 ([kernel.kallsyms])
	          401137 work+0x27 (/opt/app)
	          401196 main+0x16 (/opt/app)

sh     7/7    [000]     1.200000:    4000000 cpu-clock: 
	          501196 run+0x16 (/bin/sh)

app     9/9     [000]     1.250000:    8000000 cpu-clock: 

app     9/9     [000]     1.300000:          3 page-faults: 
	          401196 main+0x16 (/opt/app)

app     9/10    [001]     1.400000:   16000000 cpu-clock: 
	ffffffff81000030 do_idle+0x30 ([kernel.kallsyms])

`

// TestFiltersInEveryFormat has every filter take the same samples away, whatever is read
// and written.
func TestFiltersInEveryFormat(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) (out []byte, ok bool) {
		cmd := exec.CommandContext(t.Context(), "vp-fold", args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
			t.Fatalf("%q: %v\n%s", args, err, stderr.String())
		} else if strings.Contains(stderr.String(), "panic") {
			t.Fatalf("%q: %s", args, stderr.String())
		}
		return stdout.Bytes(), cmd.ProcessState.ExitCode() == 0
	}
	if err := os.WriteFile(file("text"), []byte(recordedText), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"records": nil, "pprof": {"--format", "pprof"}, "folded": {"--format", "folded", "--mark"},
	} {
		if _, ok := run(slices.Concat(args, []string{"-o", file(name), file("text")})...); !ok {
			t.Fatal(name)
		}
	}
	const ms = 1_000_000
	for _, c := range []struct {
		args   []string
		text   uint64 // what is left of the text and of the records
		pprof  uint64 // of the profile, where that is less: it has no times and no CPUs
		folded uint64 // of the folded text, that has neither threads nor modules either
	}{
		{args: nil, text: 31 * ms, pprof: 31 * ms, folded: 31 * ms},
		{args: []string{"--tid", "10"}, text: 18 * ms, pprof: 18 * ms},
		{args: []string{"--pid", "9", "--comm", "app"}, text: 27 * ms, pprof: 27 * ms},
		{args: []string{"--comm", "sh"}, text: 4 * ms, pprof: 4 * ms},
		{args: []string{"--cpu", "1"}, text: 17 * ms},
		{args: []string{"--event", "page-faults"}, text: 3},
		{args: []string{"--event", "cpu-clock"}, text: 31 * ms, pprof: 31 * ms},
		{args: []string{"--module", "/opt/"}, text: 3 * ms, pprof: 3 * ms},
		{args: []string{"--function", "^work$"}, text: 3 * ms, pprof: 3 * ms, folded: 3 * ms},
		{args: []string{"--from", "0.1", "--to", "0.4"}, text: 14 * ms},
		{args: []string{"--kernel", "drop"}, text: 15 * ms, pprof: 15 * ms, folded: 31 * ms}, // app;do_idle: app is a frame there
		{args: []string{"--kernel", "boundary"}, text: 31 * ms, pprof: 31 * ms, folded: 31 * ms},
		{args: []string{"--no-inline"}, text: 31 * ms, pprof: 31 * ms, folded: 31 * ms},
		{args: []string{"--max-depth", "1"}, text: 31 * ms, pprof: 31 * ms, folded: 31 * ms},
		{args: []string{"--weight", "samples"}, text: 5, pprof: 5, folded: 31 * ms},
		{args: []string{"--weight", "samples", "--tid", "9", "--function", "work", "--module", "kernel", "--no-inline"}, text: 1, pprof: 1},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			for input, want := range map[string]uint64{"text": c.text, "records": c.text, "pprof": c.pprof, "folded": c.folded} {
				for format, total := range everyFormat {
					out, ok := run(slices.Concat(c.args, []string{"--quiet", "--format", format, file(input)})...)
					if ok != (want > 0) {
						t.Errorf("%s as %s: success is %v", input, format, ok)
						continue
					}
					if !ok {
						if len(out) > 0 {
							t.Errorf("%s as %s failed, but wrote %q", input, format, out)
						}
						continue
					}
					want := want
					if format == "firefox" && slices.Contains(c.args, "page-faults") {
						want = 1 // counted, for page faults are no time
					}
					if input == "records" {
						if text, _ := run(slices.Concat(c.args, []string{"--quiet", "--format", format, file("text")})...); !bytes.Equal(text, out) {
							t.Errorf("as %s, records and the text that they were made of differ:\n%s\n%s", format, out, text)
						}
					}
					if got := total(t, out); got != want {
						t.Errorf("%s as %s: %d, want %d", input, format, got, want)
					}
				}
			}
		})
	}
}

// TestFormatsOfRecording has every format show the same of what perf records here, and
// `go tool pprof` read the profile.
func TestFormatsOfRecording(t *testing.T) {
	data := recordBurn(t, perftest.NeedPerf(t), "-g")
	dir := t.TempDir()
	fold := func(format, input string) []byte {
		t.Helper()
		return output(t, exec.CommandContext(t.Context(), "vp-fold", "--quiet", "--format", format, input))
	}
	file := func(name string, content []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	records := file("records", fold("ndjson", data))
	want := sum(parseFolded(t, fold("folded", data)))
	for format, total := range everyFormat {
		direct, again := fold(format, data), fold(format, records)
		if got := total(t, direct); got != want {
			t.Errorf("%s: %d ns, want %d", format, got, want)
		}
		if got := total(t, again); got != want {
			t.Errorf("%s of the records: %d ns, want %d", format, got, want)
		}
		if format == "tree" || format == "speedscope" || format == "folded" {
			if !bytes.Equal(direct, again) {
				t.Errorf("%s differs when it is made of records", format)
			}
		}
	}
	pb := file("pb", fold("pprof", data))
	top := string(output(t, exec.CommandContext(t.Context(), "go", "tool", "pprof", "-symbolize=none", "-top", "-unit=ns", pb)))
	if line := fmt.Sprintf("Total samples = %dns", want); !strings.Contains(top, line) {
		t.Errorf("no %q in\n%s", line, top)
	}

	// What each function has itself and with its callees, by lines and by the tool.
	self, total := map[string]uint64{}, map[string]uint64{}
	for line, weight := range parseFolded(t, output(t, exec.CommandContext(t.Context(), "vp-fold", "--quiet", "--format", "folded", "--root", "none", data))) {
		frames := strings.Split(line, ";")
		self[frames[len(frames)-1]] += weight
		slices.Sort(frames)
		for _, name := range slices.Compact(frames) {
			total[name] += weight
		}
	}
	row := regexp.MustCompile(`(?m)^ *(\d+)(?:ns)? +\S+ +\S+ +(\d+)ns +\S+  (.+?)(?: \(inline\))?$`)
	found := row.FindAllStringSubmatch(top, -1)
	if len(found) == 0 {
		t.Fatalf("no functions in\n%s", top)
	}
	for _, m := range found {
		if m[1] != fmt.Sprint(self[m[3]]) || m[2] != fmt.Sprint(total[m[3]]) {
			t.Errorf("%s has %d and %d ns, but %s", m[3], self[m[3]], total[m[3]], m[0])
		}
	}
}

// TestPprofInput keeps what a profile says of its sample types and modules.
func TestPprofInput(t *testing.T) {
	f := &pprofile.Function{ID: 1, Name: "alloc"}
	m := &pprofile.Mapping{ID: 1, File: "/opt/app", BuildID: "0123abcd", HasFunctions: true}
	l := &pprofile.Location{ID: 1, Mapping: m, Line: []pprofile.Line{{Function: f}}}
	in := filepath.Join(t.TempDir(), "heap")
	file, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	heap := &pprofile.Profile{
		SampleType: []*pprofile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}},
		Function:   []*pprofile.Function{f}, Mapping: []*pprofile.Mapping{m}, Location: []*pprofile.Location{l},
		Sample: []*pprofile.Sample{{Location: []*pprofile.Location{l}, Value: []int64{2, 4096}}},
	}
	if err := heap.Write(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	fold := func(args ...string) []byte {
		t.Helper()
		return output(t, exec.CommandContext(t.Context(), "vp-fold", slices.Concat([]string{"--quiet", in}, args)...))
	}
	for format, want := range map[string]string{
		"speedscope": `"unit":"bytes","startValue":0,"endValue":4096`,
		"firefox":    `"weight":[4096],"weightType":"bytes"`,
		"tree":       `"event":"alloc_space","unit":"bytes","weight":4096`,
		"ndjson":     `"name":"alloc_space","unit":"bytes","kind":"counter"`,
	} {
		if out := fold("--format", format); !bytes.Contains(out, []byte(want)) {
			t.Errorf("%s: no %s in %s", format, want, out)
		}
	}
	if out := fold("--format", "tree", "--event", "alloc_objects"); !bytes.Contains(out, []byte(`"event":"alloc_objects","unit":"count","weight":2,`)) {
		t.Errorf("objects: %s", out)
	}
	again, err := pprofile.ParseData(fold("--format", "pprof"))
	if err != nil {
		t.Fatal(err)
	}
	if id := again.Mapping[0].BuildID; id != m.BuildID {
		t.Errorf("build id %q", id)
	}
	if st := again.SampleType[1]; st.Type != "alloc_space" || st.Unit != "bytes" || again.Sample[0].Value[1] != 4096 {
		t.Errorf("%s/%s %v", st.Type, st.Unit, again.Sample[0].Value)
	}
}
