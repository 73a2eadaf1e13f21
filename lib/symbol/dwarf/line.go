package dwarf

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// lineTable says which line each instruction came from.
type lineTable struct {
	rows    []row // by address
	files   []lineFile
	dirs    [][]byte
	compDir []byte
	version uint16
}

// row is the line of the instructions from addr to the next row. A row with end begins a
// gap.
type row struct {
	addr uint64
	line uint32
	file uint32
	end  bool
}

type lineFile struct {
	dir  uint64
	name []byte
}

// lineTable returns the table of a unit, read when it is asked for first. It is never nil.
func (d *Data) lineTable(u *unit) (*lineTable, error) {
	off, ok := u.stmtList.offset()
	if !ok {
		return &lineTable{}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.lines[off]; t != nil {
		return t, nil
	}
	t, err := d.readLines(u, off)
	d.lines[off] = t
	if err != nil {
		err = errf("the line numbers at 0x%x: %w", off, err)
	}
	return t, err
}

// readLines reads a header and runs the program behind it (DWARF 5, section 6.2).
func (d *Data) readLines(u *unit, off uint64) (*lineTable, error) {
	t := &lineTable{compDir: u.compDir}
	c := at(d.Line, off, d.Order)
	n, wide := c.length()
	if c.failed || n > uint64(len(d.Line)-c.off) {
		return t, errf(".debug_line is cut")
	}
	c.data = c.data[:c.off+int(n)]
	if err := d.spend(int(n)); err != nil {
		return t, err
	}
	t.version = c.u16()
	if t.version < 2 || t.version > 5 {
		return t, errf("version %d is not known", t.version)
	}
	m := machine{format: format{version: t.version, wide: wide, addrSize: u.addrSize}}
	if t.version >= 5 {
		m.addrSize = c.u8()
		c.u8() // size of a segment selector
	}
	size := c.offset(wide)
	if size > uint64(len(c.data)-c.off) {
		return t, errf("the header is cut")
	}
	program := c
	program.off += int(size)
	m.minLength = uint64(c.u8())
	if t.version >= 4 {
		c.u8() // operations in an instruction
	}
	c.u8() // default of is_stmt
	m.lineBase = int64(int8(c.u8()))
	m.lineRange = c.u8()
	m.opcodeBase = c.u8()
	m.lengths = c.bytes(uint64(max(m.opcodeBase, 1) - 1))
	if m.lineRange == 0 {
		return t, errf("the header is malformed")
	}
	if t.version >= 5 {
		t.readFiles(&c, u, wide)
	} else {
		t.readOldFiles(&c)
	}
	if c.failed {
		return t, errf("the file names are cut")
	}
	m.run(&program, t)
	// Sequences may come in any order. Of rows with one address the last counts, but an
	// end gives way to the sequence that begins there.
	slices.SortStableFunc(t.rows, func(a, b row) int {
		if a.addr == b.addr && a.end != b.end {
			if a.end {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.addr, b.addr)
	})
	if program.failed {
		return t, errf("the program is cut")
	}
	return t, nil
}

// readOldFiles reads the directories and files of versions 2 to 4, both counted from 1:
// directory 0 is that of the compilation.
func (t *lineTable) readOldFiles(c *cursor) {
	t.dirs = [][]byte{nil}
	for {
		dir := c.cstring()
		if len(dir) == 0 {
			break
		}
		t.dirs = append(t.dirs, dir)
	}
	t.files = []lineFile{{}}
	for {
		f := lineFile{name: c.cstring()}
		if len(f.name) == 0 {
			break
		}
		f.dir = c.uleb()
		c.uleb() // time
		c.uleb() // size
		t.files = append(t.files, f)
	}
}

// readFiles reads those of version 5, both counted from 0: lists of which each says first
// what its entries hold.
func (t *lineTable) readFiles(c *cursor, u *unit, wide bool) {
	lu := uncached(u)
	lu.wide, lu.version = wide, t.version
	list := func(add func(lineFile)) {
		formats := make([]spec, c.u8())
		for i := range formats {
			formats[i] = spec{attr: clamp(c.uleb()), form: clamp(c.uleb())}
		}
		for n := c.uleb(); n > 0 && !c.failed; n-- {
			var f lineFile
			before := c.off
			for _, s := range formats {
				v := lu.value(c, s)
				switch s.attr {
				case 1: // path
					f.name = v.b
				case 2: // directory
					f.dir = v.u
				}
			}
			if c.off == before { // entries without content could be any number
				c.fail()
			}
			add(f)
		}
	}
	list(func(f lineFile) { t.dirs = append(t.dirs, f.name) })
	list(func(f lineFile) { t.files = append(t.files, f) })
}

// uncached returns what reading values needs of a unit.
func uncached(u *unit) *unit {
	return &unit{d: u.d, format: u.format, off: u.off, strOffsetsBase: u.strOffsetsBase, addrBase: u.addrBase}
}

// machine runs a line number program.
type machine struct {
	format
	minLength  uint64
	lineBase   int64
	lineRange  uint8
	opcodeBase uint8
	lengths    []byte // how many operands each standard opcode has, from opcode 1
}

func (m *machine) run(c *cursor, t *lineTable) {
	start := row{file: 1, line: 1}
	r, dead := start, false
	emit := func() {
		if !dead {
			t.rows = append(t.rows, r)
		}
	}
	for c.more() {
		op := c.u8()
		if op >= m.opcodeBase {
			op -= m.opcodeBase
			r.addr += m.minLength * uint64(op/m.lineRange)
			r.line += uint32(m.lineBase + int64(op%m.lineRange))
			emit()
			continue
		}
		switch op {
		case 0:
			n := c.uleb()
			if n == 0 {
				continue
			}
			arg := cursor{data: c.bytes(n), order: c.order}
			switch arg.u8() {
			case 1: // end of a sequence
				r.end = true
				emit()
				r, dead = start, false
			case 2: // address; linkers move what they dropped to 0 or -1
				r.addr = arg.uint(uint8(len(arg.data) - 1))
				dead = r.addr == 0 || arg.failed || r.addr == ^uint64(0)>>(64-8*min(uint(m.addrSize), 8))
			case 3: // a further file
				f := lineFile{name: arg.cstring()}
				f.dir = arg.uleb()
				t.files = append(t.files, f)
			}
		case 1: // copy
			emit()
		case 2:
			r.addr += m.minLength * c.uleb()
		case 3:
			r.line += uint32(c.sleb())
		case 4:
			r.file = uint32(c.uleb())
		case 8: // as opcode 255, without a row
			r.addr += m.minLength * uint64((255-m.opcodeBase)/m.lineRange)
		case 9:
			r.addr += uint64(c.u16())
		default: // column, flags, and opcodes to come
			for range m.lengths[op-1] {
				c.uleb()
			}
		}
	}
}

// find returns the file and line of an address.
func (t *lineTable) find(addr uint64) (file string, line int) {
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].addr > addr }) - 1
	if i < 0 || t.rows[i].end {
		return "", 0
	}
	return t.path(t.rows[i].file), int(t.rows[i].line)
}

// path returns the path of a file, made absolute by the directory of the compilation where
// that is known.
func (t *lineTable) path(file uint32) string {
	if uint64(file) >= uint64(len(t.files)) || len(t.files[file].name) == 0 {
		return ""
	}
	f := t.files[file]
	path := string(f.name)
	if path[0] == '<' { // <autogenerated> is no file
		return path
	}
	if f.dir < uint64(len(t.dirs)) {
		path = join(t.dirs[f.dir], path)
	}
	return join(t.compDir, path)
}

func join(dir []byte, path string) string {
	if len(dir) == 0 || strings.HasPrefix(path, "/") {
		return path
	}
	return string(dir) + "/" + path
}
