package symbol

import (
	"context"
	"debug/elf"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"vperf/lib/perf"
	"vperf/lib/perf/data"
	"vperf/lib/perf/data/datatest"
	"vperf/lib/perf/perftest"
)

// TestPerf lets perf script name random offsets in files of this machine: in a recording
// that holds nothing but one mapping of each and samples there.
func TestPerf(t *testing.T) {
	p := perftest.NeedPerf(t)
	files := []string{
		"/usr/bin/perf", "/usr/bin/node", "/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libm.so.6", goCommand(),
	}
	if examples, _ := filepath.Glob("../../examples/bin/*"); len(examples) > 0 {
		files = append(files, examples...)
	}
	for _, args := range []string{"-O0", "-O2 -static -no-pie", "-O1 -s", "-O2 -fcf-protection -Wl,-z,ibtplt -Wl,-z,now"} {
		files = append(files, build(t, "g++", program, strings.Fields(args)...))
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			path, err := filepath.EvalSymlinks(path)
			if err == nil {
				path, err = filepath.Abs(path)
			}
			if err != nil {
				t.Skipf("SKIPPED, needs %s", path)
			}
			offsets := randomOffsets(t, path, 3000)
			want := perfNames(t, p, path, offsets)
			if len(want) != len(offsets) {
				t.Fatalf("perf names %d of %d", len(want), len(offsets))
			}
			f := new(Finder)
			table := f.Open(Module{Path: path})
			wrong, more, none := 0, 0, 0
			for i, off := range offsets {
				s, ok := table.Symbol(off)
				switch {
				case joined(s.Name) == joined(want[i]):
					if !ok {
						none++
					}
				case want[i] == "", want[i] == "_init", strings.HasSuffix(want[i], "@plt"):
					// perf 6.1 does not know .plt.sec, .plt.got and stubs of IFUNC, counts
					// stubs where they are in another order than their relocations, and may
					// take them for a part of _init, which has no size. See TestPLT.
					more++
					if !strings.Contains(s.Name, "plt") {
						t.Errorf("0x%x: %q, perf has none", off, s.Name)
					}
				default:
					if wrong++; wrong <= 5 {
						t.Logf("0x%x: %+v, perf has %q", off, s, want[i])
					}
				}
			}
			t.Logf("%d offsets: %d without name, %d that perf does not name, %d differ", len(offsets), none, more, wrong)
			if wrong > 0 {
				t.Errorf("%d of %d differ from perf", wrong, len(offsets))
			}
		})
	}
}

// calls is a program with calls into libraries, also by pointer.
const calls = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
	int (*volatile say)(const char *) = puts;
	char *s = strdup(argv[0]);
	qsort(s, strlen(s), 1, (int (*)(const void *, const void *))strcmp);
	say(s);
	free(s);
	return abs(argc) + getchar();
}
`

// TestPLT compares stubs with those that objdump finds.
func TestPLT(t *testing.T) {
	tools(t, "objdump")
	stub := regexp.MustCompile(`(?m)^([0-9a-f]{8,}) <([^>*]+)@plt>:$`)
	files := []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libm.so.6", "/usr/bin/perf"}
	for _, args := range []string{"-O2", "-O2 -fcf-protection -Wl,-z,ibtplt -Wl,-z,now", "-O2 -no-pie -Wl,-z,lazy"} {
		files = append(files, build(t, "gcc", calls, strings.Fields(args)...))
	}
	for _, path := range files {
		im, err := openImage(path)
		if err != nil {
			t.Logf("SKIPPED, needs %s", path)
			continue
		}
		defer im.Close()
		table := new(Finder).Open(Module{Path: path})
		found := stub.FindAllStringSubmatch(output(t, "objdump", "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got", path), -1)
		for _, m := range found {
			addr, _ := strconv.ParseUint(m[1], 16, 64)
			off, _ := im.toOffset(addr)
			name, _, _ := strings.Cut(m[2], "@")
			if s, ok := table.Symbol(off + 3); !ok || s.Name != demangle(name)+"@plt" || s.Start != off {
				t.Errorf("%s: 0x%x: %+v, objdump has %s", path, addr, s, m[2])
			}
		}
		t.Logf("%s: %d stubs", path, len(found))
		if len(found) == 0 && !strings.Contains(path, "lib") && im.Section(".plt.got") != nil {
			t.Errorf("%s: objdump finds no stubs", path)
		}
	}
}

// randomOffsets returns file offsets in the executable sections of a file, the same ones
// in every run.
func randomOffsets(t *testing.T, path string, n int) (list []uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 || s.Size == 0 {
			continue
		}
		m := uint64(n)
		if s.Name != ".text" {
			m = min(100, s.Size)
		}
		for range m {
			list = append(list, s.Offset+rng.Uint64N(s.Size))
		}
	}
	return list
}

// joined leaves out the blank between closing brackets, which libiberty forgets where an
// empty pack stands between them.
func joined(name string) string { return strings.ReplaceAll(name, " >", ">") }

// perfNames returns what perf script calls each offset, empty where it has no name.
func perfNames(t *testing.T, p *perf.Perf, path string, offsets []uint64) (names []string) {
	t.Helper()
	const base, pid = 0x7f0000000000, 4711
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &datatest.Recording{AttrSize: 96} // what every perf knows
	r.Event(data.Attr{Type: 1, SamplePeriod: 1, SampleType: data.SampleIP | data.SampleTID})
	who := []any{uint32(pid), uint32(pid)}
	r.Record(data.RecordComm, 0, append(who, "x")...)
	r.Record(data.RecordMmap, data.ModeUser, append(who, uint64(base), uint64(info.Size()), uint64(0), path)...)
	for _, off := range offsets {
		r.Record(data.RecordSample, data.ModeUser, append([]any{base + off}, who...)...)
	}
	file := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(file, r.File(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := p.Command(context.Background(), "script", "-f", "-i", file, "--no-inline", "-F", "ip,sym")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "[unknown]" {
			name = ""
		}
		names = append(names, name)
	}
	return names
}
