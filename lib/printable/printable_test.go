package printable

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

var shown = []struct{ in, terminal, page string }{
	{"", "", ""},
	{"plain é 漢 😀 ünïcode", "plain é 漢 😀 ünïcode", "plain é 漢 😀 ünïcode"},
	{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `\x1b[31mred\x1b[0m`},
	{"a\rb\nc\td\x00\x7f", `a\x0db\x0ac\x09d\x00\x7f`, `a\x0db\x0ac\x09d\x00\x7f`},
	{"\u0085\u00ad", `\u0085\u00ad`, `\u0085\u00ad`},
	{"abc\u202edef", `abc\u202edef`, `abc\u202edef`},
	{"zero\u200bwidth\ufeff", `zero\u200bwidth\ufeff`, `zero\u200bwidth\ufeff`},
	{"\u00a0\u202f\u2028\u2029", `\u00a0\u202f\u2028\u2029`, "\u00a0\u202f\u2028\u2029"},
	{"\U000e0001", `\U000e0001`, `\U000e0001`},
	{"a\xff\xfeb", "a\ufffd\ufffdb", "a\ufffd\ufffdb"},
	{`a backslash \x1b stays`, `a backslash \x1b stays`, `a backslash \x1b stays`},
}

func Test(t *testing.T) {
	for _, s := range shown {
		if got := Terminal(s.in); got != s.terminal {
			t.Errorf("Terminal(%q) = %q, want %q", s.in, got, s.terminal)
		}
		if got := Page(s.in); got != s.page {
			t.Errorf("Page(%q) = %q, want %q", s.in, got, s.page)
		}
	}
}

func Fuzz(f *testing.F) {
	for _, s := range shown {
		f.Add(s.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, safe := range []func(string) string{Terminal, Page} {
			got := safe(in)
			if !utf8.ValidString(got) {
				t.Errorf("%q of %q is no UTF-8", got, in)
			}
			for _, r := range got {
				if unicode.In(r, unicode.Cc, unicode.Cf) {
					t.Errorf("%q of %q", got, in)
				}
			}
			if again := safe(got); again != got {
				t.Errorf("once %q, twice %q", got, again)
			}
		}
	})
}
