package data

import (
	"fmt"
	"strings"
)

// A printer is the print format of a tracepoint, made ready.
type printer struct {
	parts []printPart
	tail  string
}

// A printPart is a text, and an argument behind it.
type printPart struct {
	text string
	verb string // for package fmt: "%-5d", "%#x", "%s"; empty without an argument
	wide bool   // of 8 bytes, where it is a number
	arg  expr
}

// newPrinter makes a print format ready: a string as of printf, and its arguments. It
// returns nil for one that it cannot read.
func newPrinter(f *Format) *printer {
	p := exprParser{f: f, s: f.Print}
	p.blanks()
	if !strings.HasPrefix(p.s, `"`) {
		return nil
	}
	format := p.quoted()
	var args []expr
	for !p.bad && p.has(",") {
		args = append(args, p.conditional())
	}
	if p.blanks(); p.bad || p.s != "" {
		return nil
	}
	out := &printer{}
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			break
		}
		part := printPart{text: format[:i]}
		if format = format[i+1:]; strings.HasPrefix(format, "%") {
			part.text += "%"
			out.parts, format = append(out.parts, part), format[1:]
			continue
		}
		j := strings.IndexFunc(format, func(c rune) bool { return !strings.ContainsRune("#-+ .0123456789", c) })
		if j < 0 || len(args) == 0 {
			return nil
		}
		flags := format[:j]
		length := strings.TrimLeft(format[j:], "hlLqjzt")
		part.wide = strings.ContainsAny(format[j:len(format)-len(length)], "lLqjzt")
		if length == "" || strings.IndexByte("duixXsc", length[0]) < 0 {
			return nil
		}
		part.verb, part.arg = "%"+flags+length[:1], args[0]
		args, format = args[1:], length[1:]
		out.parts = append(out.parts, part)
	}
	out.tail = format
	return out
}

func (p *printer) append(dst []byte, o order, raw []byte) []byte {
	for i := range p.parts {
		part := &p.parts[i]
		dst = append(dst, part.text...)
		if part.arg != nil {
			dst = part.append(dst, part.arg(o, raw))
		}
	}
	return append(dst, p.tail...)
}

func (p *printPart) append(dst []byte, v value) []byte {
	verb := p.verb[len(p.verb)-1]
	switch {
	case verb == 's' && len(p.verb) == 2:
		return append(dst, v.text...)
	case verb == 's':
		return fmt.Appendf(dst, p.verb, v.text)
	case verb == 'd' || verb == 'i':
		n := v.n
		if !p.wide {
			n = int64(int32(n))
		}
		return fmt.Appendf(dst, p.verb[:len(p.verb)-1]+"d", n)
	}
	n := uint64(v.n)
	if !p.wide {
		n = uint64(uint32(n))
	}
	if verb == 'u' {
		return fmt.Appendf(dst, p.verb[:len(p.verb)-1]+"d", n)
	}
	return fmt.Appendf(dst, p.verb, n) // x, X, c
}
