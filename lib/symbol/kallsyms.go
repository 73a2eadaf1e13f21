package symbol

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync/atomic"
)

// kallsyms is what /proc/kallsyms lists: the symbols of the kernel, and apart from them
// those of each module by its name in brackets.
type kallsyms struct {
	modules map[string]*index // "" is the kernel
	text    uint64            // the addresses of _text and _stext; 0 where they are not listed
	stext   uint64
}

var (
	errRestricted = errors.New("all addresses are zero")
	errNoKallsyms = errors.New("no symbols")
)

// maxKallsyms bounds the text of names that is kept; a kernel has some 5 MB of them.
const maxKallsyms = 1 << 28

// parseKallsyms reads lines of address, type and name, which may be followed by the module
// in brackets:
//
//	ffffffff81000000 T _stext
//	ffffffffc0345000 t nf_ct_get_tuple	[nf_conntrack]
//
// Functions and data count, as in perf: each reaches to the next. Of several at one address
// the last counts: to perf it is the only one of them with a size.
//
// hint is about how many bytes will come. Fresh memory is what takes longest here, hence
// no list of all symbols before their index.
func parseKallsyms(r io.Reader, hint int64) (*kallsyms, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	k := &kallsyms{modules: map[string]*index{}}
	kernel := &index{starts: make([]uint64, 0, hint/40), names: make([]uint32, 0, hint/40)}
	k.modules[""] = kernel
	text := make([]byte, 0, hint*2/3)
	x, last := kernel, []byte(nil) // the module of the line before
	zero := true
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) { // no line of it is that long
			return nil, errors.New("a line of more than 64 KiB")
		}
		if addr, name, module, ok := kallsym(line); ok && len(text)+len(name) < maxKallsyms {
			if !bytes.Equal(module, last) {
				last = append(last[:0], module...)
				if x = k.modules[string(module)]; x == nil {
					x = &index{}
					k.modules[string(module)] = x
				}
			}
			zero = zero && addr == 0
			if n := len(x.starts); n > 0 && x.starts[n-1] == addr {
				x.names[n-1] = uint32(len(text))
			} else {
				x.starts, x.names = append(x.starts, addr), append(x.names, uint32(len(text)))
			}
			text = append(append(text, name...), 0)
			switch string(name) {
			case "_text":
				k.text = addr
			case "_stext":
				k.stext = addr
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case len(text) == 0:
		return nil, errNoKallsyms
	case zero:
		return nil, errRestricted
	}
	for name, x := range k.modules {
		if len(x.starts) == 0 {
			delete(k.modules, name)
			continue
		}
		x.text = text
		x.finish()
	}
	return k, nil
}

// finish sorts an index of symbols that reach to the next.
func (x *index) finish() {
	if !slices.IsSorted(x.starts) {
		sort.Sort((*byStart)(x))
		n := 0
		for i := range x.starts {
			if n > 0 && x.starts[n-1] == x.starts[i] {
				n--
			}
			x.starts[n], x.names[n] = x.starts[i], x.names[i]
			n++
		}
		x.starts, x.names = x.starts[:n], x.names[:n]
	}
	x.top = pageBehind(x.starts[len(x.starts)-1])
	x.cache = make([]atomic.Pointer[string], len(x.starts))
}

// byStart orders symbols by address, and those of one address as they were listed, which
// is how their names follow each other.
type byStart index

func (x *byStart) Len() int { return len(x.starts) }
func (x *byStart) Less(i, j int) bool {
	return x.starts[i] < x.starts[j] || x.starts[i] == x.starts[j] && x.names[i] < x.names[j]
}

func (x *byStart) Swap(i, j int) {
	x.starts[i], x.starts[j] = x.starts[j], x.starts[i]
	x.names[i], x.names[j] = x.names[j], x.names[i]
}

// kallsym takes a line apart; ok is false for lines that are no symbol, or none that counts.
func kallsym(line []byte) (addr uint64, name, module []byte, ok bool) {
	i := 0
	for ; i < len(line) && i < 17; i++ {
		d := unhex(line[i])
		if d > 15 {
			break
		}
		addr = addr<<4 | uint64(d)
	}
	if i == 0 || i > 16 || len(line) < i+4 || line[i] != ' ' || line[i+2] != ' ' {
		return 0, nil, nil, false
	}
	switch line[i+1] | 0x20 { // the type

	case 't', 'w', 'd', 'b':
	default:
		return 0, nil, nil, false
	}
	name = bytes.TrimRight(line[i+3:], "\r\n")
	if tab := bytes.IndexByte(name, '\t'); tab >= 0 {
		module = name[tab+1:]
		name = name[:tab]
		if len(module) > 2 && module[0] == '[' && module[len(module)-1] == ']' {
			module = module[1 : len(module)-1]
		}
	}
	if len(name) == 0 || name[0] == '$' || bytes.IndexByte(name, 0) >= 0 {
		return 0, nil, nil, false
	}
	return addr, name, module, true
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 0xff
}

// moved returns by how much this listing's addresses lie above those of a recording in
// which the kernel began at start: it was booted again since, elsewhere.
func (k *kallsyms) moved(start uint64) (uint64, error) {
	if start == 0 || start == k.text || start == k.stext {
		return 0, nil
	}
	base := k.text
	if base == 0 {
		base = k.stext
	}
	delta := base - start
	// The kernel moves by whole units of 2 MiB (arm64: 64 KiB), within 1 GiB or so of
	// where it was linked.
	if dist := min(delta, -delta); base == 0 || delta%0x10000 != 0 || dist > 1<<31 {
		return 0, fmt.Errorf("its text begins at 0x%x, the recording's at 0x%x", base, start)
	}
	return delta, nil
}
