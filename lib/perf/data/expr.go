package data

import (
	"bytes"
	"strconv"
	"strings"
)

// A value is what an argument of a print format is: a number, or a text where text is set.
type value struct {
	n    int64
	text []byte
}

// An expr computes an argument from the data of a tracepoint.
type expr func(o order, raw []byte) value

// An exprParser reads the C expressions that the kernel's print formats consist of:
//
//	REC->field, __get_str(field), numbers, strings, ( ), casts, ?: and the operators of C,
//	__print_flags(x, "|", { 1, "S" }, ...), __print_symbolic(x, { 1, "S" }, ...)
//
// What else there is makes the whole format unreadable, see [Record.AppendPayload].
type exprParser struct {
	f     *Format
	s     string
	bad   bool
	depth int
}

// maxDepth bounds the recursion: the kernel's own expressions are a few levels deep.
const maxDepth = 64

func (p *exprParser) blanks() { p.s = strings.TrimLeft(p.s, " \t\n") }

// has takes a word or an operator.
func (p *exprParser) has(token string) bool {
	p.blanks()
	rest, ok := strings.CutPrefix(p.s, token)
	if ok {
		p.s = rest
	}
	return ok
}

func (p *exprParser) want(token string) {
	if !p.has(token) {
		p.bad = true
	}
}

// conditional reads "a ? b : c".
func (p *exprParser) conditional() expr {
	if p.depth++; p.depth > maxDepth {
		p.bad = true
	}
	defer func() { p.depth-- }()
	if p.bad {
		return nil
	}
	c := p.binary(0)
	if p.bad || !p.has("?") {
		return c
	}
	a := p.conditional()
	p.want(":")
	b := p.conditional()
	return func(o order, raw []byte) value {
		if c(o, raw).n != 0 {
			return a(o, raw)
		}
		return b(o, raw)
	}
}

// operators are those with two sides, the loosest first; of one level the longer first.
var operators = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (p *exprParser) binary(level int) expr {
	if level == len(operators) {
		return p.unary()
	}
	a := p.binary(level + 1)
	for !p.bad {
		op := p.operator(level)
		if op == "" {
			break
		}
		left, right := a, p.binary(level+1)
		a = func(o order, raw []byte) value { return value{n: compute(op, left(o, raw).n, right(o, raw).n)} }
	}
	return a
}

func (p *exprParser) operator(level int) string {
	p.blanks()
	for _, op := range operators[level] {
		if !strings.HasPrefix(p.s, op) {
			continue
		}
		rest := p.s[len(op):]
		// "|" is not the beginning of "||", nor "<" that of "<<".
		if len(op) == 1 && rest != "" && strings.IndexByte("|&<>=", rest[0]) >= 0 && (rest[0] == op[0] || rest[0] == '=') {
			continue
		}
		p.s = rest
		return op
	}
	return ""
}

func compute(op string, a, b int64) int64 {
	truth := func(is bool) int64 {
		if is {
			return 1
		}
		return 0
	}
	switch op {
	case "||":
		return truth(a != 0 || b != 0)
	case "&&":
		return truth(a != 0 && b != 0)
	case "|":
		return a | b
	case "^":
		return a ^ b
	case "&":
		return a & b
	case "==":
		return truth(a == b)
	case "!=":
		return truth(a != b)
	case "<=":
		return truth(a <= b)
	case ">=":
		return truth(a >= b)
	case "<":
		return truth(a < b)
	case ">":
		return truth(a > b)
	case "<<":
		return a << (b & 63)
	case ">>":
		return a >> (b & 63)
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	}
	switch {
	case b == 0 || b == -1: // not a division that C defines, or -a
		return -a * truth(b == -1 && op == "/")
	case op == "/":
		return a / b
	}
	return a % b
}

func (p *exprParser) unary() expr {
	if p.depth++; p.depth > maxDepth {
		p.bad = true
	}
	defer func() { p.depth-- }()
	for _, op := range []string{"-", "!", "~"} {
		if !p.bad && p.has(op) {
			a := p.unary()
			return func(o order, raw []byte) value {
				n := a(o, raw).n
				switch op {
				case "-":
					return value{n: -n}
				case "~":
					return value{n: ^n}
				}
				return value{n: compute("==", n, 0)}
			}
		}
	}
	return p.primary()
}

