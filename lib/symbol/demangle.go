package symbol

import (
	"strconv"
	"strings"

	demangler "github.com/ianlancetaylor/demangle"
)

// nameBits bounds names to 2^18 bytes: a few hundred bytes of back references can stand for
// any length.
const nameBits = 18

// demangle spells a name of C++, Rust or OCaml as perf prints it: without parameters, clone
// suffixes and hashes. Names that are not mangled, and those that are so badly, stay.
func demangle(name string) string {
	switch {
	case strings.HasPrefix(name, "_Z"), strings.HasPrefix(name, "_R"), strings.HasPrefix(name, "_GLOBAL_"):
		if s := demangler.Filter(name, demangler.NoParams, demangler.MaxLength(nameBits)); s != "" {
			return s
		}
	case len(name) > 4 && strings.HasPrefix(name, "caml") && 'A' <= name[4] && name[4] <= 'Z':
		if s := demangleOCaml(name); s != "" {
			return s
		}
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
