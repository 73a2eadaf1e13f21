package dwarf

import (
	"slices"
	"sort"
	"strings"
)

// function is one that has code of its own, or was inlined into one that has.
type function struct {
	off                uint64 // its entry in .debug_info, which leads to its name
	parent             int32  // the function that it was inlined into, or -1
	callFile, callLine uint32 // where that calls it
	inlined            bool
}

// tree is what a unit says about its functions.
type tree struct {
	abbrevs *abbrevs
	list    []function
	code    intervals // of the list
	scopes  []scope
	members []member // by offset
}

// scope is what qualifies the names of the functions in it: a namespace, a class, or a
// function that has a class of its own, such as a lambda.
type scope struct {
	off    uint64
	parent int32
	tag    uint16
}

// member is a function in a scope.
type member struct {
	off   uint64
	scope int32
}

// functions reads the unit when it is asked for first.
func (u *unit) functions() *tree {
	u.once.Do(func() {
		if err := u.walk(); err != nil {
			u.d.note(errf("the unit at 0x%x: %w", u.off, err))
		}
		u.tree.code.sort()
	})
	return &u.tree
}

// level is where the walk stands: what encloses the next entry.
type level struct {
	fn    int32  // the function with code, or -1
	scope int32  // or -1
	sub   uint64 // the function in that scope, 0 where there is none
}

func (u *unit) walk() (err error) {
	defer guard(&err)()
	t := &u.tree
	if t.abbrevs, err = u.d.abbrevs(u); err != nil {
		return err
	}
	c := cursor{data: u.d.Info[:u.end], off: int(u.first), order: u.d.Order}
	stack := []level{{fn: -1, scope: -1}}
	for c.more() {
		off := uint64(c.off)
		code := c.uleb()
		if code == 0 {
			if stack = stack[:len(stack)-1]; len(stack) <= 1 {
				break
			}
			continue
		}
		a := t.abbrevs.get(code)
		if a == nil {
			return errf("no abbreviation %d", code)
		}
		if err := u.d.spend(1 + len(a.specs)); err != nil {
			return err
		}
		next := stack[len(stack)-1]
		switch a.tag {
		case tagSubprogram, tagInlined:
			if next.fn, err = u.function(&c, a, off, next); err != nil {
				return err
			}
			if a.tag == tagSubprogram {
				next.sub = off
			}
		case tagNamespace, tagClass, tagStruct, tagUnion, tagEnum, tagInterface, tagModule:
			u.skip(&c, a)
			if a.children {
				if next.sub != 0 {
					next.scope = t.addScope(next.sub, next.scope, tagSubprogram)
				}
				next.scope, next.sub = t.addScope(off, next.scope, a.tag), 0
			}
		default:
			u.skip(&c, a)
		}
		if c.failed {
			return errf("the entry at 0x%x is cut", off)
		}
		if a.children {
			stack = append(stack, next)
		} else if len(stack) == 1 { // a unit without entries
			break
		}
	}
	return nil
}

func (t *tree) addScope(off uint64, parent int32, tag uint16) int32 {
	t.scopes = append(t.scopes, scope{off, parent, tag})
	return int32(len(t.scopes) - 1)
}

func (u *unit) skip(c *cursor, a *abbrev) {
	if a.fixed {
		c.skip(a.size)
		return
	}
	for _, s := range a.specs {
		if n, ok := u.size(s.form); ok {
			c.skip(n)
		} else {
			u.value(c, s)
		}
	}
}

