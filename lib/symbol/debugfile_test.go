package symbol

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// hidden is a program with a function that only .symtab names.
const hidden = `
#include <unistd.h>
static int twice(int n) { return getpid() * n; }
static __attribute__((noinline)) int inner(int n) { return twice(n) + getppid(); }
int main(int argc, char **argv) { (void)argv; if (argc > 1) pause(); return inner(argc) == 0; }
`

// stripped is a program apart from its symbols.
type stripped struct {
	dir, path string
	debug     string // the file that has them
	buildID   string
	inner     uint64 // the offset of the function
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	tools(t, name)
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func strip(t *testing.T, args ...string) *stripped {
	t.Helper()
	s := &stripped{path: build(t, "gcc", hidden, append(args, "-O1", "-g")...)}
	s.dir = filepath.Dir(s.path)
	s.debug = filepath.Join(t.TempDir(), "kept.debug")
	im, err := openImage(s.path)
	if err != nil {
		t.Fatal(err)
	}
	s.buildID = im.buildID
	im.Close()
	x := new(Finder).Open(Module{Path: s.path}).index
	for i, start := range x.starts {
		if x.name(i) == "inner" {
			s.inner = start
		}
	}
	if s.inner == 0 {
		t.Fatal("the program has no function inner")
	}
	run(t, "objcopy", "--only-keep-debug", s.path, s.debug)
	run(t, "strip", s.path)
	return s
}

// move puts a file where it is looked for.
func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
	os.Remove(from)
}

// check asks for inner, with or without what only DWARF knows.
func (s *stripped) check(t *testing.T, f *Finder, m Module, found, inlined bool) *Table {
	t.Helper()
	table := f.Open(m)
	got, _ := table.Symbol(s.inner + 1)
	if (got.Name == "inner") != found {
		t.Errorf("the symbol is %+v, %+v", got, table.Problem())
	}
	seen := false
	for off := s.inner; off < s.inner+16; off++ {
		for _, frame := range table.Frames(off) {
			seen = seen || frame.Name == "twice" && frame.Inlined && frame.Line == 3
		}
	}
	if seen != inlined {
		t.Errorf("an inlined function was found: %v", seen)
	}
	return table
}

