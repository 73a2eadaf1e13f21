package machine

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"vperf/lib/perf/data"
	"vperf/lib/record"
	"vperf/lib/symbol"
)

// Names are the functions of a module. A [symbol.Table] has them.
type Names interface {
	Symbol(offset uint64) (symbol.Symbol, bool)
	Frames(offset uint64) []symbol.Frame
}

// A module is code that was mapped.
type module struct {
	id       int32
	name     string // as perf prints it
	kind     record.FrameKind
	addressy bool   // offsets into it are the addresses themselves
	only     string // the name of all of it, if it has one
	mapped   []byte // the build-id that it was mapped with, nil where that was not recorded
	found    symbol.Module
	names    Names      // nil until a name is asked for
	opening  chan Names // yields them; nil if they are not looked for ahead
}

// modules are all those that were heard of, so that processes share them.
type modules struct {
	byPath map[string][]*module
	n      int32
	open   func(symbol.Module) Names
	info   *data.Info
}

// get returns the module of a path, with one build-id and for one process where it has
// its own.
func (s *modules) get(path, id []byte, pid int, set func(*module)) *module {
	for _, m := range s.byPath[string(path)] {
		if m.found.PID == pid && string(m.mapped) == string(id) {
			return m
		}
	}
	s.n++
	m := &module{id: s.n, name: valid(path), kind: record.KindUser, mapped: bytes.Clone(id)}
	m.found = symbol.Module{Path: string(path), BuildID: hex.EncodeToString(id), PID: pid}
	set(m)
	s.byPath[string(path)] = append(s.byPath[string(path)], m)
	s.ahead(m)
	return m
}

// ahead begins to look for the names of a module that will be needed: perf record lists
// those that samples fell in. Most of the time that a recording takes goes into reading
// symbol tables, and several can be read at once.
func (s *modules) ahead(m *module) {
	id := s.recordedID(m)
	if id == "" || m.names != nil {
		return
	}
	m.found.BuildID = cmp.Or(m.found.BuildID, id)
	m.opening = make(chan Names, 1)
	go func(found symbol.Module) { m.opening <- s.open(found) }(m.found)
}

// table returns the names of a module, which are looked for now if they were not before.
func (s *modules) table(m *module) Names {
	if m.opening != nil {
		m.names, m.opening = <-m.opening, nil
	}
	if m.names == nil {
		if m.found.BuildID == "" {
			m.found.BuildID = s.recordedID(m)
		}
		m.names = s.open(m.found)
	}
	return m.names
}

// recordedID returns the build-id that perf record wrote behind the records.
func (s *modules) recordedID(m *module) string {
	if id, ok := s.info.BuildIDs[m.found.Path]; ok {
		return id.ID
	}
	return s.info.BuildIDs[m.name].ID
}

// buildID returns the build-id of the module that frames call by a name.
func (s *modules) buildID(name string) string {
	for _, list := range s.byPath {
		for _, m := range list {
			if m.name == name {
				return cmp.Or(m.found.BuildID, s.recordedID(m))
			}
		}
	}
	return ""
}

// user returns the module of a user's mapping.
func (s *modules) user(m *data.Mapping, pid int32) *module {
	p := m.Path
	nothing := func(*module) {}
	switch {
	case isAnonymous(p) || isMemory(p):
		if !m.Code {
			return s.get(p, nil, 0, func(m *module) { m.addressy, m.names = true, noNames{} })
		}
		return s.get(perfMap(pid), nil, int(pid), func(m *module) { m.addressy, m.found.Kind = true, symbol.JIT })
	case isVDSO(p):
		return s.get([]byte("[vdso]"), m.BuildID, 0, func(m *module) { m.found.Kind = symbol.VDSO })
	}
	return s.get(p, m.BuildID, 0, nothing)
}

// kernel returns the module of one of the kernel's mappings.
func (s *modules) kernel(m *data.Mapping) *module {
	if main, ok := kernelName(m.Path); ok {
		return s.get([]byte(main), m.BuildID, 0, func(x *module) {
			x.kind, x.addressy = record.KindKernel, true
			x.found.Kind, x.found.Start = symbol.Kernel, m.Offset
			x.name = s.recordedKernel(main)
		})
	}
	path := string(m.Path)
	return s.get([]byte(moduleName(path)), m.BuildID, 0, func(x *module) {
		x.kind, x.addressy = record.KindKernel, true
		x.found.Kind = symbol.KernelModule
		if _, ok := s.info.BuildIDs[path]; ok {
			x.name = valid(m.Path)
		}
	})
}

// recordedKernel returns the name of the kernel in the list of build-ids: a vmlinux file
// that perf record found has its path.
func (s *modules) recordedKernel(main string) string {
	if _, ok := s.info.BuildIDs[main]; ok {
		return main
	}
	found := main
	for p, id := range s.info.BuildIDs {
		if id.Kernel && strings.HasPrefix(path.Base(p), "vmlinux") && (found == main || p < found) {
			found = p
		}
	}
	return found
}

// code returns a module that is one function, which the kernel made: a BPF program or a
// trampoline.
func (s *modules) code(path, name string) *module {
	s.n++
	return &module{id: s.n, name: path, kind: record.KindKernel, addressy: true, only: name, names: noNames{}}
}

type noNames struct{}

func (noNames) Symbol(uint64) (symbol.Symbol, bool) { return symbol.Symbol{}, false }
func (noNames) Frames(uint64) []symbol.Frame        { return nil }

// kernelName tells the kernel itself by the name of its mapping, which ends in its first
// symbol: "[kernel.kallsyms]_text".
func kernelName(path []byte) (string, bool) {
	for _, name := range []string{"[kernel.kallsyms]", "[guest.kernel.kallsyms]"} {
		if strings.HasPrefix(string(path), name) {
			return name, true
		}
	}
	return "", false
}

// moduleName returns what perf calls a module of the kernel: "[nf_conntrack]" for
// "/lib/modules/6.1/kernel/net/nf-conntrack.ko.xz".
func moduleName(file string) string {
	if !strings.HasPrefix(file, "/") {
		return strings.ToValidUTF8(file, "\ufffd")
	}
	name, _, ok := strings.Cut(path.Base(file), ".ko")
	if !ok {
		return strings.ToValidUTF8(file, "\ufffd")
	}
	return "[" + strings.ToValidUTF8(strings.ReplaceAll(name, "-", "_"), "\ufffd") + "]"
}

func isAnonymous(path []byte) bool {
	s := string(path)
	return s == "//anon" || strings.HasPrefix(s, "/dev/zero") || strings.HasPrefix(s, "/anon_hugepage")
}

// perfMap returns where a JIT compiler names the code that it made.
func perfMap(pid int32) []byte { return fmt.Appendf(nil, "/tmp/perf-%d.map", pid) }

func isMemory(path []byte) bool {
	s := string(path)
	return strings.HasPrefix(s, "[stack") || strings.HasPrefix(s, "/SYSV") || s == "[heap]"
}

func isVDSO(path []byte) bool {
	s := string(path)
	return s == "[vdso]" || s == "[vdso32]" || s == "[vdsox32]"
}

func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }
