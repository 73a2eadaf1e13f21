package report

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns s with what a reader could not see, or what would reorder the text around
// it, written out: control characters, bidirectional marks, zero-width characters. Invalid
// UTF-8 becomes U+FFFD.
func visible(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || hidden(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r) // RuneError for invalid bytes
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf)
}

// display is the function's name on the page. One without a symbol is named for its module,
// as folded stacks name it.
func (f function) display() string {
	switch {
	case f.symbol != "":
		return visible(f.symbol)
	case f.module != "":
		return "[" + strings.Trim(visible(moduleBase(f.module)), "[]") + "]"
	}
	return "[unknown]"
}

// moduleBase is the last part of a module's path. The kernel's own names are in brackets.
func moduleBase(m string) string {
	m = strings.TrimSuffix(m, " (deleted)")
	if m == "" || m[0] == '[' {
		return m
	}
	return path.Base(m)
}