func TestStripped(t *testing.T) {
	s := strip(t)
	f := &Finder{Home: t.TempDir(), SymFS: t.TempDir()}
	move(t, s.path, f.SymFS+"/usr/bin/hidden")
	move(t, s.debug, t.TempDir()+"/elsewhere")
	if err := os.MkdirAll(f.SymFS+"/var/lib/dpkg/info", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"other.list": "/.\n/usr/bin/hidden2\n", "hide:amd64.list": "/.\n/usr/bin\n/usr/bin/hidden\n"} {
		if err := os.WriteFile(f.SymFS+"/var/lib/dpkg/info/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	table := s.check(t, f, Module{Path: "/usr/bin/hidden", BuildID: s.buildID}, false, false)
	if p := table.Problem(); p == nil || !strings.Contains(p.Text, "is stripped") || !strings.HasPrefix(p.Hint, "apt install hide-dbgsym") {
		t.Errorf("problem: %+v", p)
	}
}

func TestDebugFiles(t *testing.T) {
	s := strip(t)
	linked := s.path + ".linked"
	run(t, "objcopy", "--add-gnu-debuglink="+s.debug, s.path, linked)
	name := filepath.Base(s.debug)
	for where, to := range map[string]func(f *Finder) string{
		"link beside":    func(*Finder) string { return filepath.Join(s.dir, name) },
		"link in .debug": func(*Finder) string { return filepath.Join(s.dir, ".debug", name) },
		"link by path":   func(f *Finder) string { return filepath.Join(f.SymFS, "/usr/lib/debug", s.dir, name) },
		"build-id": func(f *Finder) string {
			return f.SymFS + "/usr/lib/debug/.build-id/" + s.buildID[:2] + "/" + s.buildID[2:] + ".debug"
		},
		"cache of perf": func(f *Finder) string {
			return f.Home + "/.debug/.build-id/" + s.buildID[:2] + "/" + s.buildID[2:] + "/debug"
		},
		"path":             func(f *Finder) string { return f.SymFS + "/usr/lib/debug" + s.dir + "/program.linked" },
		"path with .debug": func(f *Finder) string { return f.SymFS + "/usr/lib/debug" + s.dir + "/program.linked.debug" },
	} {
		t.Run(where, func(t *testing.T) {
			f := &Finder{Home: t.TempDir(), SymFS: t.TempDir()}
			path := s.dir + "/program.linked"
			if err := os.MkdirAll(f.SymFS+s.dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path, f.SymFS+path); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(where, "link") && where != "link by path" {
				f.SymFS = ""
			}
			at := to(f)
			move(t, s.debug, at)
			defer move(t, at, s.debug)
			if p := s.check(t, f, Module{Path: path, BuildID: s.buildID}, true, true).Problem(); p != nil {
				t.Errorf("problem: %+v", p)
			}
			f = &Finder{Home: f.Home, SymFS: f.SymFS, NoInline: true}
			s.check(t, f, Module{Path: path, BuildID: s.buildID}, true, false)
		})
	}
}

// TestDebugLinkChecksum has files without build-id, of which only the checksum tells that
// they belong together.
func TestDebugLinkChecksum(t *testing.T) {
	s := strip(t, "-Wl,--build-id=none")
	linked := s.path + ".linked"
	run(t, "objcopy", "--add-gnu-debuglink="+s.debug, s.path, linked)
	at := filepath.Join(s.dir, filepath.Base(s.debug))
	move(t, s.debug, at)
	s.check(t, new(Finder), Module{Path: linked}, true, true)
	data, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, append(data, 0), 0o644); err != nil {
		t.Fatal(err)
	}
	s.check(t, new(Finder), Module{Path: linked}, false, false)
}

func TestMiniDebugInfo(t *testing.T) {
	s := strip(t)
	run(t, "strip", "--strip-debug", s.debug)
	run(t, "xz", "--check=crc32", s.debug)
	run(t, "objcopy", "--add-section", ".gnu_debugdata="+s.debug+".xz", s.path)
	if p := s.check(t, new(Finder), Module{Path: s.path, BuildID: s.buildID}, true, false).Problem(); p != nil {
		t.Errorf("problem: %+v", p)
	}

	bomb := filepath.Join(t.TempDir(), "bomb")
	if err := os.WriteFile(bomb, bytes.Repeat([]byte{0}, 64<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, "xz", bomb)
	run(t, "objcopy", "--update-section", ".gnu_debugdata="+bomb+".xz", s.path)
	if p := s.check(t, new(Finder), Module{Path: s.path, BuildID: s.buildID}, false, false).Problem(); p == nil || !strings.Contains(p.Text, "64 times larger") {
		t.Errorf("problem: %+v", p)
	}
}

// TestCache has programs that are not any more where they were recorded, but in perf's
// cache.
func TestCache(t *testing.T) {
	s := strip(t)
	f := &Finder{Home: t.TempDir()}
	cache := f.Home + "/.debug/.build-id/" + s.buildID[:2] + "/" + s.buildID[2:]
	move(t, s.path, cache+"/elf")
	move(t, s.debug, cache+"/debug")
	s.check(t, f, Module{Path: s.path, BuildID: s.buildID}, true, true)
	s.check(t, f, Module{Path: s.path + " (deleted)", BuildID: s.buildID}, true, true)
	move(t, build(t, "gcc", "int main(void) { return 0; }"), s.path)
	table := s.check(t, &Finder{Home: t.TempDir()}, Module{Path: s.path, BuildID: s.buildID}, false, false)
	if p := table.Problem(); p == nil || !strings.Contains(p.Text, "was replaced since: it has build-id") {
		t.Errorf("problem: %+v", p)
	}
	s.check(t, &Finder{Home: f.Home}, Module{Path: s.path, BuildID: s.buildID}, true, true)
}

// TestOtherRoot names the program of a process that sees other files.
func TestOtherRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, only root can change the root of a process")
	}
	path := build(t, "gcc", hidden, "-O1", "-static")
	root := t.TempDir()
	move(t, path, root+"/inside/prog")
	cmd := exec.Command("/inside/prog", "wait")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if err := cmd.Start(); err != nil {
		t.Skipf("SKIPPED, chroot does not work here: %v", err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	table := new(Finder).Open(Module{Path: "/inside/prog", PID: cmd.Process.Pid})
	if p := table.Problem(); p != nil {
		t.Fatalf("problem: %+v", p)
	}
	found := false
	for i := range table.index.starts {
		found = found || table.index.name(i) == "inner"
	}
	if !found {
		t.Error("the process's own file was not found")
	}
}
