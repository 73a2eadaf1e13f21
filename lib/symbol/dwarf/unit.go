package dwarf

import (
	"sort"
	"sync"
)

// unit is a part of .debug_info, mostly what came from one source file.
type unit struct {
	d *Data
	format
	off, first, end uint64 // in .debug_info: its header, its first entry, what follows it
	abbrevOff       uint64
	low             uint64 // what its ranges are relative to
	stmtList        value
	compDir         []byte

	strOffsetsBase, addrBase, rnglistsBase uint64

	once sync.Once
	tree tree
}

// Types of units, of DWARF 5, section 7.5.1.
const (
	unitType     = 2
	unitSkeleton = 4
	unitSplit    = 5
	unitSplitTyp = 6
)

// readUnits reads the header and the first entry of each unit.
func (d *Data) readUnits() error {
	c := at(d.Info, 0, d.Order)
	var specs [64]spec
	for c.more() {
		u := &unit{d: d, off: uint64(c.off)}
		n, wide := c.length()
		u.wide = wide
		if c.failed || n > uint64(len(d.Info)-c.off) {
			d.err = errf(".debug_info is cut at 0x%x", u.off)
			break
		}
		u.end = uint64(c.off) + n
		body := cursor{data: d.Info[:u.end], off: c.off, order: d.Order}
		c.off = int(u.end)
		if err := u.header(&body); err != nil {
			d.note(err)
			continue
		}
		d.units = append(d.units, u)
		if err := u.root(&body, specs[:0], len(d.units)-1); err != nil {
			d.note(err)
		}
	}
	d.code.sort()
	return nil
}

func (u *unit) header(c *cursor) error {
	u.version = c.u16()
	if u.version < 2 || u.version > 5 {
		return errf("DWARF version %d of the unit at 0x%x is not known", u.version, u.off)
	}
	kind := uint8(0)
	if u.version >= 5 {
		kind = c.u8()
		u.addrSize = c.u8()
		u.abbrevOff = c.offset(u.wide)
	} else {
		u.abbrevOff = c.offset(u.wide)
		u.addrSize = c.u8()
	}
	switch kind {
	case unitSkeleton, unitSplit:
		c.skip(8)
	case unitType, unitSplitTyp:
		c.skip(8 + u.offsetSize())
	}
	if c.failed || u.addrSize != 4 && u.addrSize != 8 {
		return errf("the header of the unit at 0x%x is malformed", u.off)
	}
	u.first = uint64(c.off)
	// Behind the headers of .debug_str_offsets and .debug_addr, unless the unit says.
	u.strOffsetsBase, u.addrBase = 2*u.offsetSize(), 2*u.offsetSize()
	if u.version < 5 {
		u.strOffsetsBase, u.addrBase = 0, 0
	}
	return nil
}

// root reads the unit's own entry: where its code is, its lines, and the bases of tables,
// which attributes before them may need already: hence twice.
func (u *unit) root(c *cursor, specs []spec, index int) error {
	code := c.uleb()
	if code == 0 || c.failed {
		return nil
	}
	a, err := u.d.findAbbrev(u.abbrevOff, code, specs)
	if err != nil {
		return err
	}
	if err := u.d.spend(2 * len(a.specs)); err != nil {
		return err
	}
	start := *c
	for _, s := range a.specs {
		v, _ := u.value(c, s).offset()
		switch s.attr {
		case attrStrOffsetsBase:
			u.strOffsetsBase = v
		case attrAddrBase:
			u.addrBase = v
		case attrRnglistsBase:
			u.rnglistsBase = v
		}
	}
	*c = start
	var e extent
	for _, s := range a.specs {
		v := u.value(c, s)
		switch s.attr {
		case attrStmtList:
			u.stmtList = v
		case attrCompDir:
			u.compDir = v.b
		case attrDwoName, attrGNUDwoName:
			if u.d.split == "" {
				u.d.split = string(v.b)
			}
		default:
			e.set(s.attr, v)
		}
	}
	if c.failed {
		return errf("the unit at 0x%x is malformed", u.off)
	}
	if a.tag != tagUnit && a.tag != tagSkeleton {
		return nil
	}
	if e.low.class == classAddr {
		u.low = e.low.u
	}
	// DWARF 2 has one range only: what lies outside of .text is not in it.
	if e.ranges.class == classNone && (u.version == 2 || e.high.class == classNone) && u.stmtList.class != classNone && a.children {
		u.d.loose = append(u.d.loose, u)
	}
	return u.spans(&e, func(s span) { u.d.code.add(s, int32(index)) })
}

// unitAt returns the unit of an entry, or nil.
func (d *Data) unitAt(off uint64) *unit {
	i := sort.Search(len(d.units), func(i int) bool { return d.units[i].off > off }) - 1
	if i < 0 || off < d.units[i].first || off >= d.units[i].end {
		return nil
	}
	return d.units[i]
}
