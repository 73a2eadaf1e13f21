package symbol

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"vperf/lib/need"
)

// tools ends a test whose tools are not there.
func tools(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			need.Missing(t, "needs %s, which this test compares with", name)
		}
	}
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	return string(out)
}

// TestNM asks for every sized function that nm lists in files of this machine.
func TestNM(t *testing.T) {
	tools(t, "nm")
	for _, path := range []string{"/usr/bin/perf", "/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/proc/self/exe"} {
		t.Run(strings.ReplaceAll(path[1:], "/", "_"), func(t *testing.T) {
			im, err := openImage(path)
			if err != nil {
				t.Skip(err)
			}
			defer im.Close()
			f := new(Finder)
			table := f.Open(Module{Path: path})
			args := []string{"-S", "--defined-only", path}
			if debug := f.debugFile(im, ".symtab"); debug != nil && !im.hasContents(".symtab") {
				args[2] = debug.path
				debug.Close()
			} else if !im.hasContents(".symtab") {
				args = append([]string{"-D"}, args...)
			}
			listed := map[uint64][]string{}
			for line := range strings.Lines(output(t, "nm", args...)) {
				f := strings.Fields(line)
				if len(f) != 4 || !strings.ContainsAny(f[2], "tTwWi") {
					continue
				}
				addr, _ := strconv.ParseUint(f[0], 16, 64)
				name, _, _ := strings.Cut(f[3], "@")
				listed[addr] = append(listed[addr], demangle(f[3]), demangle(name))
			}
			asked, wrong := 0, 0
			for addr, names := range listed {
				off, _ := im.toOffset(addr)
				s, ok := table.Symbol(off)
				asked++
				if !ok || !contains(names, s.Name) || s.Start != off {
					if wrong++; wrong < 5 {
						t.Errorf("0x%x: %+v, nm has %q", addr, s, names)
					}
				}
			}
			if asked == 0 && !im.hasContents(".symtab") {
				t.Skipf("%s is stripped", path)
			}
			t.Logf("%d addresses, %d wrong", asked, wrong)
		})
	}
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func TestOpenProblems(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	garbage := t.TempDir() + "/garbage"
	if err := os.WriteFile(garbage, []byte("\x7fELF but no more"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		m    Module
		want string
	}{
		"missing":   {Module{Path: "/nonexistent/libx.so"}, "is not on this machine"},
		"deleted":   {Module{Path: self + " (deleted)"}, "was deleted"},
		"replaced":  {Module{Path: self, BuildID: "0123456789abcdef0123456789abcdef01234567"}, "was replaced since"},
		"anonymous": {Module{Path: "//anon"}, "code without a file"},
		"no path":   {Module{Path: "[heap]"}, "code without a file"},
		"garbage":   {Module{Path: garbage}, "garbage"},
		"directory": {Module{Path: "/"}, "not a regular file"},
		"vdso":      {Module{Path: "[vdso]", Kind: VDSO, BuildID: "0123456789abcdef0123456789abcdef01234567"}, "perf kept no copy"},
		"kernel":    {Module{Path: "[kernel.kallsyms]", Kind: Kernel, BuildID: "0123456789abcdef0123456789abcdef01234567"}, "perf kept no copy of its symbols"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &Finder{Home: t.TempDir()}
			table := f.Open(c.m)
			if s, ok := table.Symbol(0x1000); ok {
				t.Errorf("resolved to %+v", s)
			}
			p := table.Problem()
			if p == nil || !strings.Contains(p.Text, c.want) || p.Cause == "" {
				t.Errorf("problem %+v, want %q", p, c.want)
			}
		})
	}
}

// TestConcurrent is for the race detector: many ask the same things at once.
func TestConcurrent(t *testing.T) {
	path := build(t, "g++", program, "-O2", "-g")
	offs, _ := randomCode(t, path, 200)
	f := new(Finder)
	answers := make([]string, 8)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			table := f.Open(Module{Path: path})
			var b strings.Builder
			for _, off := range offs {
				s, _ := table.Symbol(off)
				fmt.Fprintln(&b, s, table.Frames(off))
			}
			answers[i] = b.String()
		})
	}
	wg.Wait()
	for _, a := range answers {
		if a != answers[0] {
			t.Fatal("the answers differ")
		}
	}
}
