package symbol

// Table names the addresses of one module. It is safe for concurrent use.
type Table struct {
	index   *index
	delta   uint64 // what is added to an address before it is looked up
	problem *Problem
}

// Problem returns why the table lacks names, or nil.
func (t *Table) Problem() *Problem { return t.problem }

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
	return Symbol{t.index.name(i), t.index.starts[i] - t.delta, t.index.ends[i] - t.delta}, true
}

// Frames returns the functions at an offset, inlined ones first, innermost before outer,
// and last the one that they were put into. It returns nil where there is no DWARF.
func (t *Table) Frames(off uint64) []Frame { return nil }
