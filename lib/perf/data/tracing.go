package data

import (
	"bytes"
	"strconv"
	"strings"
)

// A Format describes the data of a tracepoint, as the kernel's
// /sys/kernel/tracing/events/SYSTEM/NAME/format does.
type Format struct {
	System string
	Name   string
	ID     uint32
	Fields []Field // those of its own, without the common ones
	Print  string  // behind "print fmt:"

	printer *printer
}

// A Field is a part of a tracepoint's data.
type Field struct {
	Name    string
	Type    string // as in C, with "[16]" behind it where it is an array
	Offset  int
	Size    int // of an array: of all of it
	Signed  bool
	Array   bool // its length is in Size
	Dynamic int  // 1: the field holds offset and size of it (__data_loc); 2: counted from its own end (__rel_loc)
}

// parseTracing reads what trace-cmd and perf write of the tracepoints:
//
//	17 08 44 "tracing" version\0 big-endian u8, size of a long u8, size of a page u32
//	"header_page\0" size u64, text; "header_event\0" size u64, text
//	n u32, (size u64, text) * n                          of ftrace itself
//	n u32, (system\0 n u32, (size u64, text) * n) * n
//
// What follows (kallsyms, formats of printk, comms) is not needed.
func parseTracing(b []byte) map[uint32]*Format {
	const magic = "\x17\x08\x44tracing"
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok {
		return nil
	}
	c := cursor{b: rest}
	c.line() // version
	c.big = c.u8() == 1
	c.u8()
	c.u32()
	for range 2 {
		c.line()
		c.take(c.u64())
	}
	formats := map[uint32]*Format{}
	texts := func(system string) {
		for n := c.u32(); n > 0 && !c.short; n-- {
			if text := c.take(c.u64()); text != nil {
				f := parseFormat(string(text))
				f.System = system
				formats[f.ID] = &f
			}
		}
	}
	texts("ftrace")
	for n := c.u32(); n > 0 && !c.short; n-- {
		texts(c.line())
	}
	return formats
}

// parseFormat reads the description of one tracepoint:
//
//	name: sched_switch
//	ID: 314
//	format:
//		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
//		...
//	print fmt: "prev_comm=%s ...", REC->prev_comm, ...
func parseFormat(text string) Format {
	var f Format
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); key {
		case "name":
			f.Name = value
		case "ID":
			id, _ := strconv.ParseUint(value, 10, 32)
			f.ID = uint32(id)
		case "field":
			if field, ok := parseField(value); ok && !strings.HasPrefix(field.Name, "common_") {
				f.Fields = append(f.Fields, field)
			}
		case "print fmt":
			f.Print = value
		}
	}
	f.printer = newPrinter(&f)
	return f
}

// parseField reads "char comm[16];	offset:8;	size:16;	signed:0;".
func parseField(line string) (f Field, ok bool) {
	parts := strings.Split(line, ";")
	declared := strings.TrimSpace(parts[0])
	if rest, ok := strings.CutPrefix(declared, "__data_loc "); ok {
		declared, f.Dynamic = rest, 1
	} else if rest, ok := strings.CutPrefix(declared, "__rel_loc "); ok {
		declared, f.Dynamic = rest, 2
	}
	if i := strings.LastIndexByte(declared, '['); i >= 0 && f.Dynamic == 0 {
		f.Array = true
		f.Type, declared = declared[i:], declared[:i]
	}
	i := strings.LastIndexAny(declared, " *")
	if i < 0 {
		return f, false
	}
	f.Name, f.Type = declared[i+1:], strings.TrimSpace(declared[:i+1])+f.Type
	for _, p := range parts[1:] {
		key, value, _ := strings.Cut(strings.TrimSpace(p), ":")
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			continue
		}
		switch key {
		case "offset":
			f.Offset = int(n)
		case "size":
			f.Size = int(n)
		case "signed":
			f.Signed = n != 0
		}
	}
	return f, true
}

// bytes returns what data holds of a field.
func (f *Field) bytes(o order, data []byte) []byte {
	b := within(data, f.Offset, f.Size)
	if f.Dynamic == 0 || len(b) < 4 {
		return b
	}
	where := o.u32(b)
	offset, size := int(where&0xffff), int(where>>16)
	if f.Dynamic == 2 {
		offset += f.Offset + f.Size
	}
	return within(data, offset, size)
}

func within(b []byte, offset, size int) []byte {
	if offset > len(b) {
		return nil
	}
	return b[offset:min(len(b), offset+size)]
}

// number returns the value of a field that is one.
func (f *Field) number(o order, data []byte) uint64 {
	b := within(data, f.Offset, f.Size)
	var v uint64
	switch len(b) {
	case 1:
		v = uint64(b[0])
	case 2:
		v = uint64(o.u16(b))
	case 4:
		v = uint64(o.u32(b))
	case 8:
		return o.u64(b)
	default:
		return 0
	}
	if shift := 64 - 8*len(b); f.Signed {
		v = uint64(int64(v<<shift) >> shift)
	}
	return v
}

func (f *Field) isText() bool {
	return (f.Array || f.Dynamic != 0) && strings.HasPrefix(f.Type, "char") || strings.HasPrefix(f.Type, "char[")
}

// AppendPayload appends what perf prints of the data of a tracepoint: its own print format
// where that consists of fields, and else all fields, as "name=value".
func (r *Record) AppendPayload(dst []byte, f *Format, raw []byte) []byte {
	if f.printer != nil {
		return f.printer.append(dst, r.order, raw)
	}
	for i := range f.Fields {
		if i > 0 {
			dst = append(dst, ' ')
		}
		field := &f.Fields[i]
		dst = append(append(dst, field.Name...), '=')
		dst = field.append(dst, r.order, raw)
	}
	return dst
}

func (f *Field) append(dst []byte, o order, raw []byte) []byte {
	switch {
	case f.isText():
		return append(dst, untilZero(f.bytes(o, raw))...)
	case f.Array || f.Dynamic != 0:
		for i, c := range f.bytes(o, raw) {
			if i > 0 {
				dst = append(dst, ' ')
			}
			const digits = "0123456789abcdef"
			dst = append(dst, digits[c>>4], digits[c&15])
		}
		return dst
	case strings.HasSuffix(f.Type, "*"):
		return strconv.AppendUint(append(dst, "0x"...), f.number(o, raw), 16)
	case f.Signed:
		return strconv.AppendInt(dst, int64(f.number(o, raw)), 10)
	}
	return strconv.AppendUint(dst, f.number(o, raw), 10)
}
