package dwarf

// The tags, attributes and forms that matter here, by the numbers of DWARF 5, section 7.
const (
	tagClass       = 0x02
	tagEnum        = 0x04
	tagUnit        = 0x11
	tagStruct      = 0x13
	tagUnion       = 0x17
	tagInlined     = 0x1d
	tagModule      = 0x1e
	tagSubprogram  = 0x2e
	tagNamespace   = 0x39
	tagInterface   = 0x38
	tagPartialUnit = 0x3c
	tagSkeleton    = 0x4a

	attrName           = 0x03
	attrStmtList       = 0x10
	attrLowPC          = 0x11
	attrHighPC         = 0x12
	attrCompDir        = 0x1b
	attrAbstractOrigin = 0x31
	attrSpecification  = 0x47
	attrRanges         = 0x55
	attrCallFile       = 0x58
	attrCallLine       = 0x59
	attrLinkageName    = 0x6e
	attrStrOffsetsBase = 0x72
	attrAddrBase       = 0x73
	attrRnglistsBase   = 0x74
	attrDwoName        = 0x76
	attrMIPSLinkage    = 0x2007
	attrGNUDwoName     = 0x2130

	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData2         = 0x05
	formData4         = 0x06
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formData1         = 0x0b
	formFlag          = 0x0c
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01
	formGNUStrIndex   = 0x1f02
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
)

// spec says how an attribute of an abbreviated entry is written.
type spec struct {
	attr, form uint16
	value      int64 // of formImplicitConst
}

// abbrev is the shape of entries with one code.
type abbrev struct {
	tag      uint16
	children bool
	fixed    bool   // all its attributes have sizes that do not depend on their values
	size     uint64 // of the attributes, if so
	specs    []spec
}

// measure finds out whether entries of this shape can be skipped in one step.
func (a *abbrev) measure(f format) {
	a.fixed = true
	for _, s := range a.specs {
		n, ok := f.size(s.form)
		if !ok {
			a.fixed = false
			return
		}
		a.size += n
	}
}

// format is what the sizes of values depend on besides their form.
type format struct {
	version  uint16
	wide     bool  // the 64-bit format of DWARF
	addrSize uint8 // of the machine: 4 or 8
}

func (f format) offsetSize() uint64 {
	if f.wide {
		return 8
	}
	return 4
}

// size returns the size of a form's values where they all have the same.
func (f format) size(form uint16) (n uint64, ok bool) {
	switch form {
	case formFlagPresent, formImplicitConst:
		return 0, true
	case formData1, formFlag, formRef1, formStrx1, formAddrx1:
		return 1, true
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2, true
	case formStrx3, formAddrx3:
		return 3, true
	case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
		return 4, true
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8, true
	case formData16:
		return 16, true
	case formAddr:
		return uint64(f.addrSize), true
	case formStrp, formLineStrp, formSecOffset, formStrpSup, formGNUStrpAlt, formGNURefAlt:
		return f.offsetSize(), true
	case formRefAddr:
		if f.version == 2 {
			return uint64(f.addrSize), true
		}
		return f.offsetSize(), true
	}
	return 0, false
}

// abbrevs are the abbreviations of a unit by their codes, which compilers count from 1.
type abbrevs struct {
	dense  []abbrev
	sparse map[uint64]*abbrev
}

func (a *abbrevs) get(code uint64) *abbrev {
	if code-1 < uint64(len(a.dense)) {
		return &a.dense[code-1]
	}
	return a.sparse[code]
}

// abbreviation reads the next declaration of a table; code is 0 at its end.
func abbreviation(c *cursor, specs []spec) (code uint64, a abbrev) {
	code = c.uleb()
	if code == 0 {
		return 0, abbrev{}
	}
	a.tag = clamp(c.uleb())
	a.children = c.u8() != 0
	for !c.failed {
		s := spec{attr: clamp(c.uleb()), form: clamp(c.uleb())}
		if s.form == formImplicitConst {
			s.value = c.sleb()
		}
		if s.attr == 0 && s.form == 0 {
			break
		}
		specs = append(specs, s)
	}
	a.specs = specs
	return code, a
}

// clamp maps numbers that no version of DWARF has to one that none uses.
func clamp(v uint64) uint16 {
	if v > 0xffff {
		return 0xffff
	}
	return uint16(v)
}

// abbrevKey is what a table is kept by: linkers merge the tables of many units into one.
type abbrevKey struct {
	off uint64
	format
}

func (d *Data) abbrevs(u *unit) (*abbrevs, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := abbrevKey{u.abbrevOff, u.format}
	if a := d.tables[key]; a != nil {
		return a, nil
	}
	a, err := d.readAbbrevs(key)
	if err == nil {
		d.tables[key] = a
	}
	return a, err
}

// readAbbrevs reads a whole table.
func (d *Data) readAbbrevs(key abbrevKey) (*abbrevs, error) {
	c := at(d.Abbrev, key.off, d.Order)
	a := &abbrevs{}
	for {
		before := c.off
		code, ab := abbreviation(&c, nil)
		if c.failed {
			return nil, errf("abbreviations at 0x%x are cut", key.off)
		}
		if err := d.spend(c.off - before); err != nil {
			return nil, err
		}
		ab.measure(key.format)
		switch {
		case code == 0:
			return a, nil
		case code == uint64(len(a.dense))+1:
			a.dense = append(a.dense, ab)
		default:
			if a.sparse == nil {
				a.sparse = map[uint64]*abbrev{}
			}
			a.sparse[code] = &ab
		}
	}
}

// findAbbrev reads a table up to one code: enough for the first entry of a unit.
func (d *Data) findAbbrev(off, want uint64, buf []spec) (abbrev, error) {
	c := at(d.Abbrev, off, d.Order)
	for {
		before := c.off
		code, ab := abbreviation(&c, buf[:0])
		if c.failed || code == 0 {
			return abbrev{}, errf("no abbreviation %d at 0x%x", want, off)
		}
		if err := d.spend(c.off - before); err != nil {
			return abbrev{}, err
		}
		if code == want {
			return ab, nil
		}
		buf = ab.specs
	}
}
