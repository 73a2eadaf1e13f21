package symbol

import (
	"bytes"
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// program has what inlining brings: members, templates, lambdas, namespaces without a
// name, functions of C, several levels.
const program = `
#include <algorithm>
#include <map>
#include <string>
#include <vector>
#include <cstdio>
#include <cmath>
namespace outer { namespace {
struct point { double x, y; double norm() const { return std::sqrt(x * x + y * y); } };
inline double twice(double v) { return v * 2 + 1; }
} 
template <typename T> struct box {
	T value;
	explicit box(T v) : value(v) {}
	T get(int n) const { T s = value; for (int i = 0; i < n; i++) s += twice(s); return s; }
	static box make(T v) { return box(v); }
};
double operator*(point const &a, point const &b) { return a.norm() * b.norm(); }
} 
extern "C" __attribute__((noinline)) int plain_c(int n) { int s = 0; for (int i = 0; i < n; i++) s += i % 7; return s; }
static __attribute__((noinline)) int sorted(std::vector<int> &v, int by) {
	std::sort(v.begin(), v.end(), [by](int a, int b) { return a % by < b % by; });
	return v[v.size() / 2];
}
int main(int argc, char **argv) {
	std::map<std::string, int> m;
	std::vector<int> v;
	for (int i = 0; i < 1000 + argc; i++) { m[std::to_string(i % 37)] += i; v.push_back(i * 7919 % 1009); }
	outer::point p{1.0 * argc, 2.0};
	std::printf("%d %f %f %d %zu\n", sorted(v, 13), outer::box<double>::make(argc).get(5), outer::operator*(p, p), plain_c(argc), m.size());
}
`

// build compiles a program, or skips the test by name.
func build(t *testing.T, compiler, source string, args ...string) string {
	t.Helper()
	tools(t, compiler)
	dir := t.TempDir()
	name := filepath.Join(dir, "program.cc")
	if compiler == "gcc" {
		name = filepath.Join(dir, "program.c")
	}
	if err := os.WriteFile(name, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "program")
	cmd := exec.Command(compiler, append(args, "-o", out, name)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", cmd, err, text)
	}
	return out
}

// randomCode returns offsets and addresses in the code of an ELF file, the same ones in
// every run.
func randomCode(t *testing.T, path string, n int) (offs, addrs []uint64) {
	t.Helper()
	im, err := openImage(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	text := im.Section(".text")
	if text == nil || text.Type == elf.SHT_NOBITS {
		t.Fatalf("%s has no .text", path)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		addr := text.Addr + rng.Uint64N(text.Size)
		off, _ := im.toOffset(addr)
		offs, addrs = append(offs, off), append(addrs, addr)
	}
	return offs, addrs
}

// addr2line asks binutils, as perf does where it has no library for that.
func addr2line(t *testing.T, path string, addrs []uint64) [][]Frame {
	t.Helper()
	var in bytes.Buffer
	for _, a := range addrs {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command("addr2line", "-a", "-f", "-i", "-e", path)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]Frame
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i := 0; i < len(lines); {
		if !strings.HasPrefix(lines[i], "0x") {
			t.Fatalf("addr2line: %q", lines[i])
		}
		var frames []Frame
		for i++; i+1 < len(lines) && !strings.HasPrefix(lines[i], "0x"); i += 2 {
			at, _, _ := strings.Cut(lines[i+1], " (")
			colon := strings.LastIndexByte(at, ':')
			f := Frame{Name: demangle(lines[i]), File: at[:colon]}
			f.Line, _ = strconv.Atoi(at[colon+1:])
			if f.File == "??" {
				f.File = ""
			}
			if n := len(frames); n > 0 {
				frames[n-1].Inlined = true
			}
			frames = append(frames, f)
		}
		all = append(all, frames)
	}
	return all
}

// compareFrames counts where addr2line answers otherwise, and fails above a share.
func compareFrames(t *testing.T, path string, n int, allowed float64) {
	t.Helper()
	tools(t, "addr2line")
	offs, addrs := randomCode(t, path, n)
	table := new(Finder).Open(Module{Path: path})
	want := addr2line(t, path, addrs)
	if len(want) != len(addrs) {
		t.Fatalf("addr2line answered %d of %d", len(want), len(addrs))
	}
	known, wrong, inlined := 0, 0, 0
	for i, off := range offs {
		w := want[i]
		if len(w) == 0 || w[0].Line == 0 && len(w) == 1 {
			continue
		}
		known++
		got := table.Frames(off)
		inlined += len(got)
		symbol, _ := table.Symbol(off)
		if diff := differ(got, w, symbol.Name); diff != "" {
			if wrong++; wrong <= 5 {
				t.Logf("0x%x: %s", addrs[i], diff)
			}
		}
	}
	if p := table.Problem(); p != nil {
		t.Errorf("problem: %+v", p)
	}
	t.Logf("%d of %d known, %d frames, %d differ", known, n, inlined, wrong)
	if known == 0 || float64(wrong) > allowed*float64(known) {
		t.Errorf("%d of %d differ from addr2line", wrong, known)
	}
}

// differ compares with binutils, which leaves out the scope of a function without linkage
// name, and calls the innermost one of that kind by the symbol around it.
func differ(got, want []Frame, symbol string) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d frames, want %d", len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		named := g.Name == w.Name || strings.HasSuffix(g.Name, "::"+w.Name) || i == 0 && w.Name == symbol || i+1 == len(got)
		// binutils 2.40 takes the unit's own file for some of a header.
		misplaced := (strings.HasSuffix(w.File, "program.cc") || strings.HasSuffix(w.File, "<artificial>")) && (w.Line > strings.Count(program, "\n") || strings.HasSuffix(g.File, "program.cc"))
		if !named || g.Line != w.Line || g.File != w.File && !misplaced || g.Inlined != w.Inlined {
			return fmt.Sprintf("frame %d\n got %+v\nwant %+v", i, g, w)
		}
	}
	return ""
}

