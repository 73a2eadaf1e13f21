package tool

import (
	"fmt"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/urfave/cli/v2"
)

// A flagRow is what help, man page and completion say about one flag.
type flagRow struct {
	names   []string // "freq", "F"
	value   string   // "HZ"; empty for a switch
	usage   string
	def     string   // the default, if it is worth a word
	choices []string // if only these are allowed
}

func rows(flags []cli.Flag) []flagRow {
	var all []flagRow
	for _, f := range flags {
		d, ok := f.(cli.DocGenerationFlag)
		if !ok {
			continue
		}
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		r := flagRow{names: f.Names(), usage: d.GetUsage()}
		if d.TakesValue() {
			r.value, r.usage = placeholder(r.usage)
			if def := strings.Trim(d.GetDefaultText(), `"`); def != "0" {
				r.def = def
			}
		}
		if g, ok := f.(*cli.GenericFlag); ok {
			if c, ok := g.Value.(*choice); ok {
				r.choices, r.def = c.choices, c.value
			}
		}
		all = append(all, r)
	}
	return all
}

// placeholder takes the name of the value out of a usage like "write to `FILE`", as the
// flag package of the standard library does.
func placeholder(usage string) (value, text string) {
	if before, rest, ok := strings.Cut(usage, "`"); ok {
		if name, after, ok := strings.Cut(rest, "`"); ok {
			return name, before + name + after
		}
	}
	return "VALUE", usage
}

// spell returns the flag as typed: "-F, --freq HZ".
func (r flagRow) spell() string {
	var short, long []string
	for _, n := range r.names {
		if len(n) == 1 {
			short = append(short, "-"+n)
		} else {
			long = append(long, "--"+n)
		}
	}
	s := strings.Join(append(short, long...), ", ")
	if len(short) == 0 {
		s = "    " + s
	}
	if r.value != "" {
		s += " " + r.value
	}
	return s
}

func (r flagRow) text() string {
	if r.def != "" {
		return r.usage + " (default " + r.def + ")"
	}
	return r.usage
}

// help returns the text of --help.
func (c *Command) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s - %s\n\nusage: %s %s\n", c.Name, c.Summary, c.Name, c.Synopsis)
	if c.Long != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Long))
	}
	for _, part := range []struct {
		title string
		flags []cli.Flag
	}{{"flags", c.Flags}, {"common flags", c.commonFlags()}} {
		if len(part.flags) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s:\n", part.title)
		for _, r := range rows(part.flags) {
			fmt.Fprintf(&b, "  %-26s ", r.spell())
			if len(r.spell()) > 26 {
				fmt.Fprintf(&b, "\n  %-26s ", "")
			}
			b.WriteString(wrap(r.text(), 68, "\n"+strings.Repeat(" ", 29)) + "\n")
		}
	}
	if len(c.Examples) > 0 {
		b.WriteString("\nexamples:\n")
		for _, e := range c.Examples {
			fmt.Fprintf(&b, "  # %s\n  %s\n", e.Text, strings.ReplaceAll(e.Command, "\n", "\n  "))
		}
	}
	return b.String()
}

// wrap breaks text at blanks into lines of at most width columns.
func wrap(text string, width int, sep string) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), sep)
}

// man returns the man page.
func (c *Command) man() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%% %s 1\n# NAME\n%s - %s\n\n# SYNOPSIS\n**%s** %s\n\n", strings.ToUpper(c.Name), c.Name, c.Summary, c.Name, markdown(c.Synopsis))
	fmt.Fprintf(&b, "# DESCRIPTION\n%s\n\n# OPTIONS\n", markdown(strings.TrimSpace(c.Long)))
	for _, r := range rows(c.allFlags()) {
		fmt.Fprintf(&b, "**%s**\n: %s\n\n", markdown(strings.TrimSpace(r.spell())), markdown(r.text()))
	}
	b.WriteString("# EXIT STATUS\n")
	if c.Args {
		b.WriteString("That of the command that was run, 128 + N if signal N ended it.\n\n")
	}
	b.WriteString("**0**\n: done\n\n**1**\n: failed; standard error says why\n\n**2**\n: the command line makes no sense\n\n")
	if len(c.Examples) > 0 {
		b.WriteString("# EXAMPLES\n")
		for _, e := range c.Examples {
			fmt.Fprintf(&b, "%s:\n\n```\n%s\n```\n\n", markdown(e.Text), e.Command)
		}
	}
	b.WriteString("# SEE ALSO\n**perf**(1), **vperf**(1)\n")
	return string(md2man.Render([]byte(b.String())))
}

// markdown escapes what would be markup.
func markdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "`", "\\`", "#", `\#`, "|", `\|`).Replace(s)
}
