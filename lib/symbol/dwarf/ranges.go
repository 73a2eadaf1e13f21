package dwarf

// span is a half-open range of addresses.
type span struct{ lo, hi uint64 }

// rangeCost is what a range of a list costs, for the memory that it takes: lists may be
// referred to from everywhere.
const rangeCost = 16

// extent gathers the attributes that say where an entry's code lies.
type extent struct{ low, high, ranges value }

func (e *extent) set(attr uint16, v value) bool {
	switch attr {
	case attrLowPC:
		e.low = v
	case attrHighPC:
		e.high = v
	case attrRanges:
		e.ranges = v
	default:
		return false
	}
	return true
}

// spans calls add for each range of an extent.
func (u *unit) spans(e *extent, add func(span)) error {
	if e.ranges.class != classNone {
		return u.rangeList(e.ranges, add)
	}
	if e.low.class != classAddr {
		return nil
	}
	s := span{lo: e.low.u}
	switch e.high.class {
	case classAddr:
		s.hi = e.high.u
	case classUint: // since DWARF 4 the size
		s.hi = s.lo + e.high.u
	}
	if u.live(s) {
		add(s)
	}
	return nil
}

// live reports whether a range has code: linkers move what they dropped to 0, 1, or -1.
func (u *unit) live(s span) bool {
	return s.lo < s.hi && s.lo > 1
}

func (u *unit) rangeList(v value, add func(span)) error {
	if u.version < 5 {
		off, ok := v.offset()
		if !ok {
			return nil
		}
		return u.oldRanges(off, add)
	}
	off, ok := v.offset()
	if v.class == classList {
		size := uint64(4)
		if u.wide {
			size = 8
		}
		if v.u > uint64(len(u.d.RngLists)) {
			return errf("range list %d is outside of .debug_rnglists", v.u)
		}
		c := at(u.d.RngLists, u.rnglistsBase+v.u*size, u.d.Order)
		off, ok = u.rnglistsBase+c.offset(u.wide), !c.failed
	}
	if !ok {
		return errf("a range list that is no offset")
	}
	return u.newRanges(off, add)
}

// oldRanges reads .debug_ranges of DWARF 2 to 4: pairs of addresses relative to a base,
// which a pair that begins with the largest address sets.
func (u *unit) oldRanges(off uint64, add func(span)) error {
	c := at(u.d.Ranges, off, u.d.Order)
	base, top := u.low, ^uint64(0)
	if u.addrSize < 8 {
		top = 1<<(8*u.addrSize) - 1
	}
	for {
		if err := u.d.spend(rangeCost); err != nil {
			return err
		}
		lo, hi := c.uint(u.addrSize), c.uint(u.addrSize)
		switch {
		case c.failed:
			return errf(".debug_ranges is cut")
		case lo == 0 && hi == 0:
			return nil
		case lo == top:
			base = hi
		case u.live(span{base + lo, base + hi}):
			add(span{base + lo, base + hi})
		}
	}
}

// newRanges reads .debug_rnglists of DWARF 5, section 7.25.
func (u *unit) newRanges(off uint64, add func(span)) error {
	c := at(u.d.RngLists, off, u.d.Order)
	base := u.low
	for {
		if err := u.d.spend(rangeCost); err != nil {
			return err
		}
		var s span
		kind := c.u8()
		if c.failed {
			return errf(".debug_rnglists is cut")
		}
		switch kind {
		case 0: // end of list
			return nil
		case 1: // base address, indexed
			base = u.indexedAddr(c.uleb()).u
		case 2: // start and end, indexed
			s.lo, s.hi = u.indexedAddr(c.uleb()).u, u.indexedAddr(c.uleb()).u
		case 3: // start, indexed, and length
			s.lo = u.indexedAddr(c.uleb()).u
			s.hi = s.lo + c.uleb()
		case 4: // offsets from the base
			s.lo, s.hi = base+c.uleb(), base+c.uleb()
		case 5: // base address
			base = c.uint(u.addrSize)
		case 6: // start and end
			s.lo, s.hi = c.uint(u.addrSize), c.uint(u.addrSize)
		case 7: // start and length
			s.lo = c.uint(u.addrSize)
			s.hi = s.lo + c.uleb()
		default:
			return errf("a range of unknown kind %d", kind)
		}
		if !c.failed && u.live(s) {
			add(s)
		}
	}
}
