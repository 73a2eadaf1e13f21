package event

import "strings"

// modifierLetters are what may stand behind the colon or the last slash of an event:
// tools/perf/util/parse-events.l, name_modifier and modifier_event.
const modifierLetters = "ukhpPGHISDWebR"

// aliases are the second names that perf accepts and, unlike the kernel, prints back as
// they were given: tools/perf/util/parse-events.c, event_symbols_hw and event_symbols_sw.
var aliases = map[string]string{
	"cpu-cycles":           "cycles",
	"branch-instructions":  "branches",
	"idle-cycles-frontend": "stalled-cycles-frontend",
	"idle-cycles-backend":  "stalled-cycles-backend",
	"cs":                   "context-switches",
	"migrations":           "cpu-migrations",
	"faults":               "page-faults",
}

// Base reduces a name as perf prints it to the one that the table knows it by: without
// modifiers, without the terms that configure it, without the PMU of a core, without an
// alias. A tracepoint, an event of another PMU and a raw one keep their names.
//
//	cycles:P, cpu-cycles:u, cpu_core/cycles/P, cpu/cycles/ -> cycles
//	cycles/period=100000/u                                 -> cycles
//	cpu/mem-loads,ldlat=30/P                               -> mem-loads
//	sched:sched_switch, ibs_op//, power/energy-pkg/        -> unchanged
func Base(name string) string {
	base, _ := split(name)
	if pmu, terms, ok := terms(base); ok && corePMU(pmu) {
		if first, _, _ := strings.Cut(terms, ","); first != "" && !strings.Contains(first, "=") {
			base = first
		}
	} else if _, known := byName[pmu]; ok && (known || aliases[pmu] != "") {
		base = pmu // no PMU, but an event by its own name
	}
	if alias, ok := aliases[base]; ok {
		return alias
	}
	return base
}

// Modifiers returns the letters behind an event's name: "P" of "cycles:P", "u" of
// "cpu_core/cycles/u".
func Modifiers(name string) string {
	_, m := split(name)
	return m
}

// CoreType returns the PMU that a hybrid processor counted the event on, "cpu_core" or
// "cpu_atom", and "" where there is only one kind of core.
func CoreType(name string) string {
	base, _ := split(name)
	if pmu, _, ok := terms(base); ok && corePMU(pmu) && pmu != "cpu" {
		return pmu
	}
	return ""
}

// split parts a name from its modifiers. What follows a slash is a modifier even if
// it is empty; what follows a colon is one only if it consists of their letters, for
// the colon parts the names of tracepoints, too.
func split(name string) (base, modifiers string) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		rest := strings.TrimPrefix(name[i+1:], ":")
		if onlyModifiers(rest) {
			return name[:i+1], rest
		}
		return name, ""
	}
	if i := strings.LastIndexByte(name, ':'); i > 0 && i+1 < len(name) && onlyModifiers(name[i+1:]) {
		return name[:i], name[i+1:]
	}
	return name, ""
}

// List parts what perf takes for -e at its commas: those between slashes part the terms of
// one event.
func List(events string) []string {
	var list []string
	inside, from := false, 0
	for i := 0; i <= len(events); i++ {
		switch {
		case i == len(events) || events[i] == ',' && !inside:
			if name := strings.TrimSpace(events[from:i]); name != "" {
				list = append(list, name)
			}
			from = i + 1
		case events[i] == '/':
			inside = !inside
		}
	}
	return list
}

func onlyModifiers(s string) bool {
	for i := range len(s) {
		if strings.IndexByte(modifierLetters, s[i]) < 0 {
			return false
		}
	}
	return true
}

// terms parts "pmu/terms/".
func terms(base string) (pmu, inner string, ok bool) {
	pmu, rest, ok := strings.Cut(base, "/")
	if !ok || !strings.HasSuffix(rest, "/") {
		return "", "", false
	}
	return pmu, rest[:len(rest)-1], true
}

// corePMU reports whether a PMU counts what the cores do, so that its events go by the
// same names as those given without a PMU. Arm names it after the core's design.
func corePMU(pmu string) bool {
	return pmu == "cpu" || pmu == "cpu_core" || pmu == "cpu_atom" || pmu == "cpu_lowpower" ||
		strings.HasPrefix(pmu, "armv8_") || strings.HasPrefix(pmu, "armv9_")
}
