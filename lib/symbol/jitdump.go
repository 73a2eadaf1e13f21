package symbol

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// Records of a jitdump file that matter here.
const (
	jitLoad = 0
	jitMove = 1

	jitHeader = 40 // bytes of the file header, at least
	jitRecord = 16 // of the header of a record: type, size, time
	jitNames  = 1 << 16
)

var errNotJitdump = errors.New("not a jitdump file")

// parseJitdump reads the file that a JIT compiler writes for perf inject: a header and
// records with the code itself, as tools/perf/Documentation/jitdump-specification.txt in
// the kernel's source says. Of entries that overlap the last one counts, where code was
// moved to counts with its name.
//
// A file that was cut, as that of a process which was killed, is read as far as it goes.
func parseJitdump(r io.Reader) (*index, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	head, err := in.Peek(jitHeader)
	if err != nil {
		return nil, errNotJitdump
	}
	var o binary.ByteOrder = binary.LittleEndian
	switch string(head[:4]) {
	case "DTiJ":
	case "JiTD":
		o = binary.BigEndian
	default:
		return nil, errNotJitdump
	}
	size := o.Uint32(head[8:])
	if size < jitHeader {
		return nil, errNotJitdump
	}
	if _, err := in.Discard(int(size)); err != nil {
		return nil, errNotJitdump
	}
	var list []entry
	var text []byte
	byCode := map[uint64]uint32{} // the names of code that may move, by its number
	for {
		head, err := in.Peek(jitRecord)
		if err != nil {
			break
		}
		kind, size := o.Uint32(head), int(o.Uint32(head[4:]))
		if size < jitRecord {
			break
		}
		body, err := in.Peek(min(size, jitNames))
		if err != nil && len(body) < size {
			break
		}
		body = body[jitRecord:]
		var e entry
		switch {
		case kind == jitLoad && len(body) > 40 && len(text) < maxMap:
			name := body[40:]
			if end := bytes.IndexByte(name, 0); end >= 0 {
				name = name[:end]
			}
			e = entry{start: o.Uint64(body[16:]), end: o.Uint64(body[16:]) + o.Uint64(body[24:]), name: uint32(len(text))}
			byCode[o.Uint64(body[32:])] = e.name
			text = append(append(text, name...), 0)
		case kind == jitMove && len(body) >= 48:
			if name, ok := byCode[o.Uint64(body[40:])]; ok {
				e = entry{start: o.Uint64(body[24:]), end: o.Uint64(body[24:]) + o.Uint64(body[32:]), name: name}
			}
		}
		if e.end > e.start && cstring(text, e.name) != nil {
			list = append(list, e)
		}
		if _, err := in.Discard(size); err != nil {
			break
		}
	}
	return newIndex(lastWins(list), text, nil), nil
}
