// Package printable makes texts from elsewhere safe to show. Names of symbols, threads and files
// come from the profiled program, and a program can be hostile.
//
// What a reader could not see, or what does something else than show, is written out as an
// escape: \x1b, \u202e, \U000e0001. A byte that is no UTF-8 becomes U+FFFD.
package printable

import (
	"fmt"
	"strings"
	"unicode"
)

// Terminal escapes what could move the cursor, change the colours, or reverse the direction of
// the line, and whatever terminals may not agree upon: all but the characters that are known
// to have a shape, and the plain blank.
func Terminal(s string) string {
	return escape(s, func(r rune) bool {
		return !unicode.IsPrint(r) && r != unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r)
	})
}

// Page escapes what a browser would not show or would reorder the text around it by: control and
// format characters. Blanks and line separators of all kinds are blanks there, and stay.
func Page(s string) string {
	return escape(s, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) })
}

func escape(s string, hidden func(rune) bool) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == unicode.ReplacementChar || hidden(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r) // U+FFFD for an invalid byte
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}
