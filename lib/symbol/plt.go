package symbol

import (
	"bytes"
	"debug/elf"
	"fmt"
)

// plt makes symbols for the stubs through which a program calls other libraries: no symbol
// table has them, and perf calls them name@plt.
//
// On x86 each stub is read for the slot of the global offset table that it jumps through:
// relocations say whose it is. That holds for .plt, .plt.sec and .plt.got, whatever their
// order. Elsewhere stubs come in the order of their relocations.
type plt struct {
	im      *image
	strs    []byte // of .dynsym
	symbols []byte
	slots   map[uint64]relocation // by address of the slot
	jumps   []relocation          // of .rela.plt, in order
}

type relocation struct {
	slot   uint64
	symbol uint32
	addend uint64
}

// stub is an entry of a PLT.
type stub struct {
	addr, size uint64
	name       string // empty for a function of this file that is chosen when the program starts
	resolver   uint64 // the address of what chooses it
}

// readPLT returns the stubs of an image.
func readPLT(im *image) (stubs []stub, err error) {
	defer recovered(im.path, &err)
	dyn := im.SectionByType(elf.SHT_DYNSYM)
	if dyn == nil || dyn.Type == elf.SHT_NOBITS || im.Section(".plt") == nil && im.Section(".plt.got") == nil {
		return nil, nil
	}
	p := &plt{im: im, symbols: im.contents(dyn), strs: im.contents(im.section(dyn.Link)), slots: map[uint64]relocation{}}
	for _, s := range im.Sections {
		if s.Type != elf.SHT_REL && s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		list, err := p.relocations(s)
		if err != nil {
			return nil, err
		}
		if s.Name == ".rela.plt" || s.Name == ".rel.plt" {
			p.jumps = list
		}
		for _, r := range list {
			p.slots[r.slot] = r
		}
	}
	switch im.Machine {
	case elf.EM_X86_64, elf.EM_386:
		for _, name := range []string{".plt", ".plt.sec", ".plt.got"} {
			if s := im.Section(name); s != nil {
				stubs = append(stubs, p.decode(s)...)
			}
		}
	default:
		stubs = p.count()
	}
	return stubs, nil
}

// relocations reads a section of them; only those for slots of functions are kept.
func (p *plt) relocations(s *elf.Section) ([]relocation, error) {
	data := p.im.contents(s)
	if data == nil && s.FileSize > 0 {
		return nil, fmt.Errorf("%s: %s is not in the file", p.im.path, s.Name)
	}
	o, wide, addends := p.im.ByteOrder, p.im.Class == elf.ELFCLASS64, s.Type == elf.SHT_RELA
	size := 8
	if wide {
		size *= 2
	}
	if addends {
		size += size / 2
	}
	var list []relocation
	for ; len(data) >= size; data = data[size:] {
		var r relocation
		var kind uint32
		if wide {
			r.slot, kind, r.symbol = o.Uint64(data), uint32(o.Uint64(data[8:])), uint32(o.Uint64(data[8:])>>32)
			if addends {
				r.addend = o.Uint64(data[16:])
			}
		} else {
			info := o.Uint32(data[4:])
			r.slot, kind, r.symbol = uint64(o.Uint32(data)), info&0xff, info>>8
			if addends {
				r.addend = uint64(o.Uint32(data[8:]))
			}
		}
		if s.Name == ".rela.plt" || s.Name == ".rel.plt" || p.isSlot(kind) {
			list = append(list, r)
		}
	}
	return list, nil
}

// isSlot reports whether a relocation of x86 fills a slot of the global offset table:
// GLOB_DAT, JUMP_SLOT and IRELATIVE.
func (p *plt) isSlot(kind uint32) bool {
	switch p.im.Machine {
	case elf.EM_X86_64:
		switch elf.R_X86_64(kind) {
		case elf.R_X86_64_GLOB_DAT, elf.R_X86_64_JMP_SLOT, elf.R_X86_64_IRELATIVE:
			return true
		}
	case elf.EM_386:
		switch elf.R_386(kind) {
		case elf.R_386_GLOB_DAT, elf.R_386_JMP_SLOT, elf.R_386_IRELATIVE:
			return true
		}
	}
	return false
}

