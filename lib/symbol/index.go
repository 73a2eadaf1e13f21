package symbol

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
)

// entry is a symbol while a table is being built.
type entry struct {
	start, end uint64
	name       uint32 // where it begins in the text
	place      uint32 // in the table, once sorted
	rank       rank
	plt        bool
}

// rank orders the bindings of symbols at one address, as perf prefers them.
type rank uint8

const (
	weak rank = iota
	local
	global
)

const page = 4096

// index is a set of symbols that is searched by address. Arrays of one field each keep the
// search in few cache lines, and names are spelled out when they are asked for first.
type index struct {
	starts []uint64 // ascending
	ends   []uint64 // nil where each reaches to the next, and the last to top
	top    uint64
	outer  []int32  // the narrowest symbol around each, or -1; nil where none is around another
	names  []uint32 // where they begin in the text; NUL or the end of the text ends them
	plt    []bool   // nil where there are none
	ties   []tie    // further names, by address
	text   []byte
	spell  func(string) string
	cache  []atomic.Pointer[string]
}

// sortEntries orders by address; those of one address keep the order of their table,
// which decides between them last.
func sortEntries(list []entry) {
	sorted, last := true, uint64(0)
	for i := range list {
		list[i].place = uint32(i)
		sorted = sorted && (i == 0 || list[i-1].start <= list[i].start)
		last = max(last, list[i].start)
	}
	const placeBits = 24
	switch {
	case sorted:
		return
	case len(list) > 1<<placeBits || last >= 1<<(64-placeBits):
		slices.SortFunc(list, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.place, b.place))
		})
		return
	}
	// Numbers sort several times as fast as entries.
	keys := make([]uint64, len(list))
	for i := range list {
		keys[i] = list[i].start<<placeBits | uint64(i)
	}
	slices.Sort(keys)
	for i := range list { // follow each cycle of the permutation
		first := list[i]
		for to := i; ; {
			from := int(keys[to] & (1<<placeBits - 1))
			keys[to] = uint64(to)
			if from == i {
				list[to] = first
				break
			}
			list[to] = list[from]
			to = from
		}
	}
}

// fillEnds gives symbols of unknown size the space up to the next. It must happen before
// aliases are dropped: a symbol without a size would lose against one with.
func fillEnds(list []entry) {
	for i := range list {
		e := &list[i]
		switch {
		case e.end > e.start:
		case i+1 == len(list):
			e.end = pageBehind(e.start)
		default:
			e.end = list[i+1].start
		}
	}
}

// pageBehind is where perf ends a last symbol of unknown size: behind the page after it.
func pageBehind(start uint64) uint64 {
	end := (start+page-1)&^(page-1) + page
	if end < start { // at the top of the address space
		return ^uint64(0)
	}
	return end
}

// tie is a further name of a symbol, between which only their spelling decides.
type tie struct {
	start uint64
	name  uint32
}

// dropAliases keeps one of the symbols at each address, in place: the one that perf
// prefers. Where that hangs on how names are spelled, demangling waits until one is asked
// for: the ties are returned, by address.
func dropAliases(list []entry, text []byte, spell func(string) string) ([]entry, []tie) {
	kept := list[:0]
	var ties []tie
	mark := 0 // of the ties of the last address
	for _, e := range list {
		n := len(kept)
		if n == 0 || kept[n-1].start != e.start {
			kept, mark = append(kept, e), len(ties)
			continue
		}
		last := &kept[n-1]
		switch c := prefer(&e, last); {
		case c < 0, c == 0 && sameSpelling(cstring(text, last.name), cstring(text, e.name)):
		case c > 0:
			*last, ties = e, ties[:mark]
		case e.end == last.end:
			ties = append(ties, tie{e.start, e.name})
		default: // they reach differently far
			name, spelled := bestName(last.name, ties[mark:], text, spell)
			last.name, ties = name, ties[:mark]
			if b := spellRaw(text, e.name, spell); betterSpelling(b, spelled) {
				*last = e
			}
		}
	}
	return kept, ties
}

// prefer compares symbols at one address as perf does before it looks at their names: with
// a size, not weak, global. It is positive if perf prefers b, which comes later.
func prefer(b, a *entry) int {
	if sized := a.end > a.start; sized != (b.end > b.start) {
		if sized {
			return -1
		}
		return 1
	}
	return int(b.rank) - int(a.rank)
}

