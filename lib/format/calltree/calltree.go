// Package calltree makes a call graph with percentages, small enough to be read by people
// and programs: branches below a share are left out, and it has a largest number of nodes.
//
//	{"event":"cycles","unit":"cycles","weight":180000,"scope":"(all)","min_percent":1,
//	 "call_graph":{"name":"(all)","self_pct":0,"total_pct":100,"children":[...]},
//	 "hotspots":[{"name":"work","module":"/opt/app","self_pct":60.1,"total_pct":75},...]}
//
// All percentages are shares of the whole recording, whatever the tree is rooted at. What
// the unwinder lost stays in it as "[unknown]": without that frame its callees would be
// hung under a caller that never called them.
package calltree

import (
	"encoding/json"
	"io"
	"strings"

	"vperf/lib/record"
	"vperf/lib/stack"
)

// All is the name of the root that stands for the whole recording.
const All = "(all)"

// Options say what of a recording becomes a tree.
type Options struct {
	Scope      string  // a function that the tree is rooted at; empty for all
	MinPercent float64 // what weighs less is left out
	MaxNodes   int     // the root included
}

// A Graph is the result.
type Graph struct {
	Event      string    `json:"event"`
	Unit       string    `json:"unit,omitempty"`
	Weight     uint64    `json:"weight"` // of the whole recording, in the unit
	Scope      string    `json:"scope"`  // the function that CallGraph is rooted at, All if that has no sample
	KernelPct  *float64  `json:"kernel_pct,omitempty"`
	MinPercent float64   `json:"min_percent"`
	CallGraph  *Node     `json:"call_graph"`
	Hotspots   []Hotspot `json:"hotspots"`
}

// A Node is a function in one place of the tree. Children are in the order of their
// TotalPct.
type Node struct {
	Name      string  `json:"name"`
	Module    string  `json:"module,omitempty"`
	SelfPct   float64 `json:"self_pct"`
	TotalPct  float64 `json:"total_pct"`
	Truncated bool    `json:"truncated,omitempty"` // at the root: MaxNodes took nodes away
	Children  []*Node `json:"children,omitempty"`
}

// A Hotspot is a function wherever it was called from. A stack in which it recurs counts
// once.
type Hotspot struct {
	Name     string  `json:"name"`
	Module   string  `json:"module,omitempty"`
	SelfPct  float64 `json:"self_pct"`
	TotalPct float64 `json:"total_pct"`
}

// Build makes the graph of samples that were weighed by stack.
//
// With a scope the root is that function: what it called wherever it was called from, at
// its outermost occurrence. Bodies that the compiler outlined from it (see [Outlined]) and
// that other threads ran, without the function among their callers, are children of the
// root. KernelPct is the share of the function with all that it called, and of those
// bodies themselves, without what they called.
func Build(t *stack.Table, w stack.Weights, event record.Event, o Options) *Graph {
	b := newBuilder(t, w, o.Scope)
	g := &Graph{Event: event.Name, Unit: event.Unit, Weight: b.total, Scope: All, MinPercent: o.MinPercent}
	if o.Scope != "" && b.found {
		g.Scope = o.Scope
		g.KernelPct = record.Float(round(b.percent(b.kernel())))
	} else {
		b = newBuilder(t, w, "")
	}
	g.CallGraph = b.graph(g.Scope, o)
	g.Hotspots = []Hotspot{}
	for _, h := range stack.Hotspots(t, w) {
		if total := b.percent(h.Total); total >= o.MinPercent {
			g.Hotspots = append(g.Hotspots, Hotspot{name(h.Symbol, h.Module), h.Module, round(b.percent(h.Self)), round(total)})
		}
	}
	return g
}

// Appears reports whether a function has samples, itself or in a body outlined from it.
func Appears(t *stack.Table, w stack.Weights, function string) bool {
	return newBuilder(t, w, function).found
}

// Write writes the graph as one JSON object.
func Write(out io.Writer, g *Graph) error {
	return json.NewEncoder(out).Encode(g)
}

// Outlined reports whether a symbol is a body that a compiler outlined from a function:
// "f._omp_fn.0" (gcc), "f.omp_outlined", "f.omp_outlined_debug__.1" (clang), or one of
// those as the demangler writes them, "f(int) [clone ._omp_fn.0]".
func Outlined(symbol, function string) bool {
	rest, ok := strings.CutPrefix(symbol, function)
	if !ok {
		return false
	}
	if rest, ok = cutParameters(rest); !ok {
		return false
	}
	if inner, ok := strings.CutPrefix(rest, " [clone "); ok {
		rest = strings.TrimSuffix(inner, "]")
	}
	if number, ok := strings.CutPrefix(rest, "._omp_fn."); ok {
		return number != "" && strings.Trim(number, "0123456789") == ""
	}
	return strings.HasPrefix(rest, ".omp_outlined")
}

// is reports whether a symbol is a function, with or without its parameters.
func is(symbol, function string) bool {
	rest, ok := strings.CutPrefix(symbol, function)
	if !ok {
		return false
	}
	rest, ok = cutParameters(rest)
	return ok && rest == ""
}

// cutParameters takes "(int, void (*)())" off the beginning of what stands behind a name.
func cutParameters(s string) (rest string, ok bool) {
	if !strings.HasPrefix(s, "(") {
		return s, true
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return strings.TrimPrefix(s[i+1:], " const"), true
			}
		}
	}
	return "", false
}

func name(symbol, module string) string {
	return stack.Naming{}.Name(&record.Frame{Symbol: symbol, Module: module})
}
