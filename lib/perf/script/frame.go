package script

import (
	"bytes"
	"strconv"
	"strings"

	"vperf/lib/record"
)

// frameWidth is what the address of a frame takes at least: a tab or a blank, and 16
// columns.
const frameWidth = 17

// parsedFrame is a line of a call chain, its texts still in the buffer.
type parsedFrame struct {
	address uint64
	symbol  []byte // without offset; empty where perf prints [unknown] or nothing
	module  []byte // empty where perf prints [unknown] or nothing
	inlined bool
	whole   bool // a module, or the mark in its place, ends the line
	wide    bool // indented as perf does it
}

// parseFrame reads a line of a call chain:
//
//	blanks ADDRESS [SYMBOL[+0xOFFSET]] [(MODULE) | (inlined)]
//
// The address is of 1 to 16 hex digits. The module is the last group of balanced
// parentheses, since both symbols and paths may hold some: "f(int (*)(char)) (/opt/a (deleted))".
func parseFrame(line []byte) (f parsedFrame, ok bool) {
	i := skipBlanks(line, 0)
	j := i
	for j < len(line) && isHex(line[j]) {
		f.address = f.address<<4 | uint64(hexValue(line[j]))
		j++
	}
	if i == 0 || j == i || j-i > 16 || j < len(line) && !isBlank(line[j]) {
		return f, false
	}
	f.wide = j >= frameWidth || line[0] == '\t'
	rest := bytes.TrimSpace(line[j:])
	if n := len(rest); n > 0 && rest[n-1] == ')' {
		if open := moduleAt(rest); open >= 0 {
			inner := rest[open+1 : n-1]
			f.whole = true
			switch string(inner) {
			case "inlined":
				f.inlined = true
			case "[unknown]":
			default:
				f.module = cutOffset(inner)
			}
			rest = bytes.TrimRight(rest[:open], " \t")
		}
	}
	if string(rest) != "[unknown]" {
		f.symbol = cutOffset(rest)
	}
	return f, true
}

// moduleAt returns where the last group of balanced parentheses of b begins, which ends
// in ")", or -1 if that is no place for a module: it stands behind a blank or alone. Where
// a path unbalances them, the last " (" counts.
func moduleAt(b []byte) int {
	depth := 0
	for i := len(b) - 1; i >= 0; i-- {
		switch b[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				if i == 0 || isBlank(b[i-1]) {
					return i
				}
				return -1
			}
		}
	}
	if i := bytes.LastIndex(b, []byte(" (")); i >= 0 {
		return i + 1
	}
	return -1
}

// cutOffset cuts a final "+0x1f".
func cutOffset(b []byte) []byte {
	i := len(b)
	for i > 0 && isHex(b[i-1]) {
		i--
	}
	if i < len(b) && i >= 3 && string(b[i-3:i]) == "+0x" {
		return b[:i-3]
	}
	return b
}

// callChain splits the name that perf-map-agent gives to Java code with inlined methods,
// "outer->inner->innermost". Only symbols of a map that a runtime wrote (perf-PID.map) are
// such chains: a C++ name may well hold "operator->".
func callChain(symbol, module string) []string {
	if !strings.Contains(symbol, "->") || !isPerfMap(module) {
		return nil
	}
	parts := strings.Split(symbol, "->")
	for _, p := range parts {
		if p == "" {
			return nil
		}
	}
	return parts
}

// isPerfMap reports whether a module is perf-PID.map.
func isPerfMap(module string) bool {
	name := module[strings.LastIndexByte(module, '/')+1:]
	name, ok := strings.CutPrefix(name, "perf-")
	if !ok {
		return false
	}
	name, ok = strings.CutSuffix(name, ".map")
	if !ok || name == "" {
		return false
	}
	for i := range len(name) {
		if !isDigit(name[i]) {
			return false
		}
	}
	return true
}

// kernelStart is the lowest address of kernel code on the 64-bit machines that perf runs
// on, sign-extended addresses of 48 bits.
const kernelStart = 0xffff_0000_0000_0000

// kindOf tells user code from kernel code by the name of the module, and by the address
// only where there is no module: addresses of a vmlinux file are printed relative to it.
func kindOf(module string, address uint64) record.FrameKind {
	if module == "" {
		if address >= kernelStart {
			return record.KindKernel
		}
		return record.KindUnknown
	}
	base := module[strings.LastIndexByte(module, '/')+1:]
	if module[0] == '[' {
		for _, user := range []string{"[vdso", "[vsyscall]", "[vvar", "[heap]", "[stack", "[anon", "[uprobes]", "[vectors]", "[sigpage]"} {
			if strings.HasPrefix(module, user) {
				return record.KindUser
			}
		}
		return record.KindKernel // [kernel.kallsyms], [guest.kernel.kallsyms], modules: [nf_tables]
	}
	if strings.HasPrefix(base, "vmlinux") || strings.HasPrefix(base, "bpf_prog_") ||
		strings.HasSuffix(base, ".ko") || strings.Contains(base, ".ko.") {
		return record.KindKernel
	}
	return record.KindUser
}

// sourcePlace is where a frame is in the source.
type sourcePlace struct {
	file    string // empty where perf does not know it
	line    int
	inlined bool
}

// sourceLine reads what -F +srcline puts on a line of its own behind the frame, indented
// by two blanks: "  main.c:12", "  main.c:12 (inlined)", "  libc.so.6[2724a]" where it
// knows no line.
func sourceLine(line []byte) (p sourcePlace, ok bool) {
	if len(line) < 3 || line[0] != ' ' || line[1] != ' ' || isBlank(line[2]) {
		return p, false
	}
	text := bytes.TrimRight(line[2:], " \t")
	text, p.inlined = bytes.CutSuffix(text, []byte(" (inlined)"))
	if i := bytes.Index(text, []byte(" (discriminator ")); i > 0 {
		text = text[:i]
	}
	i := bytes.LastIndexByte(text, ':')
	if i < 0 {
		return p, bytes.HasSuffix(text, []byte("]")) || bytes.Contains(text, []byte("+0x"))
	}
	n, err := strconv.ParseUint(string(text[i+1:]), 10, 31)
	if err != nil {
		return p, false
	}
	if n > 0 && string(text[:i]) != "??" {
		p.file, p.line = valid(text[:i]), int(n)
	}
	return p, true
}

// valid returns b as a string in which every byte that is not UTF-8 is replaced by U+FFFD.
func valid(b []byte) string {
	s := string(b)
	return strings.ToValidUTF8(s, "\ufffd")
}

func skipBlanks(b []byte, i int) int {
	for i < len(b) && isBlank(b[i]) {
		i++
	}
	return i
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || 'a' <= c && c <= 'f' }

func hexValue(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c - 'a' + 10
}