func (p *exprParser) primary() expr {
	p.blanks()
	switch {
	case p.bad || p.s == "":
		p.bad = true
	case p.s[0] == '"':
		text := []byte(p.quoted())
		return func(order, []byte) value { return value{text: text} }
	case isDigit(p.s[0]):
		return p.number()
	case p.has("REC->"):
		return p.field(p.word())
	case p.has("__get_str("):
		x := p.field(p.word())
		p.want(")")
		return x
	case p.has("__print_flags("):
		return p.table(true)
	case p.has("__print_symbolic("):
		return p.table(false)
	case p.has("("):
		if rest, ok := cast(p.s); ok {
			p.s = rest
			return p.unary()
		}
		x := p.conditional()
		p.want(")")
		return x
	default:
		p.bad = true
	}
	return nil
}

// cast reads the rest of "(unsigned long)". It does not change a value: what is printed
// says how wide it is.
func cast(s string) (rest string, ok bool) {
	inside, rest, ok := strings.Cut(s, ")")
	if !ok {
		return s, false
	}
	for _, word := range strings.Fields(strings.TrimRight(inside, "* ")) {
		switch word {
		case "unsigned", "signed", "long", "int", "short", "char", "void", "const", "struct", "bool",
			"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "__u32", "__u64", "size_t", "pid_t", "dev_t":
		default:
			return s, false
		}
	}
	return rest, strings.TrimSpace(inside) != ""
}

func (p *exprParser) word() string {
	p.blanks()
	i := 0
	for i < len(p.s) && (p.s[i] == '_' || isDigit(p.s[i]) || isLetter(p.s[i])) {
		i++
	}
	w := p.s[:i]
	p.s = p.s[i:]
	return w
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func (p *exprParser) number() expr {
	text := strings.TrimRight(p.word(), "uUlL")
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		p.bad = true
	}
	return func(order, []byte) value { return value{n: int64(n)} }
}

// quoted reads a string of C, or several in a row.
func (p *exprParser) quoted() string {
	var b strings.Builder
	for p.has(`"`) {
		for {
			if p.s == "" {
				p.bad = true
				return ""
			}
			c := p.s[0]
			p.s = p.s[1:]
			if c == '"' {
				break
			}
			if c == '\\' && p.s != "" {
				if c = p.s[0]; c == 'n' {
					c = '\n'
				} else if c == 't' {
					c = '\t'
				}
				p.s = p.s[1:]
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (p *exprParser) field(name string) expr {
	for i := range p.f.Fields {
		f := &p.f.Fields[i]
		switch {
		case f.Name != name:
		case f.isText():
			return func(o order, raw []byte) value { return value{text: untilZero(f.bytes(o, raw))} }
		case !f.Array && f.Dynamic == 0:
			return func(o order, raw []byte) value { return value{n: int64(f.number(o, raw))} }
		}
	}
	p.bad = true
	return nil
}

// table reads the rest of __print_flags and __print_symbolic.
func (p *exprParser) table(flags bool) expr {
	x := p.conditional()
	between := ""
	if p.want(","); flags {
		p.blanks()
		between = p.quoted()
		p.want(",")
	}
	type entry struct {
		n    int64
		name string
	}
	var list []entry
	for !p.bad && p.has("{") {
		n := p.conditional()
		p.want(",")
		p.blanks()
		name := p.quoted()
		p.want("}")
		if p.bad {
			break
		}
		list = append(list, entry{n(order{}, nil).n, name})
		if !p.has(",") {
			break
		}
	}
	p.want(")")
	return func(o order, raw []byte) value {
		n := x(o, raw).n
		var b bytes.Buffer
		add := func(s string) {
			if b.Len() > 0 {
				b.WriteString(between)
			}
			b.WriteString(s)
		}
		for _, e := range list {
			switch {
			case flags && n == 0 && e.n == 0, !flags && n == e.n:
				return value{text: append(b.Bytes(), e.name...)}
			case flags && e.n > 0 && n&e.n == e.n:
				add(e.name)
				n &^= e.n
			}
		}
		if n != 0 || !flags {
			add("0x" + strconv.FormatUint(uint64(n), 16))
		}
		return value{text: b.Bytes()}
	}
}
