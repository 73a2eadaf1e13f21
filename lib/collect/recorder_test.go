package collect

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"vperf/lib/record"
)

// What perf 6.1 says when it does not begin, and what is done about it.
func TestRefusals(t *testing.T) {
	first := plan{event: "cycles:P", chosen: true, callgraph: "fp", frequency: 199, buildIDs: true}
	asked := first
	asked.event, asked.chosen = "cache-misses", false
	lbr := first
	lbr.callgraph = "lbr"
	small := first
	small.pages = smallBuffer
	plain := first
	plain.event = "cpu-clock"
	bare := first
	bare.buildIDs = false
	frames := lbr
	frames.callgraph = "fp"

	const paranoid = `Error:
Access to performance monitoring and observability operations is limited.
Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open
`
	for _, test := range []struct {
		name   string
		stderr string
		plan   plan
		next   plan // the same: given up
		kind   refusalKind
		cause  record.Cause
	}{
		{"mlock", "Permission error mapping pages.\nConsider increasing /proc/sys/kernel/perf_event_mlock_kb,\nor try again with a smaller value of -m/--mmap_pages.\n(current value: 8192,0)\n", first, small, refusedMemory, record.CausePerfRecordFailed},
		{"mlock again", "Permission error mapping pages.\n", small, small, refusedMemory, record.CausePerfRecordFailed},
		{"before 5.12", "  Error: unknown option `buildid-mmap'\n\n Usage: perf record [<options>] [<command>]\n", first, bare, refusedBuildIDs, record.CausePerfRecordFailed},
		{"before 5.10", "  Error: unknown option `control'\n\n Usage: perf record [<options>] [<command>]\n", first, first, refusedControl, record.CausePerfRecordFailed},
		{"paranoid", paranoid, first, first, refusedPermission, record.CausePerfEventParanoid},
		{"seccomp", "Error:\nNo permission to enable cycles:P event.\n", first, first, refusedPermission, record.CausePerfEventParanoid},
		{"no such event", "event syntax error: 'cache-misses'\n                     \\___ parser error\n\nRun 'perf list' for a list of valid events\n", asked, asked, refusedEvent, record.CausePerfRecordFailed},
		{"our event", "event syntax error: 'cycles:P'\n", first, plain, refusedEvent, record.CausePerfRecordFailed},
		{"no interrupt", "Error:\ncycles:P: PMU Hardware doesn't support sampling/overflow-interrupts. Try 'perf stat'\n", first, plain, refusedOther, record.CausePerfRecordFailed},
		{"not ours to replace", "Error:\ncache-misses: PMU Hardware doesn't support sampling/overflow-interrupts. Try 'perf stat'\n", asked, asked, refusedOther, record.CausePerfRecordFailed},
		{"no lbr", "Error:\ncycles:P: PMU Hardware or event type doesn't support branch stack sampling.\n", lbr, frames, refusedOther, record.CausePerfRecordFailed},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &controlled{stderr: test.stderr}
			f := refusalOf(c, errEnded)
			if f.kind != test.kind || f.cause != test.cause || f.reason == "" {
				t.Errorf("refusal %+v", f)
			}
			if next, _ := test.plan.relax(f); next != test.next {
				t.Errorf("next %+v, want %+v", next, test.next)
			}
		})
	}
}

// Every plan gets simpler: the ladder ends.
func TestLadderEnds(t *testing.T) {
	for kind := refusedOther; kind <= refusedPermission; kind++ {
		p := plan{event: "cycles:P", chosen: true, callgraph: "lbr", buildIDs: true}
		for steps := 0; ; steps++ {
			next, _ := p.relax(refusal{kind: kind})
			if next == p {
				break
			}
			if p = next; steps > 5 {
				t.Fatalf("kind %d: still at it with %+v", kind, p)
			}
		}
	}
}

func TestPlanArgs(t *testing.T) {
	for _, test := range []struct {
		plan plan
		want []string
	}{
		{plan{event: "cycles", callgraph: "fp"}, []string{"-g"}},
		{plan{event: "cycles", callgraph: "dwarf"}, []string{"--call-graph", "dwarf"}},
		{plan{event: "cycles", callgraph: "none", pages: 16}, []string{"-m", "16"}},
		{plan{event: "cycles", callgraph: "none", buildIDs: true}, []string{"--buildid-mmap"}},
	} {
		args := test.plan.args(7, "file")
		i := slices.Index(args, test.want[0])
		if i < 0 || !slices.Equal(args[i:i+len(test.want)], test.want) {
			t.Errorf("%+v: %q has no %q", test.plan, args, test.want)
		}
		if test.plan.callgraph == "none" && (slices.Contains(args, "-g") || slices.Contains(args, "--call-graph")) {
			t.Errorf("%+v: call stacks in %q", test.plan, args)
		}
	}
}

func TestCut(t *testing.T) {
	dir := t.TempDir()
	header := make([]byte, 104)
	copy(header, "PERFILE2")
	for name, want := range map[string]bool{"empty": true, "short": true, "nosize": true, "good": false, "absent": true} {
		path := filepath.Join(dir, name)
		data := map[string][]byte{"empty": {}, "short": header[:50], "nosize": header, "good": header}[name]
		if name == "good" {
			data = slices.Clone(header)
			data[48] = 1
		}
		if name != "absent" {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if cut(path) != want {
			t.Errorf("%s: cut is %v", name, !want)
		}
	}
}
