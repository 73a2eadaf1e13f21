package report_test

import (
	"strings"
	"testing"

	"vperf/lib/record"
)

// of is a stream with one sample of weight 1 for each frame.
func of(frames ...record.Frame) string {
	return stream(record.Stream{Clock: "monotonic"}, func(w *record.Writer, in *record.Interner) {
		w.Write(&record.Event{ID: 1, Name: "cycles", Unit: "cycles", Kind: record.KindCPU})
		for i, f := range frames {
			w.Write(&record.Sample{Event: 1, TID: 1, TimeNS: int64(i) * 1e6, Weight: 1, Stack: in.Stack(0, in.Frame(f)), CPU: record.None, PID: record.None})
		}
	})
}

func TestNamed(t *testing.T) {
	for _, test := range []struct {
		name, input, named string
	}{
		{"a symbol in no module", of(record.Frame{Symbol: "f", Kind: record.KindUnknown}), "100.0"},
		{"a module without a symbol", of(record.Frame{Symbol: "f", Kind: record.KindUser}, record.Frame{Module: "/lib/m.so", Kind: record.KindUser}), "50.0"},
		{"neither", of(record.Frame{Kind: record.KindUnknown}), "0.0"},
		{"the kernel without symbols", of(record.Frame{Module: "[kernel.kallsyms]", Kind: record.KindKernel}), "0.0"},
		{"no frames", cpu("", []string{}), "0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := html(t, read(t, test.input), "")
			if want := `"` + test.named + ` % in named functions"`; !strings.Contains(page, want) {
				t.Errorf("the page does not say %s", want)
			}
			if want := "<td>Every frame named<td class=\"n\">" + test.named + " %"; !strings.Contains(page, want) {
				t.Errorf("the page does not say %s", want)
			}
		})
	}
}
