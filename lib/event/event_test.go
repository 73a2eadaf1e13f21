package event

import (
	"slices"
	"testing"

	"vperf/lib/record"
)

func TestNames(t *testing.T) {
	for _, test := range []struct {
		name, base, modifiers, core string
		unit                        string
		kind                        record.Kind
	}{
		{"cycles", "cycles", "", "", Cycles, record.KindCPU},
		{"cycles:P", "cycles", "P", "", Cycles, record.KindCPU},
		{"cycles:uppp", "cycles", "uppp", "", Cycles, record.KindCPU},
		{"cpu-cycles:u", "cycles", "u", "", Cycles, record.KindCPU},
		{"cpu_core/cycles/P", "cycles", "P", "cpu_core", Cycles, record.KindCPU},
		{"cpu_atom/cycles/u", "cycles", "u", "cpu_atom", Cycles, record.KindCPU},
		{"cpu_core/cycles/:u", "cycles", "u", "cpu_core", Cycles, record.KindCPU},
		{"cpu/cycles/", "cycles", "", "", Cycles, record.KindCPU},
		{"armv8_pmuv3_1/branch-misses/", "branch-misses", "", "armv8_pmuv3_1", Count, record.KindCounter},
		{"cpu/event=0x3c,umask=0/", "cpu/event=0x3c,umask=0/", "", "", Count, record.KindCounter},
		{"cpu/mem-loads,ldlat=30/P", "mem-loads", "P", "", Count, record.KindMemory},
		{"cpu//", "cpu//", "", "", Count, record.KindCounter},
		{"ibs_op//", "ibs_op//", "", "", Count, record.KindMemory},
		{"ibs_op/cnt_ctl=1/u", "ibs_op/cnt_ctl=1/", "u", "", Count, record.KindMemory},
		{"MEM_TRANS_RETIRED.LOAD_LATENCY", "MEM_TRANS_RETIRED.LOAD_LATENCY", "", "", Count, record.KindMemory},
		{"mem_trans_retired.load_latency_gt_32:pp", "mem_trans_retired.load_latency_gt_32", "pp", "", Count, record.KindMemory},
		{"cpu-clock/freq=199/", "cpu-clock", "", "", Nanoseconds, record.KindCPU},
		{"cpu-cycles/period=100000/ppp", "cycles", "ppp", "", Cycles, record.KindCPU},
		{"context-switches/period=1/", "context-switches", "", "", Count, record.KindSched},
		{"power/energy-pkg/", "power/energy-pkg/", "", "", Joules, record.KindCounter},
		{"cpu-clock:u", "cpu-clock", "u", "", Nanoseconds, record.KindCPU},
		{"task-clock", "task-clock", "", "", Nanoseconds, record.KindCPU},
		{"page-faults", "page-faults", "", "", Count, record.KindCounter},
		{"faults", "page-faults", "", "", Count, record.KindCounter},
		{"cs", "context-switches", "", "", Count, record.KindSched},
		{"sched:sched_switch", "sched:sched_switch", "", "", Count, record.KindSched},
		{"sched:sched_switch:k", "sched:sched_switch", "k", "", Count, record.KindSched},
		{"syscalls:sys_enter_read", "syscalls:sys_enter_read", "", "", Count, record.KindCounter},
		{"power/energy-pkg/", "power/energy-pkg/", "", "", Joules, record.KindCounter},
		{"r01c4", "r01c4", "", "", Count, record.KindCounter},
		{"cycles:", "cycles:", "", "", Count, record.KindCounter},
		{":u", ":u", "", "", Count, record.KindCounter},
		{"/", "/", "", "", Count, record.KindCounter},
		{"", "", "", "", Count, record.KindCounter},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Base(test.name); got != test.base {
				t.Errorf("Base = %q, want %q", got, test.base)
			}
			if got := Modifiers(test.name); got != test.modifiers {
				t.Errorf("Modifiers = %q, want %q", got, test.modifiers)
			}
			if got := CoreType(test.name); got != test.core {
				t.Errorf("CoreType = %q, want %q", got, test.core)
			}
			if got := UnitOf(test.name); got != test.unit {
				t.Errorf("UnitOf = %q, want %q", got, test.unit)
			}
			if got := KindOf(test.name); got != test.kind {
				t.Errorf("KindOf = %q, want %q", got, test.kind)
			}
		})
	}
}

