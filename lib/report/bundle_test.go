package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"vperf/lib/need"
	"vperf/lib/record"
)

func files(list map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range list {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func node(t *testing.T) string {
	path, err := exec.LookPath("node")
	if err != nil {
		need.Missing(t, "needs node to try the page's script: %v", err)
	}
	return path
}

func TestBundle(t *testing.T) {
	src, err := bundle(files(map[string]string{
		"main.js": "import { b, Thing } from './b.js';\nimport {\n  $,\n  a,\n} from './a.js';\nconsole.log([b(), a, $(), new Thing().x].join());\n",
		"b.js":    "import { a } from './a.js';\nexport function b() {\n  return a + 1;\n}\nexport class Thing {\n  x = 7;\n}\n",
		"a.js":    "/** A doc comment with\n * import { x } from './y.js'; */\nexport const a =\n  /** @type {any} */ (1);\n/* plain */\nexport function $() {\n  return 'export const x';\n}\nlet inner = 0;\ninner++;\n",
	}), "main.js")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node(t), "-e", src).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := strings.TrimSpace(string(out)); got != "2,1,export const x,7" {
		t.Errorf("it prints %q", got)
	}
}

func TestBundleRefuses(t *testing.T) {
	tests := []struct {
		name, want string
		files      map[string]string
	}{
		{"a name that is not exported", `imports "x"`, map[string]string{"main.js": "import { x } from './a.js';\n", "a.js": "const x = 1;\n"}},
		{"one name twice", "both declare x", map[string]string{"main.js": "import { y } from './a.js';\nconst x = 2;\n", "a.js": "const x = 1;\nexport const y = 1;\n"}},
		{"a circle", "imports itself", map[string]string{"main.js": "import { a } from './a.js';\nexport const m = 1;\n", "a.js": "import { m } from './main.js';\nexport const a = 1;\n"}},
		{"a missing module", "a.js", map[string]string{"main.js": "import { a } from './a.js';\n"}},
		{"renamed imports", "which a.js does not export", map[string]string{"main.js": "import { a as b } from './a.js';\n", "a.js": "export const a = 1;\n"}},
		{"default imports", "not in the subset", map[string]string{"main.js": "import a from './a.js';\n", "a.js": "export const a = 1;\n"}},
		{"default exports", "not in the subset", map[string]string{"main.js": "export default 1;\n"}},
		{"export lists", "not in the subset", map[string]string{"main.js": "const a = 1;\nexport { a };\n"}},
		{"destructuring at the top", "not in the subset", map[string]string{"main.js": "const { a } = { a: 1 };\n"}},
		{"packages", "not in the subset", map[string]string{"main.js": "import { a } from 'left-pad';\n"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := bundle(files(test.files), "main.js"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestPageScript(t *testing.T) {
	a, err := assets()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"</script", "<!--", "<script"} {
		if strings.Contains(strings.ToLower(a.script), bad) || strings.Contains(a.style, bad) {
			t.Errorf("script or style holds %q", bad)
		}
	}
	file := filepath.Join(t.TempDir(), "page.js")
	if err := os.WriteFile(file, []byte(a.script), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(node(t), "--check", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWords(t *testing.T) {
	tests := []struct{ got, want string }{
		{label("elapsed_s", "s"), "Elapsed"},
		{label("busy_cores", "cores"), "Busy CPUs"},
		{label("peak_rss", "bytes"), "Peak RSS"},
		{label("context_switches_per_s", "1/s"), "Context switches per second"},
		{label("l1d_miss_rate", "ratio"), "L1D miss rate"},
		{label("", ""), ""},
		{label("___", "s"), ""},
		{missingText("no_pmu"), "no PMU"},
		{missingText(""), "no value"},
		{function{module: "/a/lib.so"}.display(), "[lib.so]"},
		{function{module: "[vdso]"}.display(), "[vdso]"},
		{function{}.display(), "[unknown]"},
		{grouped(-1234567), "−1" + thin + "234" + thin + "567"},
		{percent(1, 0), "–"},
		{share(1, 0), "–"},
		{share(1, 3), "33.3 %"},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestQuantity(t *testing.T) {
	tests := []struct {
		v          float64
		unit, want string
	}{
		{1.528653431, "s", "1.53 s"},
		{0, "s", "0 s"},
		{4.5e-7, "s", "450 ns"},
		{1115820000, "ns", "1.12 s"},
		{12.5, "msec", "12.5 ms"},
		{7200, "s", "120 min"},
		{3670016, "bytes", "3.50 MiB"},
		{999.6, "bytes", "0.98 KiB"},
		{0.365, "ratio", "36.5 %"},
		{59.8, "percent", "59.8 %"},
		{493.24, "1/s", "493.2 /s"},
		{4310000000, "Hz", "4.31 GHz"},
		{1652000000000, "count", "1.65 T"},
		{754, "count", "754 "},
		{44052, "", "44" + thin + "052 "},
		{0.81, "instructions/cycle", "0.81 instructions/cycle"},
		{954e9, "cycles", "954 G cycles"},
	}
	for _, test := range tests {
		text, unit := quantity(test.v, test.unit)
		if got := text + " " + unit; got != test.want {
			t.Errorf("quantity(%g, %q) = %q, want %q", test.v, test.unit, got, test.want)
		}
	}
}

func TestIDMap(t *testing.T) {
	var m idMap
	for i, id := range []uint32{1, 3, 2000, 4_000_000_000, 3} {
		m.set(record.ID(id), uint32(i))
	}
	for id, want := range map[uint32]uint32{1: 0, 3: 4, 2000: 2, 4_000_000_000: 3} {
		if got, ok := m.get(record.ID(id)); !ok || got != want {
			t.Errorf("id %d: %d, %t", id, got, ok)
		}
	}
	for _, id := range []uint32{0, 2, 1999, 4_294_967_295} {
		if _, ok := m.get(record.ID(id)); ok {
			t.Errorf("id %d is known", id)
		}
	}
	if len(m.dense) > 4096 {
		t.Errorf("%d places for 4 ids", len(m.dense))
	}
}
