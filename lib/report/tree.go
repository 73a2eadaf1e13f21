package report

import (
	"cmp"
	"slices"

	"vperf/lib/printable"
	"vperf/lib/record"
)

// noStack stands for a sample without frames.
const noStack = "[no stack]"

// kindCode is how the page knows a frame kind.
type kindCode uint32

const (
	userCode kindCode = iota
	kernelCode
	unknownCode
)

// function is what hotspots and flame graph call a frame.
type function struct {
	symbol, module string
	kind           kindCode
}

// named reports whether it is known which function it is. That of a symbol whose module is
// not known is; code of the kernel without a symbol is not.
func (f function) named() bool { return f.symbol != "" && f.symbol != noStack }

// trie holds the stacks. Node 0 is the root above all of them, function 0 its name; a
// node's index is greater than its parent's.
type trie struct {
	functions  []function
	parent, fn []uint32
	functionOf map[function]uint32
	nodeOf     map[uint64]uint32
}

func newTrie() trie {
	return trie{
		functions:  []function{{}},
		parent:     []uint32{0},
		fn:         []uint32{0},
		functionOf: map[function]uint32{},
		nodeOf:     map[uint64]uint32{},
	}
}

func (t *trie) function(symbol, module string, kind record.FrameKind) uint32 {
	f := function{symbol: symbol, module: module}
	switch {
	case kind == record.KindKernel:
		f.kind = kernelCode
	case !f.named():
		f.kind = unknownCode
	}
	i, ok := t.functionOf[f]
	if !ok {
		i = uint32(len(t.functions))
		t.functionOf[f] = i
		t.functions = append(t.functions, f)
	}
	return i
}

func (t *trie) child(parent, fn uint32) uint32 {
	k := uint64(parent)<<32 | uint64(fn)
	i, ok := t.nodeOf[k]
	if !ok {
		i = uint32(len(t.parent))
		t.nodeOf[k] = i
		t.parent = append(t.parent, parent)
		t.fn = append(t.fn, fn)
	}
	return i
}

// ordered is a trie in depth-first order: a node's subtree is the run of nodes behind it
// that are deeper. Only nodes that samples refer to, and their callers, are in it.
type ordered struct {
	depth, fn, parent []uint32 // of the root: 0, 0, 0
	place             []uint32 // node of the trie -> index here; 0 also for those left out
}

// order sorts siblings by their weight in the first event, then by name, so that the page
// draws the same picture, the heaviest at the left, for every thread and time range.
func (p *Profile) order() ordered {
	t := &p.tree
	weight, used := make([]float64, len(t.parent)), make([]bool, len(t.parent))
	for i, e := range p.events {
		for _, s := range e.samples {
			used[s.node] = true
			if i == 0 {
				weight[s.node] += float64(s.weight)
			}
		}
	}
	kids := 0
	for i := len(t.parent) - 1; i > 0; i-- {
		if used[i] {
			kids++
			used[t.parent[i]] = true
			weight[t.parent[i]] += weight[i]
		}
	}
	children := make([]uint32, 0, kids) // siblings together, in the order in which they are drawn
	for i := 1; i < len(t.parent); i++ {
		if used[i] {
			children = append(children, uint32(i))
		}
	}
	slices.SortFunc(children, func(a, b uint32) int {
		if c := cmp.Compare(t.parent[a], t.parent[b]); c != 0 {
			return c
		}
		if c := cmp.Compare(weight[b], weight[a]); c != 0 {
			return c
		}
		return t.functions[t.fn[a]].compare(t.functions[t.fn[b]])
	})
	first := make([]int, len(t.parent)+1) // of a node's children in that list
	for i, c := 0, 0; i < len(t.parent); i++ {
		first[i] = c
		for c < len(children) && t.parent[children[c]] == uint32(i) {
			c++
		}
		first[i+1] = c
	}
	o := ordered{
		depth:  make([]uint32, 0, kids+1),
		fn:     make([]uint32, 0, kids+1),
		parent: make([]uint32, 0, kids+1),
		place:  make([]uint32, len(t.parent)),
	}
	type step struct{ node, depth uint32 }
	todo := []step{{}}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		o.place[s.node] = uint32(len(o.fn))
		o.depth = append(o.depth, s.depth)
		o.fn = append(o.fn, t.fn[s.node])
		o.parent = append(o.parent, o.place[t.parent[s.node]])
		for i := first[s.node+1] - 1; i >= first[s.node]; i-- {
			todo = append(todo, step{children[i], s.depth + 1})
		}
	}
	return o
}

func (f function) compare(g function) int {
	return cmp.Or(cmp.Compare(f.symbol, g.symbol), cmp.Compare(f.module, g.module), cmp.Compare(f.kind, g.kind))
}

// hotspot is the weight of one function in one event.
type hotspot struct {
	Name   string // as the page shows it
	Module string // whole path; empty where unknown
	Self   float64
	Total  float64 // inclusive; a stack in which the function recurs counts once
}

// hotspots returns the functions with weight in an event by falling self weight, then
// falling inclusive weight, then name, then module. Events count from 0 in the order of the
// page.
func (p *Profile) hotspots(o ordered, event int) []hotspot {
	total := make([]float64, len(o.fn))
	self := make([]float64, len(p.tree.functions))
	for _, s := range p.events[event].samples {
		total[o.place[s.node]] += float64(s.weight)
		self[p.tree.fn[s.node]] += float64(s.weight)
	}
	for i := len(total) - 1; i > 0; i-- {
		total[o.parent[i]] += total[i]
	}
	incl, open := make([]float64, len(self)), make([]int, len(self))
	var path []uint32 // nodes above the current one
	for i := 1; i < len(o.fn); i++ {
		for len(path) > 0 && o.depth[path[len(path)-1]] >= o.depth[i] {
			open[o.fn[path[len(path)-1]]]--
			path = path[:len(path)-1]
		}
		f := o.fn[i]
		if open[f] == 0 {
			incl[f] += total[i]
		}
		open[f]++
		path = append(path, uint32(i))
	}
	var hot []hotspot
	for f := 1; f < len(self); f++ {
		if incl[f] > 0 {
			fn := p.tree.functions[f]
			hot = append(hot, hotspot{Name: fn.display(), Module: printable.Page(fn.module), Self: self[f], Total: incl[f]})
		}
	}
	slices.SortStableFunc(hot, func(a, b hotspot) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Module, b.Module))
	})
	return hot
}
