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

// Counts of the run stand for all of its samples, never for those that a filter left.
func TestFiltered(t *testing.T) {
	input := func(clock, unit string, args ...string) string {
		return stream(record.Stream{Clock: "monotonic"}, func(w *record.Writer, _ *record.Interner) {
			w.Write(&record.Meta{Target: &record.Target{DurationNS: record.Int(4e9)}})
			if clock != "" {
				w.Write(&record.Counter{Event: clock, Scope: "all", Unit: "ns", Value: record.Float(8e9)})
			}
		}) + stream(record.Stream{Clock: "monotonic", Args: args}, func(w *record.Writer, in *record.Interner) {
			w.Write(&record.Event{ID: 1, Name: "e", Unit: unit, Kind: record.KindCPU})
			w.Write(&record.Sample{Event: 1, TID: 1, TimeNS: 1e9, Weight: 1e9, Stack: call(in, "f"), CPU: record.None, PID: record.None})
		})
	}
	for _, test := range []struct {
		name, input string
		cpu         any // seconds
		part        bool
		busy        string
	}{
		{"all of the run", input("task-clock", "ns"), 8.0, false, "2.00 CPUs"},
		{"one event of the run", input("task-clock", "ns", "--event=e"), 8.0, false, "2.00 CPUs"},
		{"a thread", input("task-clock", "ns", "--no-inline=true", "--tid=101"), 1.0, true, "2.00 CPUs"},
		{"a thread's cycles", input("task-clock", "cycles", "--tid=101"), nil, true, "2.00 CPUs"},
		{"a thread, nothing counted", input("", "ns", "--tid=101"), 1.0, true, "– unknown"},
		{"all, nothing counted", input("", "ns"), 1.0, false, "0.25 CPUs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := html(t, read(t, test.input), "")
			head, _ := block(t, page)
			if e := head["events"].([]any)[0].(map[string]any); e["cpu"] != test.cpu || e["part"] != test.part {
				t.Errorf("cpu %v, part %v; want %v, %t", e["cpu"], e["part"], test.cpu, test.part)
			}
			if notice := "only those of --tid=101"; strings.Contains(page, notice) != test.part {
				t.Errorf("the page says %q: %t", notice, !test.part)
			}
			if !strings.Contains(page, `<b title="`+test.busy+`">`) {
				t.Errorf("the page does not say %s", test.busy)
			}
		})
	}
}

// There is no share of nothing.
func TestWeightless(t *testing.T) {
	page := html(t, read(t, stream(record.Stream{Clock: "monotonic"}, func(w *record.Writer, in *record.Interner) {
		w.Write(&record.Event{ID: 1, Name: "cycles", Kind: record.KindCPU})
		w.Write(&record.Sample{Event: 1, TID: 1, TimeNS: 1, Stack: call(in, "f"), CPU: record.None, PID: record.None})
	})), "")
	if i := strings.Index(page, "0.0 %"); i >= 0 {
		t.Errorf("a share of nothing: %q", page[max(0, i-60):i+60])
	}
	for _, want := range []string{"those in the input weigh nothing", `"– unknown">– `, "<td>Every frame named<td class=\"n\">–"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %s", want)
		}
	}
}
