package symbol

import (
	"errors"
	"strings"
	"testing"
)

const listed = `ffffffff81000000 T _text
ffffffff81000000 T _stext
ffffffff81000010 t __do_it
ffffffff81000010 t do_it
ffffffff81000100 A not_counted
ffffffff81000200 W weak_alias
ffffffff81000200 T strong_alias
ffffffff81000300 D data_ends_it
ffffffffc0345000 t nf_ct_get_tuple	[nf_conntrack]
ffffffffc0345100 t nf_last	[nf_conntrack]
ffffffffc0400000 t bpf_prog_6deef7357e7b4530	[bpf]
garbage
ffffffffc0400010
ffffffffc04000100000000 t too_long
`

func parsed(t *testing.T, text string) *kallsyms {
	t.Helper()
	k, err := parseKallsyms(strings.NewReader(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func nameAt(x *index, addr uint64) string {
	if x == nil {
		return "no module"
	}
	i := x.find(addr)
	if i < 0 {
		return ""
	}
	return x.name(i)
}

func TestKallsyms(t *testing.T) {
	k := parsed(t, listed)
	for _, c := range []struct {
		module string
		addr   uint64
		want   string
	}{
		{"", 0xffffffff81000000, "_stext"},
		{"", 0xffffffff80ffffff, ""},
		{"", 0xffffffff81000011, "do_it"},
		{"", 0xffffffff810001ff, "do_it"},
		{"", 0xffffffff81000200, "strong_alias"},
		{"", 0xffffffff81000300, "data_ends_it"},
		{"", 0xffffffff81001fff, "data_ends_it"},
		{"", 0xffffffff81003000, ""},
		{"", 0xffffffffc0345000, ""},
		{"nf_conntrack", 0xffffffffc0345050, "nf_ct_get_tuple"},
		{"nf_conntrack", 0xffffffffc0345100, "nf_last"},
		{"bpf", 0xffffffffc0400001, "bpf_prog_6deef7357e7b4530"},
	} {
		if got := nameAt(k.modules[c.module], c.addr); got != c.want {
			t.Errorf("%s 0x%x: %q, want %q", c.module, c.addr, got, c.want)
		}
	}
}

func TestKallsymsRefused(t *testing.T) {
	if _, err := parseKallsyms(strings.NewReader(""), 0); !errors.Is(err, errNoKallsyms) {
		t.Errorf("empty: %v", err)
	}
	zeros := "0000000000000000 T _text\n0000000000000000 t a\t[m]\n"
	if _, err := parseKallsyms(strings.NewReader(zeros), 0); !errors.Is(err, errRestricted) {
		t.Errorf("restricted: %v", err)
	}
	if _, err := parseKallsyms(strings.NewReader(strings.Repeat("x", 1<<17)), 0); err == nil {
		t.Error("a line of 128 KiB was taken")
	}
}

func TestKallsymsMoved(t *testing.T) {
	k := parsed(t, "ffffffff9a000000 T _text\nffffffff9a000040 T _stext\nffffffff9a000100 T f\n")
	for _, c := range []struct {
		start, want uint64
		fails       bool
	}{
		{start: 0},
		{start: 0xffffffff9a000000},
		{start: 0xffffffff9a000040},
		{start: 0xffffffff81000000, want: 0x19000000},
		{start: 0xffffffffb0000000, want: ^uint64(0x16000000) + 1},
		{start: 0xffffffff81000001, fails: true},
		{start: 0xffff800010000000, fails: true},
	} {
		got, err := k.moved(c.start)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("0x%x: moved by 0x%x, %v", c.start, got, err)
		}
	}
}

func FuzzKallsyms(f *testing.F) {
	f.Add(listed)
	f.Add("0 T a\nffffffffffffffff T b\n")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := parseKallsyms(strings.NewReader(text), 0)
		if err != nil {
			return
		}
		for _, x := range k.modules {
			checkIndex(t, x)
		}
	})
}

// checkIndex looks every symbol up at its ends.
func checkIndex(t *testing.T, x *index) {
	t.Helper()
	for i, start := range x.starts {
		if i > 0 && start <= x.starts[i-1] {
			t.Fatalf("starts do not rise: 0x%x, 0x%x", x.starts[i-1], start)
		}
		if x.end(i) < start {
			t.Fatalf("0x%x ends before it begins", start)
		}
		if x.end(i) > start && x.find(start) != i {
			t.Fatalf("0x%x is not found", start)
		}
		if j := x.find(x.end(i)); j == i {
			t.Fatalf("0x%x is found behind its end", start)
		}
		x.name(i)
	}
}