// function reads the entry of a function. It returns the number of the function if it has
// code here, else what encloses it.
func (u *unit) function(c *cursor, a *abbrev, off uint64, in level) (int32, error) {
	f := function{off: off, parent: -1, inlined: a.tag == tagInlined}
	var e extent
	for _, s := range a.specs {
		switch s.attr {
		case attrLowPC, attrHighPC, attrRanges:
			e.set(s.attr, u.value(c, s))
		case attrCallFile:
			f.callFile = uint32(u.value(c, s).u)
		case attrCallLine:
			f.callLine = uint32(u.value(c, s).u)
		default:
			if n, ok := u.size(s.form); ok {
				c.skip(n)
			} else {
				u.value(c, s)
			}
		}
	}
	t := &u.tree
	if in.scope >= 0 && in.sub == 0 {
		t.members = append(t.members, member{off, in.scope})
	}
	if f.inlined {
		f.parent = in.fn
	}
	id, added := int32(len(t.list)), false
	err := u.spans(&e, func(s span) {
		t.code.add(s, id)
		added = true
	})
	if !added {
		return in.fn, err
	}
	t.list = append(t.list, f)
	return id, err
}

// name returns the name of a function by its entry.
func (d *Data) name(off uint64) string {
	d.mu.Lock()
	name, ok := d.names[off]
	d.mu.Unlock()
	if ok {
		return name
	}
	name, err := d.findName(off, true)
	if err != nil {
		d.note(err)
	}
	d.mu.Lock()
	d.names[off] = name
	d.mu.Unlock()
	return name
}

// findName follows an entry to where it was declared: from the inlined copy to the
// abstract function, from there to the declaration in a class. The first linkage name on
// the way wins; without one the name is qualified by what the declaration lies in.
func (d *Data) findName(off uint64, qualified bool) (string, error) {
	plain := ""
	for range hopsMax {
		u := d.unitAt(off)
		if u == nil {
			return plain, errf("0x%x is not in a unit", off)
		}
		e, err := u.entry(off)
		if err != nil {
			return plain, err
		}
		if e.linkage != nil {
			name := string(e.linkage)
			if d.Spell != nil {
				name = d.Spell(name)
			}
			return name, nil
		}
		if plain == "" {
			plain = string(e.name)
		}
		switch {
		case e.next.class == classRef:
			off = e.next.u
		case e.next.class == classAltRef && d.Alt != nil:
			d, off = d.Alt, e.next.u
		default:
			if plain != "" && qualified {
				plain = u.qualify(off, plain)
			}
			return plain, nil
		}
	}
	return plain, errf("the name of the entry at 0x%x is too far away", off)
}

// entry is what names a function, or leads to its name.
type entry struct {
	name, linkage []byte
	next          value
}

func (u *unit) entry(off uint64) (e entry, err error) {
	t := u.functions()
	if t.abbrevs == nil {
		return e, errf("the unit at 0x%x has no abbreviations", u.off)
	}
	c := cursor{data: u.d.Info[:u.end], off: int(off), order: u.d.Order}
	a := t.abbrevs.get(c.uleb())
	if a == nil {
		return e, errf("there is no entry at 0x%x", off)
	}
	if err := u.d.spend(len(a.specs)); err != nil {
		return e, err
	}
	for _, s := range a.specs {
		v := u.value(&c, s)
		switch s.attr {
		case attrName:
			e.name = v.b
		case attrLinkageName, attrMIPSLinkage:
			e.linkage = v.b
		case attrAbstractOrigin, attrSpecification:
			e.next = v
		}
	}
	return e, nil
}

// qualify puts the names of namespaces and classes before that of a function.
func (u *unit) qualify(off uint64, name string) string {
	t := u.functions()
	i := sort.Search(len(t.members), func(i int) bool { return t.members[i].off >= off })
	if i == len(t.members) || t.members[i].off != off {
		return name
	}
	parts := []string{name}
	for s := t.members[i].scope; s >= 0 && len(parts) < hopsMax; s = t.scopes[s].parent {
		var part string
		if at := t.scopes[s]; at.tag == tagSubprogram {
			part, _ = u.d.findName(at.off, false)
		} else if e, err := u.entry(at.off); err == nil {
			part = string(e.name)
		}
		switch {
		case part != "":
		case t.scopes[s].tag == tagNamespace:
			part = "(anonymous namespace)"
		case name == "operator()":
			part = "{lambda}"
		default:
			part = "{unnamed}"
		}
		parts = append(parts, part)
	}
	slices.Reverse(parts)
	return strings.Join(parts, "::")
}