// betterSpelling reports whether perf prefers the name b, which comes later, over a: the
// one with fewer leading underscores, longer, not an alias of the kernel's old naming of
// system calls.
func betterSpelling(b, a string) bool {
	if ua, ub := underscores(a), underscores(b); ua != ub {
		return ub < ua
	}
	if len(a) != len(b) {
		return len(b) > len(a)
	}
	return strings.HasPrefix(a, "SyS") || strings.HasPrefix(a, "compat_SyS")
}

// bestName settles ties.
func bestName(name uint32, ties []tie, text []byte, spell func(string) string) (best uint32, spelled string) {
	best, spelled = name, spellRaw(text, name, spell)
	for _, t := range ties {
		if s := spellRaw(text, t.name, spell); betterSpelling(s, spelled) {
			best, spelled = t.name, s
		}
	}
	return best, spelled
}

func spellRaw(text []byte, at uint32, spell func(string) string) string {
	s := string(cstring(text, at))
	if spell != nil {
		s = spell(s)
	}
	return s
}

// sameSpelling recognises without demangling what most aliases of C++ are: the complete
// and the base variant of one constructor or destructor.
func sameSpelling(a, b []byte) bool {
	if len(a) != len(b) || !bytes.HasPrefix(a, []byte("_ZN")) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return i > 0 && (a[i-1] == 'C' || a[i-1] == 'D') &&
				'0' <= a[i] && a[i] <= '5' && '0' <= b[i] && b[i] <= '5' &&
				bytes.Equal(a[i+1:], b[i+1:]) && i+1 < len(a) && a[i+1] == 'E'
		}
	}
	return true
}

func underscores(s string) int { return len(s) - len(strings.TrimLeft(s, "_")) }

// newIndex makes an index of entries that are sorted and have no aliases.
func newIndex(list []entry, text []byte, spell func(string) string) *index {
	x := &index{
		starts: make([]uint64, len(list)),
		ends:   make([]uint64, len(list)),
		names:  make([]uint32, len(list)),
		cache:  make([]atomic.Pointer[string], len(list)),
		text:   text,
		spell:  spell,
	}
	var around []int32
	for i := range list {
		e := &list[i]
		x.starts[i], x.ends[i], x.names[i] = e.start, e.end, e.name
		if e.plt {
			if x.plt == nil {
				x.plt = make([]bool, len(list))
			}
			x.plt[i] = true
		}
		for len(around) > 0 && list[around[len(around)-1]].end <= e.end {
			around = around[:len(around)-1]
		}
		if len(around) > 0 {
			if x.outer == nil {
				x.outer = make([]int32, len(list))
				for j := range x.outer {
					x.outer[j] = -1
				}
			}
			x.outer[i] = around[len(around)-1]
		}
		around = append(around, int32(i))
	}
	return x
}

// find returns the symbol at an address: the one that begins last, or the narrowest
// around it, or -1.
func (x *index) find(addr uint64) int {
	lo, hi := 0, len(x.starts)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); x.starts[mid] <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	i := lo - 1
	for i >= 0 && addr >= x.end(i) {
		if x.outer == nil {
			return -1
		}
		i = int(x.outer[i])
	}
	return i
}

// end returns the first address behind a symbol.
func (x *index) end(i int) uint64 {
	switch {
	case x.ends != nil:
		return x.ends[i]
	case i+1 < len(x.starts):
		return x.starts[i+1]
	}
	return x.top
}

func (x *index) name(i int) string {
	if s := x.cache[i].Load(); s != nil {
		return *s
	}
	byStart := func(t tie, start uint64) int { return cmp.Compare(t.start, start) }
	from, _ := slices.BinarySearchFunc(x.ties, x.starts[i], byStart)
	to := from
	for to < len(x.ties) && x.ties[to].start == x.starts[i] {
		to++
	}
	_, s := bestName(x.names[i], x.ties[from:to], x.text, x.spell)
	if x.plt != nil && x.plt[i] {
		s += "@plt"
	}
	x.cache[i].Store(&s)
	return s
}

// cstring returns the bytes of text from at to the next NUL.
func cstring(text []byte, at uint32) []byte {
	if uint64(at) >= uint64(len(text)) {
		return nil
	}
	s := text[at:]
	if end := bytes.IndexByte(s, 0); end >= 0 {
		s = s[:end]
	}
	return s
}
