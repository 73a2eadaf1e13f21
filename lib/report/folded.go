package report

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"

	"vperf/lib/record"
)

// LooksFolded reports whether the beginning of an input is text other than records. Only a
// record begins with `{"`; a folded frame may well begin with a brace, as PHP's {closure}
// does.
func LooksFolded(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return len(head) > 0 && !bytes.HasPrefix(head, []byte(`{"`))
}

// ReadFolded adds folded stacks as flamegraph.pl takes them: `root;caller;leaf 12`, one a
// line, the weight behind the last blank. The suffixes _[k], _[i] and _[j] of a frame say
// kernel, inlined and jitted. Lines that are something else go to report and are left out.
func (p *Profile) ReadFolded(name string, r io.Reader, report func(record.Problem)) error {
	in := bufio.NewReaderSize(record.NewDecompressor(r), 256<<10)
	ev := p.event(eventKey{name: "folded stacks"})
	th := p.thread(record.None)
	p.folded = true
	var line []byte
	for n := 1; ; n++ {
		var err error
		if line, err = appendLine(line[:0], in); err != nil && err != io.EOF {
			return err
		}
		text := bytes.TrimRight(line, "\r\n")
		if stack, weight, ok := parseFolded(text); ok {
			p.records++
			e := p.events[ev]
			e.samples = append(e.samples, sample{timeNS: record.None, weight: weight, node: p.foldedStack(stack), thread: th})
		} else if len(bytes.TrimSpace(text)) > 0 && text[0] != '#' {
			q := record.Problem{Name: name, Line: n, Cause: record.CauseBadInput, Text: "not a folded stack (frames;separated;so 12)"}
			p.problem(q)
			report(q)
		}
		if err == io.EOF {
			return nil
		}
	}
}

// appendLine appends the next line, however long, to dst.
func appendLine(dst []byte, in *bufio.Reader) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		dst = append(dst, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return dst, err
		}
	}
}

func parseFolded(line []byte) (stack []byte, weight uint64, ok bool) {
	line = bytes.TrimRight(line, " \t")
	i := bytes.LastIndexAny(line, " \t")
	if i <= 0 {
		return nil, 0, false
	}
	weight, err := strconv.ParseUint(string(line[i+1:]), 10, 64)
	stack = bytes.TrimRight(line[:i], " \t")
	return stack, weight, err == nil && len(stack) > 0
}

func (p *Profile) foldedStack(stack []byte) uint32 {
	node := uint32(0)
	for more := true; more; {
		var frame []byte
		frame, stack, more = bytes.Cut(stack, []byte{';'})
		if len(frame) == 0 {
			continue // a;;b: some collapsers leave empty frames
		}
		node = p.tree.child(node, p.foldedFrame(frame))
	}
	if node == 0 {
		node = p.tree.child(0, p.tree.function(noStack, "", record.KindUnknown))
	}
	return node
}

func (p *Profile) foldedFrame(frame []byte) uint32 {
	name, module, kind := string(frame), "", record.KindUser
	if n := len(frame) - len("_[k]"); n > 0 && frame[n] == '_' && frame[n+1] == '[' && frame[n+3] == ']' {
		switch frame[n+2] {
		case 'k':
			name, kind = name[:n], record.KindKernel
		case 'i':
			name = name[:n]
		case 'j':
			name, module = name[:n], "[jit]"
		}
	}
	if name == "[unknown]" {
		name, kind = "", record.KindUnknown
	}
	return p.tree.function(name, module, kind)
}
