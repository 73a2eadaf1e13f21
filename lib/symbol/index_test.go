package symbol

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// indexOf makes an index as that of an ELF file is made.
func indexOf(t *testing.T, list ...entry) *index {
	t.Helper()
	list = slices.Clone(list)
	sortEntries(list)
	fillEnds(list)
	kept, ties := dropAliases(list, names, demangle)
	x := newIndex(kept, names, demangle)
	x.ties = ties
	return x
}

// names are those of the symbols below, by where they begin.
var names = []byte("a\x00bb\x00_c\x00ccc\x00_ZN1xC1Ev\x00_ZN1xC2Ev\x00_Z4longv\x00")

const a, bb, c_, ccc, c1, c2, long = 0, 2, 5, 8, 12, 22, 32

func TestAliases(t *testing.T) {
	for name, c := range map[string]struct {
		list []entry
		want string
		end  uint64
	}{
		"sized over unsized":    {[]entry{{start: 1, end: 1, name: ccc, rank: global}, {start: 1, end: 9, name: a, rank: weak}}, "a", 9},
		"last of unsized":       {[]entry{{start: 1, end: 1, name: ccc, rank: global}, {start: 1, end: 1, name: a, rank: weak}, {start: 9, end: 10, name: bb}}, "a", 9},
		"strong over weak":      {[]entry{{start: 1, end: 9, name: ccc, rank: weak}, {start: 1, end: 9, name: a, rank: local}}, "a", 9},
		"global over local":     {[]entry{{start: 1, end: 9, name: ccc, rank: local}, {start: 1, end: 9, name: a, rank: global}}, "a", 9},
		"fewer underscores":     {[]entry{{start: 1, end: 9, name: c_}, {start: 1, end: 9, name: a}}, "a", 9},
		"longer":                {[]entry{{start: 1, end: 9, name: a}, {start: 1, end: 9, name: ccc}, {start: 1, end: 9, name: bb}}, "ccc", 9},
		"first of equals":       {[]entry{{start: 1, end: 9, name: c1}, {start: 1, end: 8, name: c2}}, "x::x", 9},
		"longer once demangled": {[]entry{{start: 1, end: 9, name: ccc}, {start: 1, end: 9, name: long}, {start: 1, end: 9, name: a}}, "long", 9},
		"longer, other end":     {[]entry{{start: 1, end: 9, name: a}, {start: 1, end: 9, name: bb}, {start: 1, end: 7, name: ccc}}, "ccc", 7},
		"shorter, other end":    {[]entry{{start: 1, end: 9, name: a}, {start: 1, end: 9, name: ccc}, {start: 1, end: 7, name: bb}}, "ccc", 9},
		"a better one at last":  {[]entry{{start: 1, end: 9, name: a}, {start: 1, end: 9, name: ccc}, {start: 1, end: 9, name: bb, rank: global}}, "bb", 9},
	} {
		t.Run(name, func(t *testing.T) {
			x := indexOf(t, c.list...)
			i := x.find(1)
			if i < 0 || x.name(i) != c.want || x.end(i) != c.end {
				t.Errorf("%s to %d, want %s to %d", x.name(i), x.end(i), c.want, c.end)
			}
		})
	}
}

func TestNested(t *testing.T) {
	x := indexOf(t, entry{start: 10, end: 100, name: a}, entry{start: 20, end: 60, name: bb}, entry{start: 30, end: 40, name: ccc}, entry{start: 90, end: 110, name: c_})
	got := ""
	for _, addr := range []uint64{9, 10, 20, 29, 30, 39, 40, 59, 60, 89, 90, 99, 100, 109, 110} {
		got += fmt.Sprint(" ", addr, nameAt(x, addr))
	}
	if want := " 9 10a 20bb 29bb 30ccc 39ccc 40bb 59bb 60a 89a 90_c 99_c 100_c 109_c 110"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSortEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, large := range []uint64{50, 1 << 30, ^uint64(0)} {
		list := make([]entry, 1000)
		for i := range list {
			list[i] = entry{start: rng.Uint64N(large), name: uint32(i)}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b entry) int {
			switch {
			case a.start < b.start:
				return -1
			case a.start > b.start:
				return 1
			}
			return 0
		})
		sortEntries(list)
		for i := range list {
			if list[i].start != want[i].start || list[i].name != want[i].name {
				t.Fatalf("below %d: entry %d is %+v, want %+v", large, i, list[i], want[i])
			}
		}
	}
}
