package report

import (
	"strings"

	"vperf/lib/printable"
	"vperf/lib/stack"
)

// display is the function's name on the page. One without a symbol is named for its module,
// as folded stacks name it.
func (f function) display() string {
	switch {
	case f.symbol != "":
		return printable.Page(f.symbol)
	case f.module != "":
		return "[" + strings.Trim(printable.Page(stack.ModuleName(f.module)), "[]") + "]"
	}
	return "[unknown]"
}
