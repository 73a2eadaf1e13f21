package stack

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"vperf/lib/record"
)

// Weights are the weights of one event's samples by the stack that they were taken in: the
// id is the index. Stacks past its end weigh nothing.
type Weights []uint64

// Add adds a sample. A sum past 64 bits stays at the largest number.
func (w *Weights) Add(stack record.ID, weight uint64) {
	if int(stack) >= len(*w) {
		*w = append(*w, make([]uint64, int(stack)+1-len(*w))...)
	}
	(*w)[stack] = Plus((*w)[stack], weight)
}

// Total returns the sum.
func (w Weights) Total() uint64 {
	total := uint64(0)
	for _, x := range w {
		total = Plus(total, x)
	}
	return total
}

// At returns the weight of a stack.
func (w Weights) At(stack record.ID) uint64 {
	if int(stack) < len(w) {
		return w[stack]
	}
	return 0
}

// Plus adds weights. A sum past 64 bits stays at the largest number.
func Plus(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}

// A Hotspot is a function with what was sampled in it.
type Hotspot struct {
	Symbol string
	Module string
	Kind   record.FrameKind
	Self   uint64 // sampled in the function itself
	Total  uint64 // in it and in what it called; a stack counts once however often it recurs
}

// Hotspots sums weights by function, that is by symbol, module and kind. The heaviest by
// Self comes first, then by Total, then by name. What is unresolved in a module is one
// function with an empty Symbol.
func Hotspots(t *Table, w Weights) []Hotspot {
	type function struct {
		symbol, module string
		kind           record.FrameKind
	}
	ids := map[function]int{}
	of := make([]int, len(t.frames)) // frame id -> index of spots
	var spots []Hotspot
	for i, f := range t.frames[1:] {
		fn := function{f.Symbol, f.Module, f.Kind}
		id, ok := ids[fn]
		if !ok {
			id = len(spots)
			ids[fn] = id
			spots = append(spots, Hotspot{Symbol: f.Symbol, Module: f.Module, Kind: f.Kind})
		}
		of[i+1] = id
	}

	// What a stack weighs with everything that it called: callees have the larger ids.
	total := make([]uint64, len(t.stacks))
	for id := len(t.stacks) - 1; id > 0; id-- {
		total[id] = Plus(total[id], w.At(record.ID(id)))
		p := t.stacks[id].parent
		total[p] = Plus(total[p], total[id])
	}

	// Walk the trie, with its depth on the heap: stacks of 20,000 frames exist. A function
	// counts where no caller is the same function.
	order, start := t.children()
	active := make([]int, len(spots))
	type step struct{ stack, next record.ID }
	path := []step{{0, record.ID(start[0])}}
	for len(path) > 0 {
		top := &path[len(path)-1]
		if int32(top.next) == start[top.stack+1] {
			if top.stack != 0 {
				active[of[t.stacks[top.stack].frame]]--
			}
			path = path[:len(path)-1]
			continue
		}
		child := order[top.next]
		top.next++
		fn := of[t.stacks[child].frame]
		spots[fn].Self = Plus(spots[fn].Self, w.At(child))
		if active[fn] == 0 {
			spots[fn].Total = Plus(spots[fn].Total, total[child])
		}
		active[fn]++
		path = append(path, step{child, record.ID(start[child])})
	}

	spots = slices.DeleteFunc(spots, func(h Hotspot) bool { return h.Total == 0 })
	slices.SortFunc(spots, func(a, b Hotspot) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total),
			cmp.Compare(a.Symbol, b.Symbol), cmp.Compare(a.Module, b.Module), cmp.Compare(a.Kind, b.Kind))
	})
	return spots
}
