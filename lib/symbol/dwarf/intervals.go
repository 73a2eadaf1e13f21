package dwarf

import (
	"cmp"
	"slices"
	"sort"
)

// intervals finds the innermost of nested ranges around an address.
type intervals struct {
	list  []interval
	outer []int32 // for each the narrowest around it, or -1
}

type interval struct {
	span
	id int32
}

func (x *intervals) add(s span, id int32) {
	x.list = append(x.list, interval{s, id})
}

// sort ends adding. Of equal ranges the later id is the inner one.
func (x *intervals) sort() {
	slices.SortFunc(x.list, func(a, b interval) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(b.hi, a.hi), cmp.Compare(a.id, b.id))
	})
	x.outer = make([]int32, len(x.list))
	var around []int32
	for i := range x.list {
		for len(around) > 0 && x.list[around[len(around)-1]].hi < x.list[i].hi {
			around = around[:len(around)-1]
		}
		x.outer[i] = -1
		if len(around) > 0 {
			x.outer[i] = around[len(around)-1]
		}
		around = append(around, int32(i))
	}
}

// find returns the id of the innermost range around an address, or -1.
func (x *intervals) find(addr uint64) int32 {
	i := int32(sort.Search(len(x.list), func(i int) bool { return x.list[i].lo > addr })) - 1
	for i >= 0 && addr >= x.list[i].hi {
		i = x.outer[i]
	}
	if i < 0 {
		return -1
	}
	return x.list[i].id
}
