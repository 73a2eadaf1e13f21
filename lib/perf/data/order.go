package data

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// order is the byte order of a recording: that of the machine it was made on.
type order struct{ big bool }

func (o order) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if o.big {
		return bits.ReverseBytes16(v)
	}
	return v
}

func (o order) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if o.big {
		return bits.ReverseBytes32(v)
	}
	return v
}

func (o order) u64(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if o.big {
		return bits.ReverseBytes64(v)
	}
	return v
}

// A cursor reads fields one after the other. What lies behind the end is 0, and short is
// set.
type cursor struct {
	order
	b     []byte
	short bool
}

// take returns the next n bytes, nil where there are not as many.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.short, c.b = true, nil
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) u8() uint8 {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return c.order.u16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return c.order.u32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return c.order.u64(b)
	}
	return 0
}

// words returns the next n numbers of 8 bytes.
func (c *cursor) words(n uint64) []byte {
	if n > uint64(len(c.b))/8 {
		c.short, c.b = true, nil
		return nil
	}
	return c.take(8 * n)
}

// text reads a string of a feature: its length with padding, then its bytes.
func (c *cursor) text() string { return cString(c.take(uint64(c.u32()))) }

// line reads a string that ends in a zero.
func (c *cursor) line() string {
	i := bytes.IndexByte(c.b, 0)
	if i < 0 {
		c.short, c.b = true, nil
		return ""
	}
	s := string(c.b[:i])
	c.b = c.b[i+1:]
	return s
}

// untilZero returns the part of b in front of its first zero.
func untilZero(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

func cString(b []byte) string { return string(untilZero(b)) }