// stub names an entry by its relocation.
func (p *plt) stub(addr, size uint64, r relocation) (stub, bool) {
	if r.symbol == 0 {
		return stub{addr: addr, size: size, resolver: r.addend}, r.addend != 0
	}
	entry := 24
	if p.im.Class == elf.ELFCLASS32 {
		entry = 16
	}
	at := uint64(r.symbol) * uint64(entry)
	if at+uint64(entry) > uint64(len(p.symbols)) {
		return stub{}, false
	}
	name := cstring(p.strs, p.im.parseSymbol(p.symbols[at:]).name)
	return stub{addr: addr, size: size, name: string(name)}, len(name) > 0
}

var endbr = [2][]byte{{0xf3, 0x0f, 0x1e, 0xfa}, {0xf3, 0x0f, 0x1e, 0xfb}} // of 64 and 32 bits

// decode reads the stubs of a section of x86 code.
func (p *plt) decode(s *elf.Section) []stub {
	code := p.im.contents(s)
	size := s.Entsize
	if size != 8 && size != 16 {
		size = 16
	}
	var stubs []stub
	for at := uint64(0); at+size <= uint64(len(code)); at += size {
		addr := s.Addr + at
		b := bytes.TrimPrefix(bytes.TrimPrefix(code[at:at+size], endbr[0]), endbr[1])
		if len(b) > 0 && b[0] == 0xf2 { // bnd
			b = b[1:]
		}
		if len(b) < 6 {
			continue
		}
		operand := p.im.ByteOrder.Uint32(b[2:])
		next := addr + size - uint64(len(b)) + 6 // where the jump ends
		switch {
		case b[0] == 0xff && b[1] == 0x35, b[0] == 0xff && b[1] == 0xb3: // push: the way into the linker
			if at == 0 {
				stubs = append(stubs, stub{addr: addr, size: size, name: ".plt"})
			}
		case b[0] == 0xff && b[1] == 0x25 && p.im.Machine == elf.EM_X86_64:
			stubs = p.bySlot(stubs, addr, size, next+uint64(int64(int32(operand))))
		case b[0] == 0xff && b[1] == 0x25:
			stubs = p.bySlot(stubs, addr, size, uint64(operand))
		case b[0] == 0xff && b[1] == 0xa3: // relative to the table, whose address is in EBX
			stubs = p.bySlot(stubs, addr, size, uint64(uint32(p.got())+operand))
		case b[0] == 0x68: // push: the number of the relocation
			n := uint64(p.im.ByteOrder.Uint32(b[1:]))
			if p.im.Machine == elf.EM_386 {
				n /= 8 // there it is an offset
			}
			if n < uint64(len(p.jumps)) {
				if st, ok := p.stub(addr, size, p.jumps[n]); ok {
					stubs = append(stubs, st)
				}
			}
		}
	}
	return stubs
}

func (p *plt) bySlot(stubs []stub, addr, size, slot uint64) []stub {
	if r, ok := p.slots[slot]; ok {
		if st, ok := p.stub(addr, size, r); ok {
			return append(stubs, st)
		}
	}
	return stubs
}

// got returns the address that EBX has in position-independent code of i386.
func (p *plt) got() uint64 {
	for _, name := range []string{".got.plt", ".got"} {
		if s := p.im.Section(name); s != nil {
			return s.Addr
		}
	}
	return 0
}

// count names the stubs of other machines, which follow a header in the order of their
// relocations.
func (p *plt) count() []stub {
	s := p.im.Section(".plt")
	if s == nil {
		return nil
	}
	header, size := s.Entsize, s.Entsize
	switch p.im.Machine {
	case elf.EM_ARM:
		header, size = 20, 12
	case elf.EM_AARCH64, elf.EM_RISCV:
		header, size = 32, 16
	}
	if size == 0 || header > s.Size {
		return nil
	}
	stubs := []stub{{addr: s.Addr, size: header, name: ".plt"}}
	addr := s.Addr + header
	for _, r := range p.jumps {
		if addr+size > s.Addr+s.Size {
			break
		}
		if st, ok := p.stub(addr, size, r); ok {
			stubs = append(stubs, st)
		}
		addr += size
	}
	return stubs
}
