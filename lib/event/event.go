// Package event knows perf's events: what they count and in which unit, what they are
// good for, and which of them a profile asks for.
//
// The names are perf's own, as `perf script`, `perf stat` and `perf list` print them.
// One event has many spellings - "cycles", "cycles:u", "cpu-cycles", "cycles:P",
// "cpu_core/cycles/P", "cpu/cycles,name=x/" - and [Base] reduces them to the one that
// this package's table is keyed by.
package event

import (
	"slices"
	"strings"

	"vperf/lib/record"
)

// The units that counts and sample weights come in.
const (
	Cycles      = "cycles"
	Nanoseconds = "ns"
	Count       = "count"
	Joules      = "J"
	Bytes       = "bytes"
)

// Vendors, as /proc/cpuinfo and [record.CPU] spell them.
const (
	AMD   = "AuthenticAMD"
	Intel = "GenuineIntel"
)

// An Event is one that perf can count.
type Event struct {
	Name     string // as [Base] returns it
	Unit     string
	Kind     record.Kind
	Software bool   // counted by the kernel: there with or without a PMU
	Text     string // what it counts, in a few words

	// Unmapped lists the vendors for whose current processors the kernel maps the
	// generic name to no hardware event, so that asking is in vain.
	Unmapped []string
}

// Default returns the events that a profile counts on a processor of this vendor, in
// the order in which they are asked for: the software events and the generic hardware
// events that the kernel maps there. An unknown vendor gets them all,
// for only counting tells what a machine has.
func Default(vendor string) []Event {
	var events []Event
	for _, e := range asked {
		if !slices.Contains(e.Unmapped, vendor) {
			events = append(events, e)
		}
	}
	return events
}

// Lookup returns what is known of an event, whatever its spelling.
func Lookup(name string) (Event, bool) {
	e, ok := byName[Base(name)]
	return e, ok
}

// UnitOf returns the unit of an event's counts and of its samples' weights. An event
// that is not in the table counts occurrences.
func UnitOf(name string) string {
	if e, ok := Lookup(name); ok {
		return e.Unit
	}
	if strings.HasPrefix(Base(name), "power/energy-") {
		return Joules
	}
	return Count
}

// KindOf tells what may be concluded from an event's samples. Only those of
// [record.KindCPU] say where time was spent.
func KindOf(name string) record.Kind {
	base := Base(name)
	if e, ok := byName[base]; ok {
		return e.Kind
	}
	// mem_trans_retired is what mem-loads and mem-stores stand for on Intel.
	for _, prefix := range []string{"ibs_op/", "ibs_fetch/", "arm_spe_", "mem_trans_retired."} {
		if strings.HasPrefix(strings.ToLower(base), prefix) {
			return record.KindMemory
		}
	}
	if strings.HasPrefix(base, "sched:") {
		return record.KindSched
	}
	return record.KindCounter
}

// UserOnly reports whether an event is counted in user mode only ("cycles:u"), which
// perf chooses by itself where kernel.perf_event_paranoid forbids more.
func UserOnly(name string) bool {
	m := Modifiers(name)
	return strings.Contains(m, "u") && !strings.ContainsAny(m, "kh")
}

// KernelSide reports whether an event happens inside the kernel whatever the program
// does, so that counting it in user mode only yields a 0 that means nothing.
func KernelSide(name string) bool {
	switch Base(name) {
	case "context-switches", "cpu-migrations":
		return true
	}
	return false
}

var byName = func() map[string]Event {
	m := make(map[string]Event, len(asked)+len(known))
	for _, e := range slices.Concat(asked, known) {
		m[e.Name] = e
	}
	return m
}()
