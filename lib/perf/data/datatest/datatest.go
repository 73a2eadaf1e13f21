// Package datatest writes recordings of perf for tests: files and pipes, in either byte
// order, with whatever events and records a test needs.
package datatest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"vperf/lib/perf/data"
)

// A Recording is written record by record. The zero value is an empty one with the little
// end first.
type Recording struct {
	Big      bool // the big end comes first
	AttrSize int  // of the attributes; 0: 136, that of perf 6.3 and later

	events   []event
	body     []byte
	features map[int][]byte
}

type event struct {
	attr data.Attr
	ids  []uint64
}

// A Text is a string as features hold it: with its length in front.
type Text string

func (r *Recording) order() binary.AppendByteOrder {
	if r.Big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Event adds an event.
func (r *Recording) Event(a data.Attr, ids ...uint64) {
	r.events = append(r.events, event{a, ids})
}

// Record adds a record. Its fields are numbers, which take their size, strings, which end
// in a zero and are padded to whole words, and bytes as they are.
func (r *Recording) Record(t data.Type, misc uint16, fields ...any) {
	r.body = r.appendRecord(r.body, t, misc, fields...)
}

// Raw adds bytes, which need not be a record.
func (r *Recording) Raw(b []byte) { r.body = append(r.body, b...) }

// Encode returns a record without adding it.
func (r *Recording) Encode(t data.Type, misc uint16, fields ...any) []byte {
	return r.appendRecord(nil, t, misc, fields...)
}

// Feature sets a feature, by its number.
func (r *Recording) Feature(number int, fields ...any) {
	if r.features == nil {
		r.features = map[int][]byte{}
	}
	r.features[number] = r.append(nil, fields...)
}

func (r *Recording) appendRecord(b []byte, t data.Type, misc uint16, fields ...any) []byte {
	start := len(b)
	b = r.append(b, uint32(t), misc, uint16(0))
	b = r.append(b, fields...)
	var size []byte
	copy(b[start+6:], r.order().AppendUint16(size, uint16(len(b)-start)))
	return b
}

func (r *Recording) append(b []byte, fields ...any) []byte {
	o := r.order()
	for _, f := range fields {
		switch f := f.(type) {
		case uint8:
			b = append(b, f)
		case uint16:
			b = o.AppendUint16(b, f)
		case uint32:
			b = o.AppendUint32(b, f)
		case int32:
			b = o.AppendUint32(b, uint32(f))
		case uint64:
			b = o.AppendUint64(b, f)
		case []uint64:
			for _, v := range f {
				b = o.AppendUint64(b, v)
			}
		case []byte:
			b = append(b, f...)
		case string:
			b = append(append(b, f...), make([]byte, 8-len(f)%8)...)
		case Text:
			const align = 64
			n := (len(f) + align) / align * align
			b = append(append(o.AppendUint32(b, uint32(n)), f...), make([]byte, n-len(f))...)
		default:
			panic(fmt.Sprintf("datatest: a field of type %T", f))
		}
	}
	return b
}

// attr returns an attribute in the size asked for.
func (r *Recording) attr(a *data.Attr) []byte {
	size := r.AttrSize
	if size == 0 {
		size = 136
	}
	flags := uint64(a.Flags)
	if r.Big {
		precise := flags >> 15 & 3
		flags = flags&^(3<<15) | (precise>>1|precise<<1&2)<<15
		flags = bits.Reverse64(flags)
	}
	b := r.append(nil, a.Type, uint32(size), a.Config, a.SamplePeriod, uint64(a.SampleType), uint64(a.ReadFormat), flags,
		uint32(0), a.BPType, a.Config1, a.Config2, a.BranchSampleType, a.RegsUser, a.StackUser, a.ClockID, a.RegsIntr,
		uint32(0), uint32(0), a.AuxSampleSize, uint32(0), a.SigData, a.Config3)
	return append(b, make([]byte, max(0, size-len(b)))...)[:size]
}

// File returns the recording as perf record -o FILE writes it.
func (r *Recording) File() []byte {
	const header, ids = 104, 16
	b := make([]byte, header)
	var idSections []any
	for _, e := range r.events {
		idSections = append(idSections, uint64(len(b)), uint64(8*len(e.ids)))
		b = r.append(b, e.ids)
	}
	attrs := len(b)
	attrSize := ids
	for i := range r.events {
		a := r.attr(&r.events[i].attr)
		attrSize = len(a) + ids
		b = r.append(append(b, a...), idSections[2*i:2*i+2]...)
	}
	attrsSize := len(b) - attrs
	records := len(b)
	b = append(b, r.body...)

	var bitmap [4]uint64
	at := len(b) + 16*len(r.features)
	var contents []byte
	for _, n := range r.numbers() {
		bitmap[n/64] |= 1 << (n % 64)
		b = r.append(b, uint64(at+len(contents)), uint64(len(r.features[n])))
		contents = append(contents, r.features[n]...)
	}
	b = append(b, contents...)
	magic := []byte("PERFILE2")
	if r.Big {
		slices.Reverse(magic)
	}
	copy(b, r.append(magic, uint64(header), uint64(attrSize), uint64(attrs), uint64(attrsSize),
		uint64(records), uint64(len(r.body)), uint64(0), uint64(0), bitmap[:]))
	return b
}

func (r *Recording) numbers() (list []int) {
	for n := range r.features {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// Pipe returns the recording as perf record -o - writes it.
func (r *Recording) Pipe() []byte {
	magic := []byte("PERFILE2")
	if r.Big {
		slices.Reverse(magic)
	}
	const attr, feature = 64, 80
	b := r.append(magic, uint64(16))
	for i := range r.events {
		b = r.appendRecord(b, attr, 0, r.attr(&r.events[i].attr), r.events[i].ids)
	}
	for _, n := range r.numbers() {
		b = r.appendRecord(b, feature, 0, uint64(n), r.features[n])
	}
	return append(b, r.body...)
}

// Reader returns a reader of bytes that has no other methods, like a pipe.
func Reader(b []byte) *bytes.Buffer { return bytes.NewBuffer(b) }
