package symbol

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMap(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want map[uint64]string
	}{
		"plain": {
			"1000 10 a\n1010 10 void b<int>(long, char) [tier 2]\n2000 5 ~foo /src/app.js:3\n",
			map[uint64]string{0xfff: "", 0x1000: "a", 0x1010: "void b<int>(long, char) [tier 2]", 0x101f: "void b<int>(long, char) [tier 2]", 0x1020: "", 0x2004: "~foo /src/app.js:3"},
		},
		"prefixed, CRLF": {"0x1000 0x10 a\r\n", map[uint64]string{0x1000: "a"}},
		"unordered":      {"2000 10 b\n1000 10 a\n", map[uint64]string{0x1008: "a", 0x2008: "b"}},
		"memory used again": {
			"1000 100 old\n1010 10 inner\n1080 100 new\n",
			map[uint64]string{0x1000: "old", 0x100f: "old", 0x1010: "inner", 0x101f: "inner", 0x1020: "old", 0x107f: "old", 0x1080: "new", 0x117f: "new", 0x1180: ""},
		},
		"same place twice": {"1000 10 a\n1000 10 b\n", map[uint64]string{0x1000: "b", 0x100f: "b"}},
		"larger later":     {"1010 10 a\n1000 100 b\n", map[uint64]string{0x1010: "b", 0x10ff: "b"}},
		"bad lines":        {"\nx\n1000\n1000 10\n1000 10 \n1000 0 empty\n3000 10 good", map[uint64]string{0x1000: "", 0x3000: "good"}},
		"top of memory":    {"fffffffffffffff0 10 wraps\nfffffffffffffff0 f top\n", map[uint64]string{0xfffffffffffffff1: "top"}},
	} {
		t.Run(name, func(t *testing.T) {
			x, err := parseMap(strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			for addr, want := range c.want {
				if got := nameAt(x, addr); got != want {
					t.Errorf("0x%x: %q, want %q", addr, got, want)
				}
			}
		})
	}
}

func TestMapLongLine(t *testing.T) {
	x, err := parseMap(strings.NewReader("1000 10 " + strings.Repeat("a", 3<<20) + "\n2000 10 b\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := nameAt(x, 0x2000); got != "b" {
		t.Errorf("the line after a long one: %q", got)
	}
}

func TestMapOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "perf-77.map")
	if err := os.WriteFile(path, []byte("1000 10 a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := Module{Path: path, Kind: JIT, PID: 77}
	if s, ok := new(Finder).Open(m).Symbol(0x1008); !ok || s.Name != "a" {
		t.Errorf("own map: %+v, %v", s, ok)
	}
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	table := new(Finder).Open(m)
	if s, ok := table.Symbol(0x1008); ok {
		t.Errorf("a map of somebody else was believed: %+v", s)
	}
	if p := table.Problem(); p == nil || !strings.Contains(p.Text, "belongs neither to root") {
		t.Errorf("problem: %+v", p)
	}
}

func TestMapMissing(t *testing.T) {
	table := new(Finder).Open(Module{Path: "/nonexistent/perf-77.map", Kind: JIT, PID: 1 << 30})
	if p := table.Problem(); p == nil || p.Hint == "" {
		t.Errorf("problem: %+v", p)
	}
}

func FuzzMap(f *testing.F) {
	f.Add("1000 100 old\n1010 10 inner\n1080 100 new\n")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := parseMap(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		checkIndex(t, x)
	})
}
