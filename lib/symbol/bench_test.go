package symbol

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func BenchmarkOpen(b *testing.B) {
	for _, path := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", goCommand()} {
		b.Run(filepath.Base(path), func(b *testing.B) {
			im, err := openImage(path)
			if err != nil {
				b.Skipf("SKIPPED, needs %s", path)
			}
			im.Close()
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = len(new(Finder).Open(Module{Path: path}).index.starts)
			}
			b.ReportMetric(float64(n), "symbols")
		})
	}
}

func BenchmarkSymbol(b *testing.B) {
	table := new(Finder).Open(Module{Path: goCommand()})
	if table.index == nil {
		b.Skip("SKIPPED, needs the go command")
	}
	n := len(table.index.starts)
	b.ReportMetric(float64(n), "symbols")
	i := 0
	for b.Loop() {
		table.Symbol(table.index.starts[i])
		i = (i + 7919) % n
	}
}

func BenchmarkKallsyms(b *testing.B) {
	text, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		b.Skip("SKIPPED, needs /proc/kallsyms")
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseKallsyms(strings.NewReader(string(text)), int64(len(text))); err != nil {
			b.Skip(err)
		}
	}
}

// BenchmarkFrames asks for addresses of the C library, after its debug information was
// found and read.
func BenchmarkFrames(b *testing.B) {
	table := new(Finder).Open(Module{Path: "/lib/x86_64-linux-gnu/libc.so.6"})
	if table.index == nil {
		b.Skip("SKIPPED, needs glibc")
	}
	offs := table.index.starts
	for _, off := range offs {
		table.Frames(off + 1)
	}
	i := 0
	for b.Loop() {
		table.Frames(offs[i] + 1)
		i = (i + 7919) % len(offs)
	}
}

// BenchmarkFirstFrames finds the debug information of the C library and asks once.
func BenchmarkFirstFrames(b *testing.B) {
	for b.Loop() {
		table := new(Finder).Open(Module{Path: "/lib/x86_64-linux-gnu/libc.so.6"})
		if table.index == nil {
			b.Skip("SKIPPED, needs glibc")
		}
		table.Frames(table.index.starts[len(table.index.starts)/2] + 1)
	}
}

// goCommand returns the path of a large program written in Go.
func goCommand() string {
	path, err := exec.LookPath("go")
	if err != nil {
		return "go"
	}
	return path
}