func TestUserOnly(t *testing.T) {
	for name, want := range map[string]bool{
		"cycles": false, "cycles:u": true, "cycles:uk": false, "cycles:k": false, "cycles:up": true,
		"cpu_core/cycles/u": true, "cycles:P": false,
	} {
		if UserOnly(name) != want {
			t.Errorf("UserOnly(%q) = %v", name, !want)
		}
	}
	if !KernelSide("cs:u") || KernelSide("page-faults:u") {
		t.Error("KernelSide: switches happen in the kernel, page faults are the program's")
	}
}

func TestDefault(t *testing.T) {
	names := func(vendor string) (names []string) {
		for _, e := range Default(vendor) {
			names = append(names, e.Name)
		}
		return names
	}
	everything := names("")
	for _, want := range []string{
		"task-clock", "cycles", "instructions", "branches", "branch-misses", "cache-references", "cache-misses",
		"L1-dcache-loads", "L1-dcache-load-misses", "L1-icache-load-misses", "dTLB-loads", "dTLB-load-misses",
		"LLC-loads", "LLC-load-misses", "stalled-cycles-frontend", "stalled-cycles-backend",
		"context-switches", "cpu-migrations", "page-faults",
	} {
		if !slices.Contains(everything, want) {
			t.Errorf("an unknown vendor is not asked for %s", want)
		}
	}
	if slices.Contains(names(AMD), "LLC-loads") || !slices.Contains(names(AMD), "stalled-cycles-frontend") {
		t.Errorf("AMD: %v", names(AMD))
	}
	if slices.Contains(names(Intel), "stalled-cycles-backend") || !slices.Contains(names(Intel), "LLC-loads") {
		t.Errorf("Intel: %v", names(Intel))
	}
}

// The table says everything about each event once, under the name that Base returns.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range slices.Concat(asked, known) {
		if e.Name == "" || e.Unit == "" || e.Kind == "" || e.Text == "" {
			t.Errorf("%q: not everything is said", e.Name)
		}
		if Base(e.Name) != e.Name {
			t.Errorf("%s is filed under a name that Base turns into %s", e.Name, Base(e.Name))
		}
		if seen[e.Name] {
			t.Errorf("%s is there twice", e.Name)
		}
		seen[e.Name] = true
	}
	for alias, name := range aliases {
		if !seen[name] {
			t.Errorf("alias %s leads to %s, which is not in the table", alias, name)
		}
	}
}

func FuzzBase(f *testing.F) {
	for _, s := range []string{"cycles:u", "cpu_core/cycles/P", "cpu/mem-loads,ldlat=30/P", "sched:sched_switch", "ibs_op//", "/", "a/b", "::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		base := Base(name)
		if again := Base(base); again != base && Modifiers(base) == "" && CoreType(base) == "" {
			t.Errorf("Base(%q) = %q, and of that %q", name, base, again)
		}
		UnitOf(name)
		KindOf(name)
	})
}

func TestList(t *testing.T) {
	for in, want := range map[string][]string{
		"":                            nil,
		"cycles":                      {"cycles"},
		"cycles:u, page-faults,":      {"cycles:u", "page-faults"},
		"cpu/event=1,umask=2/u,a":     {"cpu/event=1,umask=2/u", "a"},
		"cpu/event=1,umask=2":         {"cpu/event=1,umask=2"},
		"sched:sched_switch,ibs_op//": {"sched:sched_switch", "ibs_op//"},
	} {
		if got := List(in); !slices.Equal(got, want) {
			t.Errorf("List(%q) = %q, want %q", in, got, want)
		}
	}
}
