package data

import (
	"fmt"
	"strings"
)

// A printer is a print format whose arguments are fields. Formats with expressions and
// functions of the kernel have none.
type printer struct {
	parts []printPart
	tail  string
}

// A printPart is a text, and a field behind it.
type printPart struct {
	text  string
	verb  string // for package fmt: "%-5d", "%#x", "%s"
	field *Field
}

// newPrinter returns nil for a format that it cannot print.
func newPrinter(f *Format) *printer {
	format, args, ok := splitPrint(f.Print)
	if !ok {
		return nil
	}
	p := &printer{}
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			break
		}
		text, rest := format[:i], format[i+1:]
		if strings.HasPrefix(rest, "%") {
			p.parts = append(p.parts, printPart{text: text + "%"})
			format = rest[1:]
			continue
		}
		j := strings.IndexFunc(rest, func(c rune) bool { return !strings.ContainsRune("#-+ 0123456789", c) })
		if j < 0 || len(args) == 0 {
			return nil
		}
		flags, verb := rest[:j], strings.TrimLeft(rest[j:], "hlLqjzt")
		if verb == "" {
			return nil
		}
		field := f.argument(args[0])
		if field == nil || strings.IndexByte("duixXs", verb[0]) < 0 || (verb[0] == 's') != field.isText() {
			return nil
		}
		c := verb[:1]
		if c == "u" || c == "i" {
			c = "d"
		}
		p.parts = append(p.parts, printPart{text, "%" + flags + c, field})
		args, format = args[1:], verb[1:]
	}
	p.tail = format
	return p
}

// argument returns the field that an argument is, nil where it is something else.
func (f *Format) argument(arg string) *Field {
	arg = strings.TrimSpace(arg)
	for strings.HasPrefix(arg, "(") && strings.HasSuffix(arg, ")") {
		arg = strings.TrimSpace(arg[1 : len(arg)-1])
		// A cast: the field's own type says the same or more.
		if i := strings.IndexByte(arg, ')'); strings.HasPrefix(arg, "(") && i > 0 && !strings.ContainsAny(arg[:i], "->") {
			arg = strings.TrimSpace(arg[i+1:])
		}
	}
	name, ok := strings.CutPrefix(arg, "REC->")
	if !ok {
		if name, ok = strings.CutPrefix(arg, "__get_str("); !ok {
			return nil
		}
		name = strings.TrimSuffix(name, ")")
	}
	for i := range f.Fields {
		if f.Fields[i].Name == name {
			return &f.Fields[i]
		}
	}
	return nil
}

// splitPrint splits the C source of a print format into its text and its arguments.
func splitPrint(s string) (format string, args []string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", nil, false
	}
	var b strings.Builder
	i := 1
	for ; i < len(s) && s[i] != '"'; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(s[i])
			}
			continue
		}
		b.WriteByte(s[i])
	}
	if i >= len(s) {
		return "", nil, false
	}
	rest := strings.TrimSpace(s[i+1:])
	if rest == "" {
		return b.String(), nil, true
	}
	if rest[0] != ',' {
		return "", nil, false
	}
	depth, start, quoted := 0, 1, false
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case quoted:
			if c == '\\' {
				i++
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '(' || c == '{':
			depth++
		case c == ')' || c == '}':
			depth--
		case c == ',' && depth == 0:
			args = append(args, rest[start:i])
			start = i + 1
		}
	}
	return b.String(), append(args, rest[start:]), true
}

func (p *printer) append(dst []byte, o order, raw []byte) []byte {
	for i := range p.parts {
		part := &p.parts[i]
		dst = append(dst, part.text...)
		switch {
		case part.field == nil:
		case part.verb == "%s":
			dst = append(dst, untilZero(part.field.bytes(o, raw))...)
		case strings.HasSuffix(part.verb, "s"):
			dst = fmt.Appendf(dst, part.verb, untilZero(part.field.bytes(o, raw)))
		case part.field.Signed && strings.HasSuffix(part.verb, "d"):
			dst = fmt.Appendf(dst, part.verb, int64(part.field.number(o, raw)))
		default:
			dst = fmt.Appendf(dst, part.verb, part.field.number(o, raw))
		}
	}
	return append(dst, p.tail...)
}
