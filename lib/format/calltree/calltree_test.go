package calltree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"vperf/lib/format/internal/sample"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// fold makes weights of lines "main;f;g 12".
func fold(lines ...string) (*stack.Table, stack.Weights) {
	t, w := stack.NewTable(), stack.Weights{}
	for _, line := range lines {
		var weight uint64
		i := strings.LastIndexByte(line, ' ')
		fmt.Sscan(line[i:], &weight)
		id := record.ID(0)
		for name := range strings.SplitSeq(line[:i], ";") {
			f := sample.Frame(name)
			f.Line = int(weight) // lines do not take functions apart
			id = t.Stack(id, t.Frame(f))
		}
		w.Add(id, weight)
	}
	return t, w
}

func (n *Node) text() string {
	s := fmt.Sprintf("%s %.4g/%.4g", n.Name, n.SelfPct, n.TotalPct)
	if n.Truncated {
		s += " truncated"
	}
	for i, c := range n.Children {
		if i == 0 {
			s += " {"
		}
		s += c.text()
		if i < len(n.Children)-1 {
			s += ", "
		} else {
			s += "}"
		}
	}
	return s
}

var recorded = []string{
	"main;setup 10", "main;f 5", "main;f;g 20", "main;f;g;f;h 15", "main;f; 4", "main;f;g 1",
	"worker;f._omp_fn.0 25", "worker;f._omp_fn.0;spin 12", "main;f;f._omp_fn.0 3", "worker;other._omp_fn.0 5",
}

func TestBuild(t *testing.T) {
	for _, c := range []struct {
		name string
		Options
		scope  string
		kernel float64
		tree   string
	}{
		{
			"all",
			Options{MaxNodes: 200},
			All, -1,
			"(all) 0/100 {main 0/58 {f 5/48 {g 21/36 {f 0/15 {h 15/15}}, [unknown] 4/4, f._omp_fn.0 3/3}, setup 10/10}, " +
				"worker 0/42 {f._omp_fn.0 25/37 {spin 12/12}, other._omp_fn.0 5/5}}",
		},
		{
			"branches below 10 %",
			Options{MinPercent: 10, MaxNodes: 200},
			All, -1,
			"(all) 0/100 {main 0/58 {f 5/48 {g 21/36 {f 0/15 {h 15/15}}}, setup 10/10}, worker 0/42 {f._omp_fn.0 25/37 {spin 12/12}}}",
		},
		{
			"5 nodes",
			Options{MaxNodes: 5},
			All, -1,
			"(all) 0/100 truncated {main 0/58 {f 5/48}, worker 0/42 {f._omp_fn.0 25/37}}",
		},
		{
			// 48 in f and below, 25 in the outlined body of the worker
			"a scope",
			Options{Scope: "f", MaxNodes: 200},
			"f", 73,
			"f 5/85 {f._omp_fn.0 25/37 {spin 12/12}, g 21/36 {f 0/15 {h 15/15}}, [unknown] 4/4, f._omp_fn.0 3/3}",
		},
		{"a leaf", Options{Scope: "h", MaxNodes: 200}, "h", 15, "h 15/15"},
		{"no such function", Options{Scope: "om", MinPercent: 40, MaxNodes: 200}, All, -1, "(all) 0/100 {main 0/58 {f 5/48}, worker 0/42}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, w := fold(recorded...)
			g := Build(table, w, record.Event{Name: "cycles", Unit: "cycles"}, c.Options)
			if got := g.CallGraph.text(); got != c.tree {
				t.Errorf("got  %s\nwant %s", got, c.tree)
			}
			if g.Scope != c.scope || g.Weight != 100 {
				t.Errorf("scope %q, weight %d", g.Scope, g.Weight)
			}
			if (g.KernelPct == nil) != (c.kernel < 0) || g.KernelPct != nil && *g.KernelPct != c.kernel {
				t.Errorf("kernel_pct %v, want %v", g.KernelPct, c.kernel)
			}
		})
	}
}

// TestHotspots counts a function once in a stack in which it recurs.
func TestHotspots(t *testing.T) {
	table, w := fold(recorded...)
	g := Build(table, w, record.Event{Name: "cycles"}, Options{Scope: "f", MinPercent: 15, MaxNodes: 1})
	var got []string
	for _, h := range g.Hotspots {
		got = append(got, fmt.Sprintf("%s %v/%v", h.Name, h.SelfPct, h.TotalPct))
	}
	want := "f._omp_fn.0 28/40, g 21/36, h 15/15, f 5/48, main 0/58, worker 0/42"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	if !g.CallGraph.Truncated {
		t.Error("the root does not say that nodes were cut")
	}
}

func TestOutlined(t *testing.T) {
	for symbol, want := range map[string]bool{
		"f._omp_fn.0": true, "f._omp_fn.12": true, "f._omp_fn.": false, "f._omp_fn.x": false, "f._omp_fn": false,
		"f.omp_outlined": true, "f.omp_outlined.3": true, "f.omp_outlined_debug__": true,
		"f(int, void (*)()) [clone ._omp_fn.0]": true, "f(int) const [clone .omp_outlined]": true,
		"f": false, "f(int)": false, "ff._omp_fn.0": false, "g._omp_fn.0": false, "f.constprop.0": false, "f(int": false, "": false,
	} {
		if got := Outlined(symbol, "f"); got != want {
			t.Errorf("%q: %v", symbol, got)
		}
	}
	for symbol, want := range map[string]bool{"f": true, "f(int)": true, "f(int) const": true, "f(int)::g": false, "fg": false, "": false} {
		if got := is(symbol, "f"); got != want {
			t.Errorf("is %q: %v", symbol, got)
		}
	}
}

// TestWrite reads back what was written: names that are markup are none in JSON.
func TestWrite(t *testing.T) {
	table, w := fold("<b>;\xff 1")
	var out bytes.Buffer
	if err := Write(&out, Build(table, w, record.Event{Name: "e"}, Options{MaxNodes: 9})); err != nil {
		t.Fatal(err)
	}
	var g Graph
	if err := json.Unmarshal(out.Bytes(), &g); err != nil || g.CallGraph.Children[0].Name != "<b>" {
		t.Errorf("%v: %s", err, out.String())
	}
	if bytes.ContainsAny(out.Bytes(), "<>") {
		t.Errorf("markup: %s", out.String())
	}
}

// TestDeep makes a tree of a stack that is as deep as perf records them at most, and more.
func TestDeep(t *testing.T) {
	table, w := fold("f" + strings.Repeat(";f", 20_000) + " 1")
	g := Build(table, w, record.Event{Name: "e"}, Options{MaxNodes: 1 << 20})
	if err := Write(&bytes.Buffer{}, g); err != nil {
		t.Error(err)
	}
}