func TestFrames(t *testing.T) {
	for _, c := range []struct {
		compiler string
		args     string
		allowed  float64
	}{
		{"g++", "-O2 -g", 0},
		{"g++", "-O0 -gdwarf-4 -gz", 0},
		{"g++", "-O2 -gdwarf-3", 0},
		{"g++", "-O2 -gdwarf-2 -gstrict-dwarf", 0.005}, // one range for what has several: they overlap
		{"g++", "-O3 -gdwarf-4 -static -no-pie", 0},
		{"g++", "-O2 -g -fdebug-types-section -flto", 0},
		{"clang++", "-O2 -g", 0},
	} {
		t.Run(c.compiler+strings.ReplaceAll(c.args, " ", ""), func(t *testing.T) {
			if c.compiler != "g++" {
				if _, err := exec.LookPath(c.compiler); err != nil {
					t.Skipf("SKIPPED, %s is not installed", c.compiler)
				}
			}
			path := build(t, c.compiler, program, strings.Fields(c.args)...)
			compareFrames(t, path, 3000, c.allowed)
		})
	}
}

func TestSplitDWARF(t *testing.T) {
	path := build(t, "gcc", hidden, "-O1", "-g", "-gsplit-dwarf")
	table := new(Finder).Open(Module{Path: path})
	for i, start := range table.index.starts {
		if table.index.name(i) != "inner" {
			continue
		}
		frames := table.Frames(start)
		if len(frames) != 1 || frames[0].Name != "inner" || frames[0].Line != 4 {
			t.Errorf("line numbers are in the file itself: %+v", frames)
		}
	}
	if p := table.Problem(); p == nil || !strings.Contains(p.Text, ".dwo") {
		t.Errorf("problem: %+v", p)
	}
}

// TestCutWhileRead cuts a file that is mapped: the kernel signals that as a fault.
func TestCutWhileRead(t *testing.T) {
	path := build(t, "gcc", hidden, "-O1", "-g")
	im, err := openImage(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	d, err := new(Finder).dwarf(im, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 64); err != nil {
		t.Fatal(err)
	}
	text := im.Section(".text")
	for addr := text.Addr; addr < text.Addr+text.Size; addr++ {
		d.Frames(addr)
	}
	if err := d.Err(); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("error: %v", err)
	}
}
