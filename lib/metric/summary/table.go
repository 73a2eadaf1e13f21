package summary

import (
	"bufio"
	"io"
	"strings"

	"github.com/rivo/uniseg"

	"vperf/lib/printable"
)

// Style says how to write for the reader's terminal.
type Style struct {
	Width int  // columns
	Color bool // it takes colours
}

// The ways to stand out.
const (
	bold   = "1"
	dim    = "2"
	yellow = "33"
	red    = "31"
)

// writer writes lines, each cut at the width of the terminal. Its texts come from the profiled
// program and are made safe where they enter it.
type writer struct {
	*bufio.Writer
	Style
	sections int
}

func newWriter(out io.Writer, s Style) *writer {
	s.Width = max(s.Width, 40)
	return &writer{Writer: bufio.NewWriter(out), Style: s}
}

// paint colours a text that was laid out.
func (w *writer) paint(text, color string) string {
	if !w.Color || text == "" || color == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// section writes a heading, and what belongs beside it.
func (w *writer) section(name, detail string) {
	if w.sections++; w.sections > 1 {
		w.WriteByte('\n')
	}
	w.WriteString(w.paint(name, bold))
	if detail != "" {
		w.WriteString("  " + w.paint(clip(printable.Terminal(detail), w.Width-len(name)-2), dim))
	}
	w.WriteByte('\n')
}

// line writes an indented line that is cut at the width.
func (w *writer) line(text string) { w.colored(text, "") }

func (w *writer) colored(text, color string) {
	w.WriteString("  " + w.paint(clip(printable.Terminal(text), w.Width-2), color) + "\n")
}

// wrapped writes a text over as many lines as it takes, those behind the first indented.
func (w *writer) wrapped(first, text, color string) {
	indent := strings.Repeat(" ", uniseg.StringWidth(first))
	line := first
	empty := true
	for word := range strings.FieldsSeq(printable.Terminal(text)) {
		if !empty && uniseg.StringWidth(line)+1+uniseg.StringWidth(word) > w.Width {
			w.WriteString(w.paint(line, color) + "\n")
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	w.WriteString(w.paint(line, color) + "\n")
}

// A table is rows of cells, whose columns are as wide as their widest cell.
type table struct {
	right []bool // columns that are aligned at the right
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the rows; the last column takes what is left of the width, and is dim where
// dimLast is set. Cells are safe already.
func (t *table) write(w *writer, head, dimLast bool) {
	widths := make([]int, len(t.right))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	last := len(widths) - 1
	for n, row := range t.rows {
		var b strings.Builder
		used := 1
		for i, cell := range row {
			b.WriteString("  "[:min(2, i+1)])
			used += 2
			pad := strings.Repeat(" ", max(widths[i]-uniseg.StringWidth(cell), 0))
			switch {
			case i == last:
				cell = clip(cell, w.Width-used)
				if dimLast {
					cell = w.paint(cell, dim)
				}
				b.WriteString(cell)
			case t.right[i]:
				b.WriteString(pad + cell)
			default:
				b.WriteString(cell + pad)
			}
			used += widths[i]
		}
		text := " " + strings.TrimRight(b.String(), " ")
		if head && n == 0 {
			text = w.paint(text, dim)
		}
		w.WriteString(text + "\n")
	}
}
