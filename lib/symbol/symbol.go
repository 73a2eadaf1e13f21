// Package symbol names addresses: the function at an offset of a mapped file, and from
// DWARF the functions inlined there, with file and line. It reads what a machine keeps for
// that purpose: symbol tables and debug information of ELF files, separate debug files,
// MiniDebugInfo, kallsyms, and the perf-PID.map and jitdump files that JIT compilers write.
//
//	var finder symbol.Finder
//	defer finder.Close()
//	t := finder.Open(symbol.Module{Path: "/usr/lib/libc.so.6", BuildID: "5d60f2..."})
//	if s, ok := t.Symbol(ip - mmap.Start + mmap.Pgoff); ok {
//		fmt.Println(s.Name)
//	} else if p := t.Problem(); p != nil {
//		fmt.Println(p.Text, p.Hint)
//	}
//
// Names and choices are those of perf script, so that both ways of reading a recording
// agree: which symbols count, which of several names for one address wins, how C++ and
// Rust names are spelled (without parameters). They differ from perf 6.1 on purpose where
// that is wrong or silent:
//
//   - Stubs are named in .plt.sec and .plt.got too, and for IFUNC; by the slot that they
//     jump through, not by their number; and never _init, which has no size.
//   - MiniDebugInfo counts, and a file that was deleted or replaced is looked for by its
//     build-id.
//   - Of symbols that contain each other the innermost counts, always.
//   - Of entries of a perf-PID.map that overlap the last counts, always. A jitdump file
//     counts where there is no such map, without perf inject.
//   - Inlined functions without a linkage name have their scope: std::sort<...>, not
//     sort<...>.
//
// A few names of C++20 and newer Rust are spelled otherwise, or not demangled, by the
// library that does it. D is not demangled, neither is it by perf.
//
// Every input is hostile: a malformed file is a [Problem], or a table with less in it, never
// a panic, and memory is bounded by the size of the file.
package symbol

import (
	"vperf/lib/record"
	"vperf/lib/symbol/dwarf"
)

// Kind says how a module came into memory, and so where its names are found and what the
// offsets into it are.
type Kind uint8

const (
	User         Kind = iota // an ELF file: offsets are file offsets
	Kernel                   // the kernel's own text: offsets are addresses
	KernelModule             // a module of it, "[nf_conntrack]", or "[bpf]": addresses
	VDSO                     // file offsets
	JIT                      // code without a file, named by a perf-PID.map: addresses
)

// Module is code that was mapped, as a recording names it.
type Module struct {
	Path    string // "/usr/lib/libc.so.6", "[vdso]", "[kernel.kallsyms]", "/tmp/perf-77.map", "/app (deleted)"
	BuildID string // lower-case hex, empty where unknown
	Kind    Kind
	PID     int    // of the process, for JIT code and other mount namespaces; 0 where unknown
	Start   uint64 // Kernel: the address of _text (or _stext) when it was recorded; 0 where unknown
}

// Symbol is a function, or whatever else the symbol table names. Start and End are in the
// space of the offset that was asked for; End is the first byte behind it.
type Symbol struct {
	Name       string // demangled, without parameters
	Start, End uint64
}

// Frame is one of the functions that an instruction belongs to: inlined ones, and the one
// that they were put into. Empty File and Line 0 stand for unknown.
type Frame = dwarf.Frame

// Problem says why a table lacks names, or may be wrong.
type Problem struct {
	Cause record.Cause
	Text  string // "/app was replaced since: it has build-id 1f..., the recording 2e..."
	Hint  string // what would resolve it; empty where nothing would
}
