package symbol

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"strings"
)

// elfSymbols collects the symbols of one module from its files.
type elfSymbols struct {
	runtime *image // the file that was mapped: it knows the segments and the PLT
	list    []entry
	text    []byte
}

var errNamesTooLong = errors.New("symbol names of more than 4 GiB")

// addText adds a string table and returns where it begins.
func (e *elfSymbols) addText(text []byte) (uint32, error) {
	at := len(e.text)
	if uint64(at)+uint64(len(text))+1 > math.MaxUint32 {
		return 0, errNamesTooLong
	}
	if at == 0 {
		e.text = text
	} else {
		e.text = append(e.text, text...)
	}
	e.text = append(e.text, 0)
	return uint32(at), nil
}

// add reads the symbol table of a type, .symtab or .dynsym, from an image that may be a
// separate debug file.
func (e *elfSymbols) add(im *image, table elf.SectionType) (err error) {
	defer recovered(im.path, &err)
	s := im.SectionByType(table)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil
	}
	strs := im.contents(im.section(s.Link))
	data := im.contents(s)
	if strs == nil || data == nil {
		return fmt.Errorf("%s: %s is not in the file: it was cut or is malformed", im.path, s.Name)
	}
	textAt, err := e.addText(strs)
	if err != nil {
		return fmt.Errorf("%s: %w", im.path, err)
	}
	size := 24
	if im.Class == elf.ELFCLASS32 {
		size = 16
	}
	wanted := e.wantedSections(im)
	if e.list == nil {
		e.list = make([]entry, 0, len(data)/size)
	}
	for ; len(data) >= size; data = data[size:] {
		sym := im.parseSymbol(data)
		if sym.name == 0 || uint64(sym.name) >= uint64(len(strs)) || int(sym.section) >= len(wanted) {
			continue
		}
		section := wanted[sym.section]
		if !section.allocated || !im.counts(sym, section, strs) {
			continue
		}
		addr := sym.value
		if im.Machine == elf.EM_ARM && sym.kind() == elf.STT_FUNC {
			addr &^= 1 // marks Thumb code
		}
		off, ok := e.runtime.toOffset(addr)
		if !ok {
			off = addr - section.addr + section.offset
		}
		end := off + sym.size
		if end < off {
			continue
		}
		e.list = append(e.list, entry{start: off, end: end, name: textAt + sym.name, rank: sym.rank()})
	}
	return nil
}

// rawSymbol is a line of a symbol table.
type rawSymbol struct {
	value, size uint64
	name        uint32
	section     uint16
	info, other byte
}

func (s *rawSymbol) kind() elf.SymType { return elf.SymType(s.info & 0xf) }

func (s *rawSymbol) rank() rank {
	switch elf.SymBind(s.info >> 4) {
	case elf.STB_WEAK:
		return weak
	case elf.STB_GLOBAL:
		return global
	}
	return local // STB_GNU_UNIQUE too
}

func (im *image) parseSymbol(b []byte) rawSymbol {
	o := im.ByteOrder
	if im.Class == elf.ELFCLASS32 {
		return rawSymbol{
			name: o.Uint32(b), value: uint64(o.Uint32(b[4:])), size: uint64(o.Uint32(b[8:])),
			info: b[12], other: b[13], section: o.Uint16(b[14:]),
		}
	}
	return rawSymbol{
		name: o.Uint32(b), info: b[4], other: b[5], section: o.Uint16(b[6:]),
		value: o.Uint64(b[8:]), size: o.Uint64(b[16:]),
	}
}

// wanted is what a symbol's section says about it.
type wanted struct {
	allocated    bool // occupies memory when the program runs
	labels       bool // labels in it count
	addr, offset uint64
}

func (e *elfSymbols) wantedSections(im *image) []wanted {
	list := make([]wanted, len(im.Sections))
	for i, s := range im.Sections {
		if s.Type == elf.SHT_NOBITS && i < len(e.runtime.Sections) {
			s = e.runtime.Sections[i] // a debug file lacks it, and so where it was
		}
		list[i] = wanted{
			allocated: s.Flags&elf.SHF_ALLOC != 0,
			labels:    strings.Contains(s.Name, "text") || strings.Contains(s.Name, "data"),
			addr:      s.Addr,
			offset:    s.Offset,
		}
	}
	return list
}

// counts reports whether perf takes a symbol: functions, objects, and visible labels in
// sections of code or data, but not the mapping symbols with which ARM and RISC-V mark
// where code and data begin ($a, $d, $t, $x).
func (im *image) counts(s rawSymbol, in wanted, strs []byte) bool {
	switch s.kind() {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC, elf.STT_OBJECT:
	case elf.STT_NOTYPE:
		if v := elf.SymVis(s.other & 3); !in.labels || v == elf.STV_HIDDEN || v == elf.STV_INTERNAL {
			return false
		}
	default:
		return false
	}
	switch im.Machine {
	case elf.EM_ARM, elf.EM_AARCH64, elf.EM_RISCV:
		name := cstring(strs, s.name)
		if len(name) > 1 && name[0] == '$' && bytes.IndexByte([]byte("adtx"), name[1]) >= 0 &&
			(len(name) == 2 || name[2] == '.' || im.Machine == elf.EM_RISCV) {
			return false
		}
		// Local labels of RISC-V are as many as branches.
		if im.Machine == elf.EM_RISCV && bytes.HasPrefix(name, []byte(".L")) {
			return false
		}
	}
	return true
}

// index makes the table that is searched. The stubs of the PLT come last, as in perf: a
// symbol of unknown size before them reaches over them.
func (e *elfSymbols) index() (*index, error) {
	sortEntries(e.list)
	fillEnds(e.list)
	var ties []tie
	e.list, ties = dropAliases(e.list, e.text, demangle)
	stubs, err := readPLT(e.runtime)
	if err == nil && len(stubs) > 0 {
		err = e.addStubs(stubs)
	}
	x := newIndex(e.list, e.text, demangle)
	x.ties = ties
	return x, err
}

func (e *elfSymbols) addStubs(stubs []stub) error {
	named := newIndex(e.list, e.text, nil)
	for _, s := range stubs {
		off, _ := e.runtime.toOffset(s.addr)
		end := off + s.size
		if i := named.find(off); end < off || i >= 0 && named.starts[i] == off {
			continue // the symbol table knows better
		}
		st := entry{start: off, end: end, rank: global, plt: true}
		switch {
		case s.name == "":
			resolver, _ := e.runtime.toOffset(s.resolver)
			i := named.find(resolver)
			if i < 0 {
				continue
			}
			st.name = named.names[i]
		case s.name == ".plt":
			st.plt = false
			fallthrough
		default:
			at, err := e.addText([]byte(s.name))
			if err != nil {
				return err
			}
			st.name = at
		}
		e.list = append(e.list, st)
	}
	sortEntries(e.list)
	return nil
}
