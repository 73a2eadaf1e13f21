package symbol

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vperf/lib/need"
)

// write makes a file and returns its path.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const kernelID = "0123456789abcdef0123456789abcdef01234567"

func TestKernel(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.debug/[kernel.kallsyms]/"+kernelID+"/kallsyms", listed)
	given := write(t, home+"/given", listed)
	zeros := write(t, home+"/zeros", "0000000000000000 T _text\n0000000000000000 T f\n")
	for name, c := range map[string]struct {
		f       *Finder
		m       Module
		addr    uint64
		want    string
		start   uint64
		problem string
		hint    string
	}{
		"kept by perf":   {f: &Finder{Home: home}, m: Module{Path: "[kernel.kallsyms]", Kind: Kernel, BuildID: kernelID}, addr: 0xffffffff81000012, want: "do_it", start: 0xffffffff81000010},
		"given":          {f: &Finder{Kallsyms: given}, m: Module{Path: "[kernel.kallsyms]", Kind: Kernel}, addr: 0xffffffff81000012, want: "do_it", start: 0xffffffff81000010},
		"booted again":   {f: &Finder{Kallsyms: given}, m: Module{Path: "[kernel.kallsyms]", Kind: Kernel, Start: 0xffffffff92000000}, addr: 0xffffffff92000012, want: "do_it", start: 0xffffffff92000010},
		"another kernel": {f: &Finder{Kallsyms: given}, m: Module{Path: "[kernel.kallsyms]", Kind: Kernel, Start: 0xffffffff92000123}, addr: 0xffffffff92000012, problem: "is of another kernel than the recording"},
		"module":         {f: &Finder{Kallsyms: given}, m: Module{Path: "[nf_conntrack]", Kind: KernelModule}, addr: 0xffffffffc0345050, want: "nf_ct_get_tuple", start: 0xffffffffc0345000},
		"module's file":  {f: &Finder{Kallsyms: given}, m: Module{Path: "/lib/modules/6.1.0/kernel/net/netfilter/nf-conntrack.ko.xz", Kind: KernelModule}, addr: 0xffffffffc0345050, want: "nf_ct_get_tuple", start: 0xffffffffc0345000},
		"unloaded":       {f: &Finder{Kallsyms: given}, m: Module{Path: "[gone]", Kind: KernelModule}, addr: 0xffffffffc0345050, problem: "lists no symbols of [gone]"},
		"restricted":     {f: &Finder{Kallsyms: zeros}, m: Module{Path: "[kernel.kallsyms]", Kind: Kernel}, addr: 0xffffffff81000012, problem: "the kernel hides its addresses", hint: "sysctl -w kernel.kptr_restrict=0"},
		"missing":        {f: &Finder{Kallsyms: home + "/none"}, m: Module{Path: "[kernel.kallsyms]", Kind: Kernel}, addr: 0xffffffff81000012, problem: "is not on this machine", hint: "run where it was recorded"},
		"other machine":  {f: &Finder{SymFS: home, Home: home}, m: Module{Path: "[kernel.kallsyms]", Kind: Kernel}, addr: 0xffffffff81000012, problem: "are not on this machine", hint: "run where it was recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			table := c.f.Open(c.m)
			s, ok := table.Symbol(c.addr)
			if s.Name != c.want || s.Start != c.start || ok != (c.want != "") {
				t.Errorf("%+v, %v, want %s", s, ok, c.want)
			}
			p := table.Problem()
			if (p != nil) != (c.problem != "") || p != nil && (!strings.Contains(p.Text, c.problem) || !strings.Contains(p.Hint, c.hint)) {
				t.Errorf("problem: %+v, want %q", p, c.problem)
			}
		})
	}
}

func TestRunningKernel(t *testing.T) {
	f := &Finder{Home: t.TempDir()}
	table := f.Open(Module{Path: "[kernel.kallsyms]", Kind: Kernel, BuildID: runningKernel()})
	if p := table.Problem(); p != nil {
		need.Missing(t, "needs the kernel's symbols: %s", p.Text)
	}
	for _, start := range []string{"schedule", "vfs_read"} {
		i := 0
		for ; i < len(table.index.starts) && table.index.name(i) != start; i++ {
		}
		if i == len(table.index.starts) {
			t.Errorf("%s is not listed", start)
		}
	}
}

func TestVDSO(t *testing.T) {
	own, err := ownVDSO()
	if err != nil {
		t.Skipf("SKIPPED, %v", err)
	}
	for _, id := range []string{"", own.buildID, own.buildID + "0000"} {
		table := (&Finder{Home: t.TempDir()}).Open(Module{Path: "[vdso]", Kind: VDSO, BuildID: id})
		if p := table.Problem(); p != nil {
			t.Errorf("build-id %q: %+v", id, p)
			continue
		}
		found := false
		for i := range table.index.starts {
			found = found || strings.HasPrefix(table.index.name(i), "__vdso_")
		}
		if !found {
			t.Errorf("build-id %q: no __vdso_ function", id)
		}
	}
}
