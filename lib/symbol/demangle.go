package symbol

import (
	"strconv"
	"strings"

	demangler "github.com/ianlancetaylor/demangle"
)

// demangle spells a name of C++, Rust or OCaml as perf prints it: without parameters, clone
// suffixes and hashes. Names that are not mangled, and those that are so badly, stay.
func demangle(name string) string {
	switch {
	case strings.HasPrefix(name, "_Z"), strings.HasPrefix(name, "_R"), strings.HasPrefix(name, "_GLOBAL_"):
		return demangler.Filter(name, demangler.NoParams)
	case len(name) > 4 && strings.HasPrefix(name, "caml") && 'A' <= name[4] && name[4] <= 'Z':
		return demangleOCaml(name)
	}
	return name
}

// demangleOCaml undoes what OCaml's native compiler does to a path: "__" for ".", "$xx" for
// any other character.
func demangleOCaml(name string) string {
	name = name[len("caml"):]
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch {
		case strings.HasPrefix(name[i:], "__"):
			b.WriteByte('.')
			i++
		case name[i] == '$' && i+2 < len(name):
			c, err := strconv.ParseUint(name[i+1:i+3], 16, 8)
			if err != nil || c == 0 {
				b.WriteByte('$')
				continue
			}
			b.WriteByte(byte(c))
			i += 2
		default:
			b.WriteByte(name[i])
		}
	}
	return b.String()
}
