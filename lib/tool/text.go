package tool

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"
)

// List splits a comma separated flag value. Empty parts are left out.
func List(s string) []string {
	var list []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// Printable makes a string safe for a terminal: what could move the cursor, change the
// colour, or reverse the direction of the line is written as an escape. Names of symbols,
// threads and files come from the profiled program, and a program can be hostile.
func Printable(s string) string {
	if !strings.ContainsFunc(s, unprintable) {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		switch {
		case !unprintable(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func unprintable(r rune) bool {
	return !unicode.IsPrint(r) && r != unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r)
}

// ChoiceFlag returns a flag whose value is one of choices; anything else is a usage error,
// and completion offers them. An empty default stands for "not given".
func ChoiceFlag(name, usage, value string, choices ...string) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &choice{value, choices}}
}

type choice struct {
	value   string
	choices []string
}

// Set takes the value if it is one of the choices.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.choices, s) {
		return fmt.Errorf("it is one of %s", strings.Join(c.choices, ", "))
	}
	c.value = s
	return nil
}

func (c *choice) String() string { return c.value }
