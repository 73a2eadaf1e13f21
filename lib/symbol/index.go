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
	text   []byte
	spell  func(string) string
	cache  []atomic.Pointer[string]
}

// sortEntries orders by address; those of one address keep the order of their table,
// which decides between them last.
func sortEntries(list []entry) {
	sorted := true
	for i := range list {
		list[i].place = uint32(i)
		sorted = sorted && (i == 0 || list[i-1].start <= list[i].start)
	}
	if !sorted { // much faster than a stable sort
		slices.SortFunc(list, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.place, b.place))
		})
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

// dropAliases keeps one of the symbols at each address, in place.
func dropAliases(list []entry, text []byte, spell func(string) string) []entry {
	kept := list[:0]
	for _, e := range list {
		if n := len(kept); n > 0 && kept[n-1].start == e.start {
			if better(&e, &kept[n-1], text, spell) {
				kept[n-1] = e
			}
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// better reports whether perf prefers b, which comes later in the table, over a: the one
// with a size, not weak, global, with fewer leading underscores, longer, not an alias of
// the kernel's old naming of system calls.
func better(b, a *entry, text []byte, spell func(string) string) bool {
	if sized := a.end > a.start; sized != (b.end > b.start) {
		return !sized
	}
	if a.rank != b.rank {
		return b.rank > a.rank
	}
	rawA, rawB := cstring(text, a.name), cstring(text, b.name)
	if sameSpelling(rawA, rawB) {
		return false
	}
	nameA, nameB := spellEntry(rawA, a.plt, spell), spellEntry(rawB, b.plt, spell)
	if ua, ub := underscores(nameA), underscores(nameB); ua != ub {
		return ub < ua
	}
	if len(nameA) != len(nameB) {
		return len(nameB) > len(nameA)
	}
	return strings.HasPrefix(nameA, "SyS") || strings.HasPrefix(nameA, "compat_SyS")
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

func spellEntry(raw []byte, plt bool, spell func(string) string) string {
	s := string(raw)
	if spell != nil {
		s = spell(s)
	}
	if plt {
		s += "@plt"
	}
	return s
}

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
	s := spellEntry(cstring(x.text, x.names[i]), x.plt != nil && x.plt[i], x.spell)
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
