package calltree

import (
	"cmp"
	"container/heap"
	"math"

	"vperf/lib/record"
	"vperf/lib/stack"
)

// A builder holds the tree of functions, which is smaller than that of frames: frames of
// one function differ by line and address.
type builder struct {
	total uint64 // weight of the whole recording
	nodes []node // the first is the root; parents come before children
	roles []role // by frame
	found bool   // something is in the scope
}

type node struct {
	place
	self, total uint64
	outlined    bool
}

// A place is what tells nodes apart. inside says that the scope's function is the node's or
// among its callers, which is not so for outlined bodies that another thread ran.
type place struct {
	parent         int32
	symbol, module string
	inside         bool
}

// A role is what a frame is to the scope.
type role uint8

const (
	other    role = iota
	function      // the scope itself
	outlined      // a body that was outlined from it
)

// outside stands for the node of stacks that are not in the scope.
const outside = -1

// newBuilder makes the tree; without a scope it is that of all stacks.
func newBuilder(t *stack.Table, w stack.Weights, scope string) *builder {
	b := &builder{total: w.Total(), nodes: []node{{place: place{parent: outside, inside: true}}}, roles: make([]role, t.Frames()+1)}
	at := make([]int32, t.Stacks()+1) // node of a stack
	if scope != "" {
		at[0] = outside
		for i := 1; i <= t.Frames(); i++ {
			switch symbol := t.FrameAt(record.ID(i)).Symbol; {
			case is(symbol, scope):
				b.roles[i] = function
			case Outlined(symbol, scope):
				b.roles[i] = outlined
			}
		}
	}
	index := map[place]int32{}
	for id := 1; id <= t.Stacks(); id++ {
		n := b.node(index, at[t.Parent(record.ID(id))], t.Leaf(record.ID(id)))
		at[id] = n
		if weight := w.At(record.ID(id)); n != outside && weight > 0 {
			b.nodes[n].self = stack.Plus(b.nodes[n].self, weight)
			b.found = true
		}
	}
	for i := len(b.nodes) - 1; i >= 0; i-- {
		n := &b.nodes[i]
		n.total = stack.Plus(n.total, n.self)
		if i > 0 {
			p := &b.nodes[n.parent]
			p.total = stack.Plus(p.total, n.total)
		}
	}
	return b
}

// node returns the node of a frame that is called from a node.
func (b *builder) node(index map[place]int32, parent int32, f *record.Frame) int32 {
	r := b.roles[f.ID]
	key := place{parent, f.Symbol, f.Module, true}
	switch {
	case parent != outside:
		key.inside = b.nodes[parent].inside || r == function
	case r == function:
		return 0
	case r == outlined:
		key.parent, key.inside = 0, false
	default:
		return outside
	}
	i, ok := index[key]
	if !ok {
		i = int32(len(b.nodes))
		index[key] = i
		b.nodes = append(b.nodes, node{place: key, outlined: r == outlined})
	}
	return i
}

// kernel returns what the scope's function weighs with all that it called, and what its
// outlined bodies weigh themselves elsewhere.
func (b *builder) kernel() (weight uint64) {
	for _, n := range b.nodes {
		if n.inside || n.outlined {
			weight = stack.Plus(weight, n.self)
		}
	}
	return weight
}

func (b *builder) percent(weight uint64) float64 {
	if b.total == 0 {
		return 0
	}
	return 100 * float64(weight) / float64(b.total)
}

// round keeps four decimals, which is one sample of a million.
func round(percent float64) float64 { return math.Round(1e4*percent) / 1e4 }

// graph returns the tree below a root of that name. Where there are too many nodes the
// heaviest stay: a caller weighs no less than what it calls, so they are a tree.
func (b *builder) graph(root string, o Options) *Node {
	made := make([]*Node, len(b.nodes))
	put := func(i int32, name, module string) *Node {
		n := &b.nodes[i]
		made[i] = &Node{Name: name, Module: module, SelfPct: round(b.percent(n.self)), TotalPct: round(b.percent(n.total))}
		return made[i]
	}
	top := put(0, root, "")
	children := b.children()
	queue := &byWeight{b: b}
	offer := func(parent int32) {
		for _, c := range children[parent] {
			if n := &b.nodes[c]; n.total > 0 && b.percent(n.total) >= o.MinPercent {
				heap.Push(queue, c)
			}
		}
	}
	offer(0)
	for count := 1; queue.Len() > 0; count++ {
		if count >= o.MaxNodes {
			top.Truncated = true
			break
		}
		i := heap.Pop(queue).(int32)
		n := &b.nodes[i]
		parent := made[n.parent]
		parent.Children = append(parent.Children, put(i, name(n.symbol, n.module), n.module))
		offer(i)
	}
	return top
}

func (b *builder) children() [][]int32 {
	list := make([][]int32, len(b.nodes))
	for i := 1; i < len(b.nodes); i++ {
		p := b.nodes[i].parent
		list[p] = append(list[p], int32(i))
	}
	return list
}

// byWeight is a heap of nodes, the heaviest first and of equals the first by name, so that
// the result does not depend on the order of the samples.
type byWeight struct {
	b    *builder
	list []int32
}

func (q *byWeight) Len() int      { return len(q.list) }
func (q *byWeight) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }
func (q *byWeight) Push(x any)    { q.list = append(q.list, x.(int32)) }

func (q *byWeight) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last
}

func (q *byWeight) Less(i, j int) bool {
	x, y := &q.b.nodes[q.list[i]], &q.b.nodes[q.list[j]]
	return cmp.Or(cmp.Compare(y.total, x.total), cmp.Compare(x.symbol, y.symbol), cmp.Compare(x.module, y.module), cmp.Compare(x.parent, y.parent)) < 0
}
