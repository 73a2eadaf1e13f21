package dwarf

// class says what a value is.
type class uint8

const (
	classNone   class = iota
	classUint         // a constant or a flag
	classAddr         // an address
	classString       // b
	classOffset       // into another section
	classRef          // u is an offset of .debug_info
	classAltRef       // of the supplementary file's
	classList         // u is an index of a range list
)

// value is what an attribute holds.
type value struct {
	class class
	u     uint64
	b     []byte
}

// value reads an attribute. Values that nothing here asks for are read over.
func (u *unit) value(c *cursor, s spec) value {
	form := s.form
	for form == formIndirect && !c.failed {
		form = clamp(c.uleb())
	}
	switch form {
	case formAddr:
		return value{class: classAddr, u: c.uint(u.addrSize)}
	case formData1, formFlag:
		return value{class: classUint, u: uint64(c.u8())}
	case formData2:
		return value{class: classUint, u: uint64(c.u16())}
	case formData4:
		return value{class: classUint, u: uint64(c.u32())}
	case formData8:
		return value{class: classUint, u: c.u64()}
	case formUdata:
		return value{class: classUint, u: c.uleb()}
	case formSdata:
		return value{class: classUint, u: uint64(c.sleb())}
	case formImplicitConst:
		return value{class: classUint, u: uint64(s.value)}
	case formFlagPresent:
		return value{class: classUint, u: 1}
	case formSecOffset:
		return value{class: classOffset, u: c.offset(u.wide)}
	case formString:
		return value{class: classString, b: c.cstring()}
	case formStrp:
		return u.d.stringAt(u.d.Str, c.offset(u.wide))
	case formLineStrp:
		return u.d.stringAt(u.d.LineStr, c.offset(u.wide))
	case formStrpSup, formGNUStrpAlt:
		off := c.offset(u.wide)
		if u.d.Alt == nil {
			return value{}
		}
		return u.d.stringAt(u.d.Alt.Str, off)
	case formStrx, formGNUStrIndex:
		return u.indexedString(c.uleb())
	case formStrx1:
		return u.indexedString(uint64(c.u8()))
	case formStrx2:
		return u.indexedString(uint64(c.u16()))
	case formStrx3:
		return u.indexedString(uint64(c.u24()))
	case formStrx4:
		return u.indexedString(uint64(c.u32()))
	case formAddrx, formGNUAddrIndex:
		return u.indexedAddr(c.uleb())
	case formAddrx1:
		return u.indexedAddr(uint64(c.u8()))
	case formAddrx2:
		return u.indexedAddr(uint64(c.u16()))
	case formAddrx3:
		return u.indexedAddr(uint64(c.u24()))
	case formAddrx4:
		return u.indexedAddr(uint64(c.u32()))
	case formRnglistx:
		return value{class: classList, u: c.uleb()}
	case formRef1:
		return value{class: classRef, u: u.off + uint64(c.u8())}
	case formRef2:
		return value{class: classRef, u: u.off + uint64(c.u16())}
	case formRef4:
		return value{class: classRef, u: u.off + uint64(c.u32())}
	case formRef8:
		return value{class: classRef, u: u.off + c.u64()}
	case formRefUdata:
		return value{class: classRef, u: u.off + c.uleb()}
	case formRefAddr:
		if u.version == 2 {
			return value{class: classRef, u: c.uint(u.addrSize)}
		}
		return value{class: classRef, u: c.offset(u.wide)}
	case formGNURefAlt:
		return value{class: classAltRef, u: c.offset(u.wide)}
	case formRefSup4:
		return value{class: classAltRef, u: uint64(c.u32())}
	case formRefSup8:
		return value{class: classAltRef, u: c.u64()}
	case formBlock1:
		c.skip(uint64(c.u8()))
	case formBlock2:
		c.skip(uint64(c.u16()))
	case formBlock4:
		c.skip(uint64(c.u32()))
	case formBlock, formExprloc:
		c.skip(c.uleb())
	case formData16:
		c.skip(16)
	case formRefSig8:
		c.skip(8)
	case formLoclistx:
		c.uleb()
	default: // how long it is nobody knows
		c.fail()
	}
	return value{}
}

// offset returns a value as an offset into another section, which before DWARF 4 is
// written as any number.
func (v value) offset() (uint64, bool) {
	return v.u, v.class == classOffset || v.class == classUint
}

func (d *Data) stringAt(section []byte, off uint64) value {
	c := at(section, off, d.Order)
	s := c.cstring()
	if c.failed {
		return value{}
	}
	return value{class: classString, b: s}
}

// indexedString follows .debug_str_offsets.
func (u *unit) indexedString(i uint64) value {
	size := uint64(4)
	if u.wide {
		size = 8
	}
	if i > uint64(len(u.d.StrOffsets)) {
		return value{}
	}
	c := at(u.d.StrOffsets, u.strOffsetsBase+i*size, u.d.Order)
	off := c.offset(u.wide)
	if c.failed {
		return value{}
	}
	return u.d.stringAt(u.d.Str, off)
}

// indexedAddr follows .debug_addr.
func (u *unit) indexedAddr(i uint64) value {
	if i > uint64(len(u.d.Addr)) {
		return value{}
	}
	c := at(u.d.Addr, u.addrBase+i*uint64(u.addrSize), u.d.Order)
	addr := c.uint(u.addrSize)
	if c.failed {
		return value{}
	}
	return value{class: classAddr, u: addr}
}
