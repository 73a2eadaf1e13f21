package symbol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"vperf/lib/record"
)

// listing is a file like /proc/kallsyms, or why it could not be read.
type listing struct {
	*kallsyms
	path string
	err  error
}

func (f *Finder) listing(path string) *listing {
	return get(f, &f.kernels, path, func() *listing {
		l := &listing{path: path}
		file, err := os.Open(path)
		if err != nil {
			l.err = err
			return l
		}
		defer file.Close()
		size := int64(6 << 20) // of /proc/kallsyms, which does not tell its own
		if info, err := file.Stat(); err == nil && info.Size() > 0 {
			size = min(info.Size(), maxKallsyms)
		}
		l.kallsyms, l.err = parseKallsyms(file, size)
		return l
	})
}

const procKallsyms = "/proc/kallsyms"

// openKernel names kernel code by the first listing that fits: the one that was given,
// that of the running kernel if it is the one that was recorded, or perf's copy.
func (f *Finder) openKernel(m Module) *Table {
	var places []string
	running := runningKernel()
	sameKernel := m.BuildID == "" || m.Kind == KernelModule || sameBuildID(m.BuildID, running)
	switch {
	case f.Kallsyms != "":
		places = []string{f.Kallsyms}
	default:
		if sameKernel && f.SymFS == "" {
			places = append(places, procKallsyms)
		}
		if m.BuildID != "" && m.Kind == Kernel && isHex(m.BuildID) && f.home() != "" {
			kept := f.home() + "/.debug/[kernel.kallsyms]/" + m.BuildID + "/kallsyms"
			// A file is read much faster than what the kernel has to write. If it is of
			// another boot, Start tells.
			if _, err := os.Stat(kept); err == nil && m.Start != 0 {
				places = slices.Insert(places, 0, kept)
			} else {
				places = append(places, kept)
			}
		}
	}
	problem := &Problem{
		Cause: record.CauseSymbolsMissing,
		Text:  "the recorded kernel has build-id " + short(m.BuildID) + ", the running one " + short(running) + ", and perf kept no copy of its symbols",
		Hint:  copyHint(m),
	}
	if f.SymFS != "" {
		problem.Text = "the recorded kernel's symbols are not on this machine"
	}
	for _, place := range places {
		if l := f.listing(place); l.err == nil {
			t := l.table(m)
			if t.problem == nil {
				return t
			}
			problem = t.problem
		} else if place == f.Kallsyms || place == procKallsyms || errors.Is(l.err, errRestricted) {
			problem = kallsymsProblem(l, m)
		}
	}
	return &Table{problem: problem}
}

// copyHint says how to bring the kernel's symbols here.
func copyHint(m Module) string {
	id := m.BuildID
	if id == "" || m.Kind != Kernel {
		return "run where it was recorded"
	}
	return "run where it was recorded, or copy that machine's /proc/kallsyms, read as root, to ~/.debug/[kernel.kallsyms]/" + id + "/kallsyms"
}

func kallsymsProblem(l *listing, m Module) *Problem {
	p := &Problem{Cause: record.CauseSymbolsMissing}
	switch {
	case errors.Is(l.err, errRestricted):
		p.Text = "the kernel hides its addresses: " + l.path + " lists zeros only (kernel.kptr_restrict)"
		p.Hint = "sysctl -w kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, or run as root"
	case errors.Is(l.err, fs.ErrPermission):
		p.Text = l.path + " cannot be read: permission denied"
		p.Hint = "sysctl -w kernel.kptr_restrict=0, or run as root"
	case errors.Is(l.err, fs.ErrNotExist):
		p.Text = l.path + " is not on this machine"
		p.Hint = copyHint(m)
	default:
		p.Text = l.path + ": " + l.err.Error()
	}
	return p
}

// table returns the part of a listing that names a module of the kernel, or the kernel.
func (l *listing) table(m Module) *Table {
	name := ""
	if m.Kind == KernelModule {
		name = moduleName(m.Path)
	}
	if l.modules[name] == nil {
		return &Table{problem: &Problem{
			Cause: record.CauseSymbolsMissing,
			Text:  fmt.Sprintf("%s lists no symbols of %s: it was unloaded since", l.path, m.Path),
			Hint:  "load the module and record again",
		}}
	}
	t := &Table{index: l.modules[name]}
	if m.Kind == Kernel {
		var err error
		if t.delta, err = l.moved(m.Start); err != nil {
			return &Table{problem: &Problem{
				Cause: record.CauseSymbolsMissing,
				Text:  l.path + " is of another kernel than the recording: " + err.Error(),
				Hint:  copyHint(m),
			}}
		}
	}
	return t
}

// moduleName makes of "[nf_conntrack]" or "/lib/modules/6.1/kernel/net/nf-conntrack.ko.xz"
// the name that kallsyms has.
func moduleName(path string) string {
	if name, ok := strings.CutPrefix(path, "["); ok {
		return strings.TrimSuffix(name, "]")
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	name, _, _ = strings.Cut(name, ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

// runningKernel returns the build-id of the running kernel, empty where it has none.
func runningKernel() string {
	notes, err := os.ReadFile("/sys/kernel/notes")
	if err != nil {
		return ""
	}
	return buildID(notes, binary.NativeEndian, 4)
}

// openVDSO names the code that the kernel maps into every process: perf's copy, or this
// process's own if the kernel is the same.
func (f *Finder) openVDSO(m Module) *Table {
	var found *image
	if m.BuildID != "" && isHex(m.BuildID) && f.home() != "" {
		if im, err := openImage(f.home() + "/.debug/[vdso]/" + m.BuildID + "/vdso"); err == nil {
			if sameBuildID(m.BuildID, im.buildID) {
				found = im
			} else {
				im.Close()
			}
		}
	}
	if found == nil {
		if im, err := ownVDSO(); err == nil && (m.BuildID == "" || sameBuildID(m.BuildID, im.buildID)) {
			found = im
		}
	}
	if found == nil {
		return &Table{problem: &Problem{
			Cause: record.CauseSymbolsMissing, Text: "the recorded [vdso] has build-id " + short(m.BuildID) + ", this kernel's another, and perf kept no copy",
			Hint: "run where it was recorded",
		}}
	}
	defer found.Close()
	return get(f, &f.files, found.path+"\x00"+found.buildID, func() *Table { return f.elfTable(found, VDSO) })
}

// ownVDSO reads the vdso of this process from its memory.
func ownVDSO() (*image, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(maps)) {
		var start, end uint64
		if !strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x", &start, &end); err != nil || end <= start || end-start > maxNote {
			continue
		}
		mem, err := os.Open("/proc/self/mem")
		if err != nil {
			return nil, err
		}
		defer mem.Close()
		code := make([]byte, end-start)
		if _, err := mem.ReadAt(code, int64(start)); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return newImage("[vdso]", strings.NewReader(string(code)), int64(len(code)))
	}
	return nil, errors.New("this process has no [vdso]")
}
