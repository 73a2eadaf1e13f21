package dwarf

import (
	"bytes"
	"encoding/binary"
)

// cursor reads a section from front to back. Reading past its end yields zeros and sets
// failed, and the cursor stays there: callers check once, after a whole record.
type cursor struct {
	data   []byte
	off    int
	failed bool
	order  binary.ByteOrder
}

// at returns a cursor at an offset of data.
func at(data []byte, off uint64, order binary.ByteOrder) cursor {
	if off > uint64(len(data)) {
		return cursor{data: data, off: len(data), failed: true, order: order}
	}
	return cursor{data: data, off: int(off), order: order}
}

func (c *cursor) fail() {
	c.off, c.failed = len(c.data), true
}

func (c *cursor) more() bool { return c.off < len(c.data) }

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.data)-c.off) {
		c.fail()
		return nil
	}
	b := c.data[c.off : c.off+int(n)]
	c.off += int(n)
	return b
}

func (c *cursor) skip(n uint64) { c.bytes(n) }

func (c *cursor) u8() uint8 {
	if c.off >= len(c.data) {
		c.fail()
		return 0
	}
	c.off++
	return c.data[c.off-1]
}

func (c *cursor) u16() uint16 {
	if b := c.bytes(2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

func (c *cursor) u24() uint32 {
	b := c.bytes(3)
	if b == nil {
		return 0
	}
	if c.order == binary.ByteOrder(binary.BigEndian) {
		return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
	}
	return uint32(b[2])<<16 | uint32(b[1])<<8 | uint32(b[0])
}

func (c *cursor) u32() uint32 {
	if b := c.bytes(4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.bytes(8); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}

// uint reads a number of 1, 2, 4 or 8 bytes.
func (c *cursor) uint(size uint8) uint64 {
	switch size {
	case 1:
		return uint64(c.u8())
	case 2:
		return uint64(c.u16())
	case 4:
		return uint64(c.u32())
	case 8:
		return c.u64()
	}
	c.fail()
	return 0
}

func (c *cursor) uleb() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

func (c *cursor) sleb() int64 {
	var v int64
	for shift := uint(0); ; {
		b := c.u8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// cstring reads the bytes up to the next NUL.
func (c *cursor) cstring() []byte {
	end := bytes.IndexByte(c.data[c.off:], 0)
	if end < 0 {
		c.fail()
		return nil
	}
	s := c.data[c.off : c.off+end]
	c.off += end + 1
	return s
}

// length reads the length of a unit and tells its format, 32 or 64 bits.
func (c *cursor) length() (n uint64, wide bool) {
	n = uint64(c.u32())
	switch {
	case n == 0xffffffff:
		return c.u64(), true
	case n >= 0xfffffff0: // reserved
		c.fail()
		return 0, false
	}
	return n, false
}

// offset reads an offset into a section, of 4 or 8 bytes.
func (c *cursor) offset(wide bool) uint64 {
	if wide {
		return c.u64()
	}
	return uint64(c.u32())
}
