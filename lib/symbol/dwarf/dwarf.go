// Package dwarf finds in the DWARF of a program, versions 2 to 5, what a profiler needs to
// name an address: the functions that were inlined there, and the file and line of each.
//
//	d, err := dwarf.New(dwarf.Sections{Info: ..., Abbrev: ..., Line: ..., Order: binary.LittleEndian})
//	for _, f := range d.Frames(addr) {
//		fmt.Println(f.Name, f.File, f.Line)
//	}
//
// It reads less than debug/dwarf, and reads it more guardedly: units are parsed when an
// address falls into them, no more memory is allocated than a small multiple of what the
// sections hold, and the work on them is bounded, however they refer to each other.
package dwarf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Sections are the contents of the sections named .debug_*; those that are absent are
// empty. They are only read, and may be mapped memory.
type Sections struct {
	Info, Abbrev, Line, LineStr, Str, StrOffsets, Addr, Ranges, RngLists []byte

	Order binary.ByteOrder
	Alt   *Data               // the file that dwz moved common entries to; nil where there is none
	Spell func(string) string // demangles linkage names; nil leaves them
}

// Frame is one of the functions that an instruction belongs to. Empty File and Line 0
// stand for unknown, and so does an empty Name: where there are line numbers only.
type Frame struct {
	Name    string // qualified by namespaces and classes, without parameters
	File    string
	Line    int
	Inlined bool
}

// Data is the DWARF of one file. It is safe for concurrent use.
type Data struct {
	Sections
	units []*unit   // by offset
	code  intervals // of the units
	loose []*unit   // those that do not say where their code is
	split string    // the name of a .dwo file, where the rest is in such

	left atomic.Int64 // steps that may still be taken

	mu     sync.Mutex
	tables map[abbrevKey]*abbrevs
	names  map[uint64]string
	lines  map[uint64]*lineTable
	err    error
}

// depthMax is how many inlined functions around one instruction are told; how many steps a
// name may be away.
const (
	depthMax = 1000
	hopsMax  = 16
)

var errTooMuch = errors.New("it refers to itself more often than it has content")

func errf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// spend takes steps of the work that the sections justify: everything is read about once.
func (d *Data) spend(steps int) error {
	if d.left.Add(-int64(steps)) < 0 {
		return errTooMuch
	}
	return nil
}

// New reads the headers of all units and where their code lies.
func New(s Sections) (d *Data, err error) {
	defer guard(&err)()
	d = &Data{Sections: s, tables: map[abbrevKey]*abbrevs{}, names: map[uint64]string{}, lines: map[uint64]*lineTable{}}
	d.left.Store(1<<20 + 8*int64(len(s.Info)+len(s.Abbrev)+len(s.Line)+len(s.Ranges)+len(s.RngLists)))
	if err := d.readUnits(); err != nil {
		return nil, err
	}
	return d, nil
}

// guard turns a fault into an error: a file that is mapped may be cut while it is read.
func guard(err *error) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			*err = errf("cannot be read: %v", r)
		}
	}
}

// Err returns the first thing that was malformed, or nil. What is malformed takes frames
// away, not the whole file.
func (d *Data) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// Split returns the name of a .dwo file if functions are described in such, or "".
func (d *Data) Split() string { return d.split }

func (d *Data) note(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = err
	}
}

// Frames returns the functions at an address: inlined ones first, the innermost before
// those around it, and last the one that has a symbol. It returns nil where nothing is
// known.
func (d *Data) Frames(addr uint64) []Frame {
	frames, err := d.frames(addr)
	if err != nil {
		d.note(err)
	}
	runtime.KeepAlive(d) // for who unmaps the sections when it is gone
	return frames
}

func (d *Data) frames(addr uint64) (frames []Frame, err error) {
	defer guard(&err)()
	u := d.covering(addr)
	if u == nil {
		return nil, nil
	}
	lines, err := d.lineTable(u)
	if err != nil {
		d.note(err)
	}
	file, line := lines.find(addr)
	t := u.functions()
	fn := t.code.find(addr)
	if fn < 0 {
		if line == 0 && file == "" {
			return nil, nil
		}
		return []Frame{{File: file, Line: line}}, nil
	}
	for ; fn >= 0 && len(frames) < depthMax; fn = t.list[fn].parent {
		f := &t.list[fn]
		frames = append(frames, Frame{Name: d.name(f.off), File: file, Line: line, Inlined: f.inlined})
		file, line = lines.path(f.callFile), int(f.callLine)
	}
	return frames, nil
}

// covering returns the unit that has code at an address, or nil. Units that do not say
// where theirs is, as in strict DWARF 2, are read to know.
func (d *Data) covering(addr uint64) *unit {
	if i := d.code.find(addr); i >= 0 {
		return d.units[i]
	}
	for _, u := range d.loose {
		if u.functions().code.find(addr) >= 0 {
			return u
		}
	}
	return nil
}
