package symbol

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// smallELF compiles a library of few symbols; nil where there is no compiler.
func smallELF(f *testing.F, args ...string) []byte {
	dir := f.TempDir()
	source, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.so")
	text := "extern int puts(const char *); int f(int i) { return puts(\"x\") + i; } int g(int i) { return f(i); }"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		f.Fatal(err)
	}
	cmd := exec.Command("gcc", append([]string{"-shared", "-fPIC", "-O1", "-o", out, source}, args...)...)
	if err := cmd.Run(); err != nil {
		f.Logf("%v: %v: fuzzing starts without an ELF file", cmd, err)
		return nil
	}
	data, err := os.ReadFile(out)
	if err != nil {
		f.Fatal(err)
	}
	return data
}

func FuzzELF(f *testing.F) {
	f.Add([]byte("\x7fELF"))
	f.Add(smallELF(f))
	f.Add(smallELF(f, "-s"))
	f.Add(smallELF(f, "-fcf-protection", "-Wl,-z,ibtplt", "-nostdlib"))
	f.Fuzz(func(t *testing.T, data []byte) {
		im, err := newImage("fuzz", bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		im.debugLink()
		finder := &Finder{Home: "/nonexistent", SymFS: "/nonexistent"}
		table := finder.elfTable(im, User)
		if table.index != nil {
			checkIndex(t, table.index)
		}
		if off, ok := im.toAddress(0x1000); ok {
			im.toOffset(off)
		}
	})
}

func FuzzDemangle(f *testing.F) {
	for _, s := range []string{"_ZN3foo3barEv", "_ZNSt6vectorIiSaIiEE9push_backEOi.cold", "_RNvCs1234_7mycrate3foo", "camlStdlib__List__map_154$2c", "caml$", "_GLOBAL__I_a", "_RC0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s != "" && demangle(s) == "" {
			t.Errorf("%q became nothing", s)
		}
	})
}
