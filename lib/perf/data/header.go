package data

import (
	"io"
	"math/bits"
	"slices"
)

// A section is a part of a file.
type section struct{ offset, size uint64 }

func (c *cursor) section() section { return section{c.u64(), c.u64()} }

// readSection returns the bytes of a section, those that there are.
func readSection(at io.ReaderAt, s section) []byte {
	const most = 1 << 62
	if s.offset > most || s.size > most {
		return nil
	}
	b, _ := io.ReadAll(io.NewSectionReader(at, int64(s.offset), int64(s.size)))
	return b
}

// fileHeader reads the header of a file, its events and its features.
func (r *Reader) fileHeader(at io.ReaderAt, head []byte) error {
	c := cursor{order: r.order, b: head[16:]}
	attrSize := c.u64()
	attrs, records := c.section(), c.section()
	c.section() // names of tracepoints, before there were features
	bitmap := c.take(features / 8)
	r.attrSection(at, attrSize, attrs)

	const most = 1 << 62
	if records.offset > most || records.size > most {
		r.breaks(40, "the header says that records begin at %d and have %d bytes", records.offset, records.size)
		return nil
	}
	r.outer = stream{pool: &r.pool, offset: int64(records.offset), limit: int64(records.size)}
	if records.size == 0 {
		// perf record writes the size last. If it was killed, all that follows is records.
		r.outer.limit = -1
		r.outer.in = io.NewSectionReader(at, int64(records.offset), most)
		r.fault = &Fault{40, "perf record did not end: the header has no size of the data"}
	} else {
		r.outer.in = io.NewSectionReader(at, int64(records.offset), int64(records.size))
		r.featureSections(at, bitmap, records.offset+records.size)
	}
	r.nameTracepoints()
	return nil
}

// attrSection reads the events: each is an attribute of the size that the writer's struct
// had, and the section with its ids.
func (r *Reader) attrSection(at io.ReaderAt, size uint64, s section) {
	const ids = 16
	if size < attrFirst+ids || size > maxRecord {
		return
	}
	// Every one of them could claim the whole file.
	budget := int64(64 << 20)
	b := readSection(at, s)
	for ; uint64(len(b)) >= size; b = b[size:] {
		c := cursor{order: r.order, b: b[size-ids : size]}
		a, ok := parseAttr(r.order, b[:size-ids])
		if !ok {
			return
		}
		list := c.section()
		if budget -= int64(min(list.size, 1<<62)); budget < 0 {
			list.size = 0
		}
		r.add(a, r.ids(readSection(at, list)))
	}
}

func (r *Reader) ids(b []byte) []uint64 {
	list := make([]uint64, len(b)/8)
	for i := range list {
		list[i] = r.u64(b[8*i:])
	}
	return list
}

// featureSections reads the features, whose sections are listed behind the records in the
// order of their bits.
func (r *Reader) featureSections(at io.ReaderAt, bitmap []byte, offset uint64) {
	numbers := r.featureBits(bitmap)
	list := readSection(at, section{offset, uint64(16 * len(numbers))})
	for i, number := range numbers {
		if 16*i+16 > len(list) {
			return
		}
		c := cursor{order: r.order, b: list[16*i:]}
		if s := c.section(); wanted(number) {
			r.feature(number, readSection(at, s))
		}
	}
}

func wanted(number int) bool {
	switch number {
	case featTracingData, featBuildID, featHostname, featRelease, featVersion, featArch, featCPUs, featCPUDesc, featCPUID,
		featMemory, featCmdline, featEventDesc, featPMUs, featSampleTime, featClockID, featClockData:
		return true
	}
	return false
}

// featureBits returns the numbers of the bits that are set. The bitmap is of C longs, which
// have 4 bytes on a 32-bit machine; with the big end first that makes a difference. Every
// recording has a hostname, which tells the one from the other.
func (r *Reader) featureBits(bitmap []byte) []int {
	words := func(swap bool) (list []int) {
		for i := 0; i+8 <= len(bitmap); i += 8 {
			w := r.u64(bitmap[i:])
			if swap {
				w = bits.RotateLeft64(w, 32)
			}
			for ; w != 0; w &= w - 1 {
				list = append(list, 8*i+bits.TrailingZeros64(w))
			}
		}
		return list
	}
	list := words(false)
	if r.big && !slices.Contains(list, featHostname) {
		if swapped := words(true); slices.Contains(swapped, featHostname) {
			return swapped
		}
	}
	return list
}

// attrRecord takes the event of a pipe: an attribute, then its ids.
func (r *Reader) attrRecord(b []byte) {
	if len(b) < attrFirst {
		return
	}
	size := int(r.u32(b[4:]))
	if size < attrFirst || size > len(b) {
		size = attrFirst
	}
	a, _ := parseAttr(r.order, b[:size])
	r.nameTracepoint(r.add(a, r.ids(b[size:])))
}

// updateRecord takes what perf record adds to an event of a pipe: type, id u64, then with
// type 2 the name.
func (r *Reader) updateRecord(c *cursor) {
	const name = 2
	kind, id := c.u64(), c.u64()
	if e := r.events.byID[id]; e != nil && kind == name {
		if s := cString(c.b); s != "" {
			e.Name, e.named = s, true
		}
	}
}

// add adds an event, with the name that it has if the recording does not give it one.
func (r *Reader) add(a Attr, ids []uint64) *Event {
	e := r.events.add(a, ids)
	e.Name = e.name()
	return e
}

// nameTracepoints names the tracepoints that have no other name.
func (r *Reader) nameTracepoints() {
	for _, e := range r.events.list {
		r.nameTracepoint(e)
	}
}

func (r *Reader) nameTracepoint(e *Event) {
	if f := r.Format(e); f != nil && !e.named {
		e.Name = f.System + ":" + f.Name
	}
}

// Format returns the description of a tracepoint's data, nil where there is none.
func (r *Reader) Format(e *Event) *Format {
	if e.Type != TypeTracepoint || e.Config != uint64(uint32(e.Config)) {
		return nil
	}
	return r.formats[uint32(e.Config)]
}

// EventByID returns the event that bears an id, nil where there is none.
func (r *Reader) EventByID(id uint64) *Event { return r.events.byID[id] }
