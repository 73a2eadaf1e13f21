package dwarf

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// sections compiles a small program and returns its debug sections; ok is false where
// there is no compiler.
func sections(tb testing.TB, args ...string) (s Sections, main uint64, ok bool) {
	dir := tb.TempDir()
	source, out := filepath.Join(dir, "a.cc"), filepath.Join(dir, "a")
	text := `
namespace n { template <typename T> inline T half(T v) { return v / 2; } struct s { int m(int i) { return half(i) * i; } }; }
int f(int i) { n::s x; for (int j = 0; j < i; j++) i += x.m(j); return i; }
int main(int argc, char **) { auto l = [](int i) { return f(i) + n::half(i); }; return l(argc); }
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command("g++", append([]string{"-O2", "-g", "-o", out, source}, args...)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		tb.Logf("%v: %v: %s", cmd, err, text)
		return s, 0, false
	}
	file, err := elf.Open(out)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	s.Order = binary.LittleEndian
	for name, to := range map[string]*[]byte{
		"info": &s.Info, "abbrev": &s.Abbrev, "line": &s.Line, "line_str": &s.LineStr, "str": &s.Str,
		"ranges": &s.Ranges, "rnglists": &s.RngLists, "addr": &s.Addr, "str_offsets": &s.StrOffsets,
	} {
		if section := file.Section(".debug_" + name); section != nil {
			if *to, err = section.Data(); err != nil {
				tb.Fatal(err)
			}
		}
	}
	symbols, err := file.Symbols()
	if err != nil {
		tb.Fatal(err)
	}
	for _, sym := range symbols {
		if sym.Name == "main" {
			main = sym.Value
		}
	}
	return s, main, true
}

func TestFrames(t *testing.T) {
	s, main, ok := sections(t)
	if !ok {
		t.Skip("there is no g++: nothing to read")
	}
	d, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for addr := main; addr < main+64; addr++ {
		for _, f := range d.Frames(addr) {
			names[f.Name] = true
			if f.Name == "main" && f.Inlined {
				t.Errorf("main is inlined at 0x%x", addr)
			}
		}
	}
	for _, want := range []string{"main", "_Z1fi", "main::{lambda}::operator()", "_ZN1n4halfIiEET_S1_"} {
		if !names[want] {
			t.Errorf("no %s among %v", want, names)
		}
	}
	if err := d.Err(); err != nil {
		t.Error(err)
	}
}

// TestCut reads every beginning of each section: none may do more than miss frames.
func TestCut(t *testing.T) {
	for _, version := range []string{"-gdwarf-5", "-gdwarf-4", "-gdwarf-3"} {
		whole, main, ok := sections(t, version)
		if !ok {
			t.Skip("there is no g++: nothing to read")
		}
		for _, cut := range []func(s *Sections) *[]byte{
			func(s *Sections) *[]byte { return &s.Info },
			func(s *Sections) *[]byte { return &s.Abbrev },
			func(s *Sections) *[]byte { return &s.Line },
			func(s *Sections) *[]byte { return &s.Str },
			func(s *Sections) *[]byte { return &s.LineStr },
			func(s *Sections) *[]byte { return &s.Ranges },
			func(s *Sections) *[]byte { return &s.RngLists },
		} {
			n := len(*cut(&whole))
			for i := 0; i < n; i += 1 + n/200 {
				s := whole
				section := cut(&s)
				*section = (*section)[:i:i]
				d, err := New(s)
				if err != nil {
					continue
				}
				d.Frames(main)
				d.Frames(main + 8)
			}
		}
	}
}

// TestHostile reads what was made to take time or memory.
func TestHostile(t *testing.T) {
	// One abbreviation with very many attributes of no size: each entry is one byte.
	abbrev := []byte{1, tagUnit, 1, attrLowPC, formAddr, attrHighPC, formData4, 0, 0, 2, tagNamespace, 0}
	for range 1 << 16 {
		abbrev = append(abbrev, 0x3f, formFlagPresent)
	}
	abbrev = append(abbrev, 0, 0, 0)
	body := []byte{4, 0, 0, 0, 0, 0, 8, 1, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0}
	for range 1 << 20 {
		body = append(body, 2)
	}
	info := append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
	d, err := New(Sections{Info: info, Abbrev: abbrev, Order: binary.LittleEndian})
	if err != nil {
		t.Fatal(err)
	}
	d.Frames(0x1800)
	if d.Err() == nil {
		t.Error("nothing was told of 2^36 attributes")
	}

	// Directories without content, as many as a number can say.
	line := []byte{5, 0, 8, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}
	line = append(binary.LittleEndian.AppendUint32(nil, uint32(len(line))), line...)
	d = &Data{Sections: Sections{Line: line, Order: binary.LittleEndian}, lines: map[uint64]*lineTable{}}
	d.left.Store(1000)
	if table, err := d.lineTable(&unit{d: d, stmtList: value{class: classUint}}); err == nil || len(table.dirs) > 1 {
		t.Errorf("%d directories, %v", len(table.dirs), err)
	}
}

func FuzzData(f *testing.F) {
	for _, version := range []string{"-gdwarf-5", "-gdwarf-4", "-gdwarf-2"} {
		if s, main, ok := sections(f, version, "-fno-exceptions"); ok {
			f.Add(s.Info, s.Abbrev, s.Line, s.Str, s.Ranges, s.RngLists, main)
		}
	}
	f.Fuzz(func(t *testing.T, info, abbrev, line, str, ranges, rnglists []byte, addr uint64) {
		d, err := New(Sections{
			Info: info, Abbrev: abbrev, Line: line, LineStr: str, Str: str, StrOffsets: str, Addr: str,
			Ranges: ranges, RngLists: rnglists, Order: binary.LittleEndian,
		})
		if err != nil {
			return
		}
		for i := range uint64(64) {
			d.Frames(addr + i)
		}
	})
}
