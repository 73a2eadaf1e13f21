package symbol

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"vperf/lib/record"
)

// Finder looks for the files that name the code of modules. The zero value looks where
// perf does. Its fields must not change once Open was called.
type Finder struct {
	SymFS    string // what is put before the paths of modules and of debug files: the root of the machine that recorded
	Kallsyms string // the kernel's symbols; otherwise /proc/kallsyms or what perf kept in ~/.debug
	Home     string // whose .debug directory is searched; $HOME where empty
	NoInline bool   // Frames finds nothing, and no DWARF is read

	mu      sync.Mutex
	modules map[Module]*once[*Table]
	files   map[string]*once[*Table]   // by path and build-id
	kernels map[string]*once[*listing] // by path
}

// once is made by whoever asks for it first; the others wait.
type once[T any] struct {
	sync.Once
	value T
}

// get returns the value of a key, made by build unless it is there already.
func get[K comparable, T any](f *Finder, values *map[K]*once[T], key K, build func() T) T {
	f.mu.Lock()
	if *values == nil {
		*values = map[K]*once[T]{}
	}
	o := (*values)[key]
	if o == nil {
		o = &once[T]{}
		(*values)[key] = o
	}
	f.mu.Unlock()
	o.Do(func() { o.value = build() })
	return o.value
}

// Open returns the names of a module. It never returns nil: a table that found nothing
// resolves nothing, and its Problem says why. Modules of one file share a table.
func (f *Finder) Open(m Module) *Table {
	return get(f, &f.modules, m, func() *Table {
		switch m.Kind {
		case Kernel, KernelModule:
			return f.openKernel(m)
		case VDSO:
			return f.openVDSO(m)
		case JIT:
			return f.openMap(m)
		}
		return f.openUser(m)
	})
}

const deletedSuffix = " (deleted)"

// openUser names the code of an ELF file.
func (f *Finder) openUser(m Module) *Table {
	im, problem := f.mapped(m)
	if im == nil {
		return &Table{problem: problem}
	}
	defer im.Close()
	return get(f, &f.files, im.path+"\x00"+im.buildID, func() *Table { return f.elfTable(im, User) })
}

// mapped finds the file that was mapped: at its path, in the mount namespace of its process
// if that still runs, or in perf's cache.
func (f *Finder) mapped(m Module) (*image, *Problem) {
	path, deleted := strings.CutSuffix(m.Path, deletedSuffix)
	if fileless(path) {
		return nil, &Problem{
			Cause: record.CauseSymbolsMissing, Text: fmt.Sprintf("%q is code without a file", m.Path),
			Hint: "a JIT compiler has to write /tmp/perf-PID.map (java: -XX:+DumpPerfMapAtExit; node: --perf-basic-prof)",
		}
	}
	var places []string
	if !deleted || m.BuildID != "" { // without a build-id, what is there now is another file
		places = append(places, f.SymFS+path)
		if m.PID > 0 && f.SymFS == "" {
			places = append(places, fmt.Sprintf("/proc/%d/root%s", m.PID, path))
		}
	}
	if m.BuildID != "" {
		places = append(places, f.cached(m.BuildID, "elf")...)
	}
	var failed error
	var other *image
	for _, place := range places {
		im, err := openImage(place)
		switch {
		case err != nil:
			if failed == nil || errors.Is(failed, fs.ErrNotExist) {
				failed = err
			}
		case m.BuildID == "" || sameBuildID(m.BuildID, im.buildID):
			return im, nil
		default:
			im.Close()
			if other == nil {
				other = im
			}
		}
	}
	return nil, missing(path, m.BuildID, deleted, other, failed)
}

// fileless recognises how the kernel names memory that is no file.
func fileless(path string) bool {
	if path == "" || path[0] != '/' {
		return true
	}
	for _, prefix := range []string{"//anon", "/anon_hugepage", "/memfd:", "/dev/zero", "/SYSV"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// missing says why the file of a module could not be used.
func missing(path, id string, deleted bool, other *image, failed error) *Problem {
	p := &Problem{Cause: record.CauseSymbolsMissing}
	switch {
	case other != nil && other.buildID == "":
		p.Text = fmt.Sprintf("%s was replaced since: it has no build-id, the recording has %s", path, short(id))
		p.Hint = "record again, or keep the file with --symfs"
	case other != nil:
		p.Text = fmt.Sprintf("%s was replaced since: it has build-id %s, the recording %s", path, short(other.buildID), short(id))
		p.Hint = "record again, or keep the file with --symfs"
	case deleted:
		p.Text = path + " was deleted while it ran"
		p.Hint = "do not replace a program that is being recorded, or run 'perf buildid-cache --add FILE' with a copy of it"
	case failed != nil && errors.Is(failed, fs.ErrPermission):
		p.Text = fmt.Sprintf("%s cannot be read: permission denied", path)
		p.Hint = "run as a user who may read it"
	case failed != nil && !errors.Is(failed, fs.ErrNotExist):
		p.Text = failed.Error()
	default:
		p.Text = path + " is not on this machine"
		p.Hint = "run where it was recorded, or copy the file below a directory and pass that to --symfs"
	}
	return p
}

func short(id string) string {
	if len(id) > 12 {
		return id[:12] + "..."
	}
	return id
}

// sameBuildID compares the build-id of a recording with that of a file. perf pads short
// ones with zeros to 20 bytes.
func sameBuildID(recorded, file string) bool {
	if file == "" || len(recorded) < len(file) {
		return false
	}
	return recorded[:len(file)] == file && strings.Trim(recorded[len(file):], "0") == ""
}

// cached returns where perf's cache has a file of a build-id.
func (f *Finder) cached(id, file string) []string {
	home := f.home()
	if home == "" || len(id) < 3 || !isHex(id) {
		return nil
	}
	return []string{home + "/.debug/.build-id/" + id[:2] + "/" + id[2:] + "/" + file}
}

func (f *Finder) home() string {
	if f.Home != "" {
		return f.Home
	}
	return os.Getenv("HOME")
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }
