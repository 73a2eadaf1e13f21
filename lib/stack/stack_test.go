package stack

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vperf/lib/record"
)

func user(symbol string) record.Frame {
	return record.Frame{Symbol: symbol, Module: "/opt/app", Kind: record.KindUser}
}

func kernel(symbol string) record.Frame {
	return record.Frame{Symbol: symbol, Module: "[kernel.kallsyms]", Kind: record.KindKernel}
}

func inlined(symbol string) record.Frame { return record.Frame{Symbol: symbol, Inlined: true} }

// leafFirst makes frames of a stack written root first, "main;f;g".
func leafFirst(stack string) []record.Frame {
	var frames []record.Frame
	for name := range strings.SplitSeq(stack, ";") {
		frames = append(frames, user(name))
	}
	slices.Reverse(frames)
	return frames
}

// fold makes a table and weights of lines "main;f;g" -> weight.
func fold(lines map[string]uint64) (*Table, Weights) {
	t, w := NewTable(), Weights{}
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		id, _ := Shape{}.Add(t, 0, leafFirst(line))
		w.Add(id, lines[line])
	}
	return t, w
}

func TestTableSharesPrefixes(t *testing.T) {
	table, w := fold(map[string]uint64{"main;f;g": 1, "main;f;h": 2, "main;f": 4, "main;k": 8})
	if table.Stacks() != 5 || len(table.frames)-1 != 5 {
		t.Errorf("%d stacks of %d frames, want 5 of 5", table.Stacks(), len(table.frames)-1)
	}
	if w.Total() != 15 {
		t.Errorf("total %d, want 15", w.Total())
	}
	for id := 1; id <= table.Stacks(); id++ {
		if table.Parent(record.ID(id)) >= record.ID(id) {
			t.Errorf("stack %d has the later parent %d", id, table.Parent(record.ID(id)))
		}
	}
}

func TestHotspots(t *testing.T) {
	table, w := fold(map[string]uint64{
		"main":           1,
		"main;f":         10,
		"main;f;f;f":     100, // recursion: once per stack
		"main;f;g;f":     1000,
		"main;g;h":       10000,
		"main;g;h;main":  100000,
		"other;g;unused": 0,
	})
	want := []Hotspot{
		{Symbol: "main", Self: 100001, Total: 111111},
		{Symbol: "h", Self: 10000, Total: 110000},
		{Symbol: "f", Self: 1110, Total: 1110},
		{Symbol: "g", Self: 0, Total: 111000},
	}
	got := Hotspots(table, w)
	for i := range got {
		got[i].Module, got[i].Kind = "", ""
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestHotspotsModules keeps functions of the same name apart by module, and does not by
// address or line.
func TestHotspotsModules(t *testing.T) {
	table, w := NewTable(), Weights{}
	add := func(f record.Frame, weight uint64) {
		w.Add(table.Stack(0, table.Frame(f)), weight)
	}
	add(record.Frame{Symbol: "f", Module: "a", Line: 1}, 1)
	add(record.Frame{Symbol: "f", Module: "a", Line: 2, Address: "0x2"}, 2)
	add(record.Frame{Symbol: "f", Module: "b"}, 4)
	got := Hotspots(table, w)
	want := []Hotspot{{Symbol: "f", Module: "b", Self: 4, Total: 4}, {Symbol: "f", Module: "a", Self: 3, Total: 3}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestAgainstLines compares hotspots and folded text with what plain loops over the lines
// make of them.
func TestAgainstLines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "b", "b c", "b 1", "b!", "b:", "bb", "c", "~"}
	for range 200 {
		lines := map[string]uint64{}
		for range 1 + rnd.IntN(20) {
			var stack []string
			for range 1 + rnd.IntN(6) {
				stack = append(stack, names[rnd.IntN(len(names))])
			}
			lines[strings.Join(stack, ";")] += uint64(1 + rnd.IntN(20))
		}
		table, w := fold(lines)

		var text []string
		self, total := map[string]uint64{}, map[string]uint64{}
		for line, weight := range lines {
			text = append(text, fmt.Sprintf("%s %d", line, weight))
			frames := strings.Split(line, ";")
			self[frames[len(frames)-1]] += weight
			slices.Sort(frames)
			for _, f := range slices.Compact(frames) {
				total[f] += weight
			}
		}
		slices.Sort(text)

		var out bytes.Buffer
		if err := WriteFolded(&out, table, w, Naming{}); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), strings.Join(text, "\n")+"\n"; got != want {
			t.Fatalf("got\n%swant\n%s", got, want)
		}
		spots := Hotspots(table, w)
		if len(spots) != len(total) {
			t.Fatalf("%d functions, want %d", len(spots), len(total))
		}
		for _, h := range spots {
			if h.Self != self[h.Symbol] || h.Total != total[h.Symbol] {
				t.Fatalf("%+v, want self %d, total %d in\n%s", h, self[h.Symbol], total[h.Symbol], out.String())
			}
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		frame     record.Frame
		want      string
		marked    string
		withAddrs string
	}{
		{frame: record.Frame{Symbol: "La;::b\nc"}, want: "La:::b c"},
		{frame: record.Frame{Symbol: "a\x1b[31mb\x7f\u009bc\td"}, want: "a\ufffd[31mb\ufffd\ufffdc d"},
		{frame: record.Frame{Module: "/opt/a b/app (deleted)"}, want: "[app]"},
		{frame: record.Frame{Module: "[kernel.kallsyms]", Kind: record.KindKernel}, want: "[[kernel.kallsyms]]", marked: "[[kernel.kallsyms]]_[k]"},
		{frame: record.Frame{}, want: "[unknown]"},
		{frame: record.Frame{Address: "0x40"}, want: "[unknown]", withAddrs: "[unknown <40>]"},
		{frame: record.Frame{Module: "/a", Address: "0x40"}, want: "[a]", withAddrs: "[a <40>]"},
		{frame: record.Frame{Symbol: "f", Address: "0x40"}, want: "f"},
		{frame: record.Frame{Symbol: "f", Kind: record.KindKernel}, want: "f", marked: "f_[k]"},
		{frame: record.Frame{Symbol: "f", Inlined: true}, want: "f", marked: "f_[i]"},
		{frame: record.Frame{Symbol: "f", Module: "/tmp/perf-77.map"}, want: "f", marked: "f_[j]"},
		{frame: record.Frame{Symbol: "f", Module: "/tmp/jitted-31714-4145673320.so"}, want: "f", marked: "f_[j]"},
	} {
		for _, n := range []struct {
			naming Naming
			want   string
		}{{Naming{}, c.want}, {Naming{Mark: true}, c.marked}, {Naming{Addresses: true}, c.withAddrs}} {
			if n.want == "" {
				n.want = c.want
			}
			if got := n.naming.Name(&c.frame); got != n.want {
				t.Errorf("%+v %+v: %q, want %q", n.naming, c.frame, got, n.want)
			}
		}
	}
}

// TestFoldedMerges writes one line for stacks that differ only in what the text does not
// show.
func TestFoldedMerges(t *testing.T) {
	table, w := NewTable(), Weights{}
	for i, module := range []string{"/usr/lib/a", "/opt/a"} {
		id, _ := Shape{}.Add(table, 0, []record.Frame{user("leaf"), {Module: module}})
		w.Add(id, uint64(i+1))
	}
	var out strings.Builder
	if err := WriteFolded(&out, table, w, Naming{}); err != nil || out.String() != "[a];leaf 3\n" {
		t.Errorf("%q %v", out.String(), err)
	}
}

func TestShape(t *testing.T) {
	frames := []record.Frame{ // leaf first
		kernel("schedule"), inlined("syscall_inl"), kernel("do_syscall"), inlined("inl2"), inlined("inl1"), user("read"), user("main"),
	}
	for _, c := range []struct {
		name  string
		shape Shape
		in    []record.Frame
		want  string // root first
		cut   bool
	}{
		{"all", Shape{}, frames, "main;read;inl1;inl2;do_syscall;syscall_inl;schedule", false},
		{"no inline", Shape{NoInline: true}, frames, "main;read;do_syscall;schedule", false},
		{"boundary", Shape{Kernel: KernelBoundary}, frames, "main;read;inl1;inl2;[kernel boundary]", false},
		{"drop", Shape{Kernel: KernelDrop}, frames, "main;read;inl1;inl2", false},
		{"only kernel", Shape{Kernel: KernelDrop}, frames[:3], "", false},
		{"kernel between", Shape{Kernel: KernelBoundary}, []record.Frame{user("sig"), kernel("k2"), kernel("k1"), user("main")}, "main;[kernel boundary];sig", false},
		{"leaf side", Shape{MaxDepth: 2}, frames, "syscall_inl;schedule", true},
		{"just deep enough", Shape{MaxDepth: 7}, frames, "main;read;inl1;inl2;do_syscall;syscall_inl;schedule", false},
		{"depth counts what is left", Shape{MaxDepth: 2, NoInline: true, Kernel: KernelDrop}, frames, "main;read", false},
		{"inlined at the root", Shape{}, []record.Frame{user("f"), inlined("g")}, "g;f", false},
		{"java", Shape{NoInline: true}, []record.Frame{{Symbol: "b", Module: "/tmp/perf-1.map", Kind: record.KindUser, Inlined: true}, {Symbol: "a", Module: "/tmp/perf-1.map", Kind: record.KindUser}}, "a", false},
		{"none", Shape{}, nil, "", false},
	} {
		table := NewTable()
		id, q := c.shape.Add(table, 0, slices.Clone(c.in))
		var names []string
		for ; id != 0; id = table.Parent(id) {
			names = append([]string{table.Leaf(id).Symbol}, names...)
		}
		if got := strings.Join(names, ";"); got != c.want || q.Cut != c.cut || q.Frames != len(c.in) {
			t.Errorf("%s: %q %+v, want %q, cut %v", c.name, got, q, c.want, c.cut)
		}
	}
	table := NewTable()
	id, _ := Shape{}.Add(table, 0, slices.Clone(frames))
	for _, want := range []record.FrameKind{record.KindKernel, record.KindKernel, record.KindKernel, record.KindUser, record.KindUser} {
		if f := table.Leaf(id); f.Kind != want || f.Module == "" {
			t.Errorf("%s is of kind %q in %q, want %q", f.Symbol, f.Kind, f.Module, want)
		}
		id = table.Parent(id)
	}
}

func TestQuality(t *testing.T) {
	for _, c := range []struct {
		frames []record.Frame
		want   Quality
	}{
		{[]record.Frame{user("f"), user("main")}, Quality{Frames: 2}},
		{[]record.Frame{user(""), user("main")}, Quality{Frames: 2, Unresolved: true}},
		{[]record.Frame{user("f"), user("")}, Quality{Frames: 2}},
		{[]record.Frame{user("f"), {Kind: record.KindUnknown}}, Quality{Frames: 2, Broken: true}},
		{[]record.Frame{user("f"), user("g"), {Kind: record.KindUnknown}}, Quality{Frames: 3}},
		{[]record.Frame{user("f"), user("g"), {Kind: record.KindUnknown}, user("h")}, Quality{Frames: 4, Broken: true}},
		{[]record.Frame{{Module: "[kernel.kallsyms]", Kind: record.KindKernel}, user("main")}, Quality{Frames: 2, Kernel: true}},
		{[]record.Frame{{Kind: record.KindKernel}, user("main")}, Quality{Frames: 2, Kernel: true}},
		{[]record.Frame{inlined("x"), user("f")}, Quality{Frames: 2}},
	} {
		if _, q := (Shape{}).Add(NewTable(), 0, c.frames); q != c.want {
			t.Errorf("%+v: %+v, want %+v", c.frames, q, c.want)
		}
	}
}

func TestWeightsSaturate(t *testing.T) {
	var w Weights
	w.Add(3, math.MaxUint64)
	w.Add(3, 5)
	w.Add(1, 5)
	if w.At(3) != math.MaxUint64 || w.Total() != math.MaxUint64 || w.At(9) != 0 {
		t.Error(w)
	}
}

func TestDeep(t *testing.T) {
	const depth = 100_000
	frames := make([]record.Frame, depth)
	for i := range frames {
		frames[i] = user(fmt.Sprint("f", depth-i))
	}
	table, w := NewTable(), Weights{}
	id, _ := Shape{}.Add(table, 0, frames)
	w.Add(id, 7)
	var out strings.Builder
	if err := WriteFolded(&out, table, w, Naming{}); err != nil || strings.Count(out.String(), ";") != depth-1 || !strings.HasSuffix(out.String(), ";f100000 7\n") {
		t.Errorf("%.100q %v", out.String(), err)
	}
	if spots := Hotspots(table, w); len(spots) != depth || spots[0].Symbol != "f100000" || spots[0].Self != 7 || spots[1].Total != 7 {
		t.Errorf("%d hotspots", len(spots))
	}
}

func TestStream(t *testing.T) {
	s := NewStream()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	bad := func(err error, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	ok(s.AddFrame(&record.Frame{ID: 4_000_000_000, Symbol: "main"}))
	ok(s.AddFrame(&record.Frame{ID: 7, Symbol: "f"}))
	bad(s.AddFrame(&record.Frame{ID: 7}), "frame 7 was defined before")
	bad(s.AddFrame(&record.Frame{}), "frame 0 was defined before")
	ok(s.AddStack(&record.Stack{ID: 9, Frame: 4_000_000_000}))
	ok(s.AddStack(&record.Stack{ID: 3_000_000_000, Frame: 7, Parent: 9}))
	bad(s.AddStack(&record.Stack{ID: 9, Frame: 7}), "stack 9 was defined before")
	bad(s.AddStack(&record.Stack{ID: 0, Frame: 7}), "stack 0 was defined before")
	bad(s.AddStack(&record.Stack{ID: 1, Frame: 8}), "stack 1 is of frame 8, which was not defined")
	bad(s.AddStack(&record.Stack{ID: 1, Frame: 7, Parent: 1}), "stack 1 is called from stack 1, which was not defined")
	n, found := s.Number(3_000_000_000)
	if !found || n != 2 {
		t.Fatal(n, found)
	}
	if _, found := s.Number(5); found {
		t.Error("stack 5 was found")
	}
	if frames := s.Frames(nil, n); len(frames) != 2 || frames[0].Symbol != "f" || frames[1].Symbol != "main" {
		t.Errorf("%+v", frames)
	}
	if n, found := s.Number(0); !found || len(s.Frames(nil, n)) != 0 {
		t.Error("stack 0 has frames")
	}
}

type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, fmt.Errorf("full")
	}
	return len(p), nil
}

func TestWriteFoldedError(t *testing.T) {
	lines := map[string]uint64{}
	for i := range 10000 {
		lines[fmt.Sprint("main;function", i)] = 1
	}
	table, w := fold(lines)
	for _, room := range []int{0, 100_000} {
		if err := WriteFolded(&failing{room}, table, w, Naming{}); err == nil {
			t.Errorf("no error with room for %d bytes", room)
		}
	}
}

func BenchmarkWriteFolded(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	table, w := NewTable(), Weights{}
	for range 20000 {
		var frames []record.Frame
		at := 0
		for range 30 {
			frames = append(frames, user(fmt.Sprintf("acme::query::detail::Stage<%d>::run", at)))
			at = (at*7 + rnd.IntN(3)) % 997
		}
		slices.Reverse(frames)
		id, _ := Shape{}.Add(table, 0, frames)
		w.Add(id, 1)
	}
	for b.Loop() {
		var out bytes.Buffer
		if err := WriteFolded(&out, table, w, Naming{}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(out.Len()))
	}
}
