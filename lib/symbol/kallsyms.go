package symbol

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
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
// Functions and data count, as in perf: data ends the function before it.
//
// hint is about how many bytes will come: fresh memory for growing is what takes longest.
func parseKallsyms(r io.Reader, hint int64) (*kallsyms, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	k := &kallsyms{modules: map[string]*index{}}
	ids := map[string]uint16{"": 0}
	names := []string{""}
	list := make([]entry, 0, hint/40)
	text := make([]byte, 0, hint/2)
	var lines, zero int
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) { // no line of it is that long
			return nil, errors.New("a line of more than 64 KiB")
		}
		if addr, kind, name, module, ok := kallsym(line); ok {
			lines++
			if addr == 0 {
				zero++
			}
			id, known := ids[string(module)]
			if !known && len(names) <= math.MaxUint16 {
				id = uint16(len(names))
				names = append(names, string(module))
				ids[names[id]] = id
				known = true
			}
			if known && len(text)+len(name) < maxKallsyms {
				list = append(list, entry{start: addr, end: addr, name: uint32(len(text)), module: id, rank: kallsymRank(kind)})
				text = append(append(text, name...), 0)
			}
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
	case lines == 0:
		return nil, errNoKallsyms
	case zero == lines:
		return nil, errRestricted
	}
	sortEntries(list)
	fillEnds(list)
	list = dropAliases(list, text, nil)
	byModule := func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.start, b.start))
	}
	if !slices.IsSortedFunc(list, byModule) {
		slices.SortFunc(list, byModule)
	}
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].module == list[0].module {
			n++
		}
		k.modules[names[list[0].module]] = newIndex(list[:n], text, nil)
		list = list[n:]
	}
	return k, nil
}

// kallsym takes a line apart; ok is false for lines that are no symbol, or none that counts.
func kallsym(line []byte) (addr uint64, kind byte, name, module []byte, ok bool) {
	i := 0
	for ; i < len(line) && i < 17; i++ {
		d := unhex(line[i])
		if d > 15 {
			break
		}
		addr = addr<<4 | uint64(d)
	}
	if i == 0 || i > 16 || len(line) < i+4 || line[i] != ' ' || line[i+2] != ' ' {
		return 0, 0, nil, nil, false
	}
	kind = line[i+1]
	switch kind | 0x20 {
	case 't', 'w', 'd', 'b':
	default:
		return 0, 0, nil, nil, false
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
		return 0, 0, nil, nil, false
	}
	return addr, kind, name, module, true
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

func kallsymRank(kind byte) rank {
	switch {
	case kind == 'W':
		return weak
	case 'A' <= kind && kind <= 'Z':
		return global
	}
	return local
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
