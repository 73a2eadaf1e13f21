package report

import (
	"path"
	"strings"

	"vperf/internal/printable"
)

// display is the function's name on the page. One without a symbol is named for its module,
// as folded stacks name it.
func (f function) display() string {
	switch {
	case f.symbol != "":
		return printable.Page(f.symbol)
	case f.module != "":
		return "[" + strings.Trim(printable.Page(moduleBase(f.module)), "[]") + "]"
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
