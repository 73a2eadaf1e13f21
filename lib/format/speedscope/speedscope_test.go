package speedscope

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"vperf/lib/format/internal/sample"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
)

// A file is what the schema allows: unknown fields are an error.
type file struct {
	Schema string `json:"$schema"`
	Shared struct {
		Frames []struct {
			Name string  `json:"name"`
			File *string `json:"file"`
			Line *int    `json:"line"`
			Col  *int    `json:"col"`
		} `json:"frames"`
	} `json:"shared"`
	Profiles []struct {
		Type       string  `json:"type"`
		Name       *string `json:"name"`
		Unit       string  `json:"unit"`
		StartValue *uint64 `json:"startValue"`
		EndValue   *uint64 `json:"endValue"`
		Samples    [][]int `json:"samples"`
		Weights    []int64 `json:"weights"`
	} `json:"profiles"`
	Name   string `json:"name"`
	Active *int   `json:"activeProfileIndex"`
	By     string `json:"exporter"`
}

// read checks what the schema says of a file of sampled profiles.
func read(t *testing.T, data []byte) *file {
	t.Helper()
	var f file
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if f.Schema != "https://www.speedscope.app/file-format-schema.json" {
		t.Errorf("$schema %q", f.Schema)
	}
	if f.Shared.Frames == nil || f.Profiles == nil {
		t.Error("shared.frames and profiles are required")
	}
	for i, p := range f.Profiles {
		if p.Type != "sampled" || p.Name == nil || p.StartValue == nil || p.EndValue == nil || p.Samples == nil || p.Weights == nil {
			t.Fatalf("profile %d lacks what is required: %+v", i, p)
		}
		if !slices.Contains([]string{"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}, p.Unit) {
			t.Errorf("profile %d: unit %q", i, p.Unit)
		}
		if len(p.Samples) != len(p.Weights) {
			t.Errorf("profile %d: %d samples and %d weights", i, len(p.Samples), len(p.Weights))
		}
		total := *p.StartValue
		for j, s := range p.Samples {
			total += uint64(p.Weights[j])
			for _, n := range s {
				if n < 0 || n >= len(f.Shared.Frames) {
					t.Fatalf("profile %d, sample %d: frame %d of %d", i, j, n, len(f.Shared.Frames))
				}
			}
		}
		if total != *p.EndValue {
			t.Errorf("profile %d ends at %d, its weights at %d", i, *p.EndValue, total)
		}
	}
	if f.Active != nil && (*f.Active < 0 || *f.Active >= len(f.Profiles)) {
		t.Errorf("active profile %d of %d", *f.Active, len(f.Profiles))
	}
	return &f
}

func TestWrite(t *testing.T) {
	write := func() []byte {
		var out bytes.Buffer
		if err := Write(&out, sample.Profile(record.Event{Name: "cpu-clock", Unit: "ns"}, true, sample.App)); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	data := write()
	f := read(t, data)
	if !bytes.Equal(data, write()) {
		t.Error("the same profile makes different files")
	}
	if bytes.Contains(data, []byte("</script>")) {
		t.Error("a symbol is markup")
	}
	var got []string
	for _, p := range f.Profiles {
		for i, s := range p.Samples {
			line := *p.Name + ":"
			for _, n := range s {
				line += " " + f.Shared.Frames[n].Name
			}
			got = append(got, fmt.Sprint(line, " ", p.Weights[i], " ", p.Unit))
		}
	}
	want := []string{
		"app-9/9: main work inner sys_read 10000000 nanoseconds",
		"app-9/9: main work inner 4000000 nanoseconds", // in the order of the times
		"app-9/9: main work inner sys_read 20000000 nanoseconds",
		"app-9/9: main </script>\ufffd 1000000 nanoseconds",
		"pool-9/10: thread work work [unknown] 5000000 nanoseconds",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if *f.Active != 0 || f.By != "vp-fold 1" || f.Name != "cpu-clock" {
		t.Errorf("active %d, by %q, name %q", *f.Active, f.By, f.Name)
	}
}

// TestLarge stays below what JavaScript can count.
func TestLarge(t *testing.T) {
	var out bytes.Buffer
	s := sample.Sample{PID: 1, TID: 1, Comm: "a", TimeNS: recording.None, Stack: "f", Weight: 1 << 60}
	if err := Write(&out, sample.Profile(record.Event{Name: "cycles", Unit: "cycles"}, true, []sample.Sample{s})); err != nil {
		t.Fatal(err)
	}
	if f := read(t, out.Bytes()); f.Profiles[0].Weights[0] != most || f.Profiles[0].Unit != "none" {
		t.Errorf("%+v", f.Profiles)
	}
}
