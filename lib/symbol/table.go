package symbol

// Table names the addresses of one module. It is safe for concurrent use.
type Table struct {
	index   *index
	delta   uint64 // what is added to an address before it is looked up
	problem *Problem

	stripped func() *Problem // nil unless names are missing for that reason: who has them is looked up when asked
	lines    *lines          // nil where none are looked for
}

// Problem returns why the table lacks names, or nil. Once Frames was called it may also be
// why it lacks inlined functions. Looking for what would help takes some milliseconds:
// ask for modules with unresolved addresses only.
func (t *Table) Problem() *Problem {
	if t.problem != nil {
		return t.problem
	}
	if t.stripped != nil {
		return t.stripped()
	}
	if t.lines != nil {
		return t.lines.problem.Load()
	}
	return nil
}

// Symbol returns the symbol at an offset: a file offset (ip - map start + map offset), or
// an address where the module's [Kind] says so.
func (t *Table) Symbol(off uint64) (Symbol, bool) {
	if t.index == nil {
		return Symbol{}, false
	}
	i := t.index.find(off + t.delta)
	if i < 0 {
		return Symbol{}, false
	}
	return Symbol{t.index.name(i), t.index.starts[i] - t.delta, t.index.end(i) - t.delta}, true
}

// Frames returns the functions at an offset, inlined ones first, innermost before outer,
// and last the one that they were put into, which has the name that Symbol returns if
// there is one. It returns nil where there is no DWARF for it.
//
// The first call for a module looks for its debug information, the first for a unit parses
// that: callers should ask once per address.
func (t *Table) Frames(off uint64) []Frame {
	if t.lines == nil {
		return nil
	}
	frames := t.lines.at(off)
	if len(frames) == 0 {
		return nil
	}
	if s, ok := t.Symbol(off); ok {
		frames[len(frames)-1].Name = s.Name
	}
	return frames
}
