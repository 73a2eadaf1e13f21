package metric

import (
	"slices"
	"strings"

	"vperf/lib/event"
	"vperf/lib/record"
)

// why is what a cause means and what helps.
type why struct{ words, hint string }

var causes = map[record.Cause]why{
	record.CausePerfMissing:       {"perf is not installed", "install perf: apt install linux-perf (Debian), linux-tools-$(uname -r) (Ubuntu), perf (Fedora)"},
	record.CausePerfEventParanoid: {"seen in user mode only, for perf may not count in the kernel here", "sudo sysctl kernel.perf_event_paranoid=1"},
	record.CauseNoPerfEvents:      {"this kernel has no perf events", "a kernel with CONFIG_PERF_EVENTS, and perf_event_open allowed in the container's seccomp profile"},
	record.CauseNoPMU:             {"no performance counters: the machine shows none, as most virtual machines do", "run on hardware, or give the virtual machine a PMU (QEMU: -cpu host,pmu=on; clouds: metal instances)"},
	record.CauseEventUnsupported:  {"this processor, or its virtual machine, does not count it", "vp-probe shows what can be counted here"},
	record.CauseEventNotCounted:   {"it was not counted", "count fewer events at a time, or a longer run; the NMI watchdog takes a counter: sudo sysctl kernel.nmi_watchdog=0"},
	record.CauseMultiplexed:       {"it was counted for a part of the time only", "count fewer events at a time"},
	record.CausePerfRecordFailed:  {"perf record failed", "vp-probe shows what is missing"},
	record.CauseNoSamples:         {"no samples were taken", "profile a longer run, or sample more often: --freq"},
	record.CauseTimedOut:          {"it took too long", ""},
	record.CauseNotLinux:          {"this is not Linux", ""},
	record.CauseTracefsDenied:     {"the kernel's tracepoints may not be read", "sudo mount -o remount,mode=755 /sys/kernel/tracing"},
	record.CauseAttachRefused:     {"the process may not be attached to", "run as its owner, or allow it: sudo sysctl kernel.yama.ptrace_scope=0"},
	record.CauseTargetNotFound:    {"there was no such process or program", ""},
	record.CauseTargetExitedEarly: {"the program had ended before it could be measured", "profile a longer run"},
	record.CauseNotThreaded:       {"the program has one thread", ""},
	record.CauseThreadsMoved:      {"threads moved between CPUs", "pin them: taskset, or OMP_PROC_BIND=true"},
	record.CauseLostSamples:       {"samples were lost", "sample less often: --freq"},
	record.CauseTruncatedInput:    {"the input was cut", ""},
	record.CauseBadInput:          {"the input says something that cannot be", ""},
	record.CauseSymbolsMissing:    {"symbols are missing", "do not strip the program, or install its debug symbols"},
	record.CauseBrokenStacks:      {"call stacks are broken", "compile with -fno-omit-frame-pointer, or record with --callgraph dwarf"},
	record.CauseDisabled:          {"it was not measured", ""},
	record.CauseRunFailed:         {"the run failed", ""},
	record.CauseEventsUnsupported: {"this processor does not count the events it needs", "vp-probe shows what can be counted here"},
	record.CauseNoMeasuredRep:     {"no repetition was measured", "ask for more: --reps"},
	record.CauseNotOpenMP:         {"the program does not use OpenMP", ""},
	record.CausePAPIMissing:       {"PAPI is not installed", ""},
	record.CausePAPIInitFailed:    {"PAPI could not be initialised", ""},
	record.CauseNotNative:         {"the program is not native code", ""},
}

// Words says what a cause means: a sentence without capital and period. An unknown cause is
// returned as it is.
func Words(c record.Cause) string {
	if w, ok := causes[c]; ok {
		return w.words
	}
	return string(c)
}

// Hint says what would help against a cause, empty where nothing would.
func Hint(c record.Cause) string { return causes[c].hint }

// Explain says why a metric has no value, and what would help, empty where nothing would.
func Explain(m *record.Metric) (words, hint string) {
	if m.Missing == record.CauseEventNotCounted {
		inputs := inputsOf(m.Formula)
		known := func(name string) bool { _, ok := m.Inputs[name]; return ok }
		if !slices.ContainsFunc(inputs, func(name string) bool { return !known(name) }) {
			for _, name := range slices.Backward(inputs) { // all were counted, but one that divides counted nothing
				if m.Inputs[name] == 0 {
					return name + " counted 0", ""
				}
			}
		}
	}
	return Words(m.Missing), Hint(m.Missing)
}

// Note says what the value of a metric means, where that is not what one would think.
func Note(m *record.Metric, vendor string) string {
	f, ok := Lookup(m.Name)
	if !ok {
		return ""
	}
	for _, w := range f.Ways {
		if w.Vendor != "" && w.Vendor != vendor {
			continue
		}
		names := map[string]string{}
		for _, operand := range compile(w.Expr).operands {
			names[operand] = operand
			for name := range m.Inputs {
				if event.Base(name) == operand {
					names[operand] = name
				}
			}
		}
		if compile(w.Expr).render(names) == m.Formula {
			return w.Note
		}
	}
	return ""
}

// inputsOf returns the names in a formula, in order.
func inputsOf(formula string) []string {
	var names []string
	for token := range strings.FieldsSeq(formula) {
		token = strings.Trim(token, "()")
		if token == "" || strings.Contains("+-*/", token) || '0' <= token[0] && token[0] <= '9' || slices.Contains(names, token) {
			continue
		}
		names = append(names, token)
	}
	return names
}
