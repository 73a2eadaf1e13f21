package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

var (
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	gzipMagic = []byte{0x1f, 0x8b, 0x08}

	skippableMagic = []byte{0x50, 0x2a, 0x4d, 0x18} // the low half of the first byte is free
)

// NewDecompressor returns a Reader of the plain text of in, which may hold plain text,
// gzip members and zstd frames in any order: `cat a.zst b.ndjson c.gz` is one stream.
//
// Compressed data is recognised by its magic, at the beginning of the input, right behind
// another compressed part, at the beginning of a line, and behind a closing brace (a
// record whose newline is missing). Elsewhere such bytes are taken as they are, and input
// that begins as binary data (a NUL within its first bytes, as in perf.data) is never
// searched.
func NewDecompressor(in io.Reader) io.Reader {
	return &decompressor{in: bufio.NewReaderSize(in, 256<<10), boundary: true}
}

type decompressor struct {
	in       *bufio.Reader
	part     io.Reader // the compressed part that is being read
	zstd     *zstd.Decoder
	boundary bool // a compressed part may begin at the next byte
	sniffed  bool
	binary   bool
}

func (d *decompressor) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if d.part == nil {
			n, err := d.readPlain(p)
			if err != nil && d.zstd != nil {
				d.zstd.Close()
				d.zstd = nil
			}
			if n > 0 || err != nil {
				return n, err
			}
			continue
		}
		n, err := d.part.Read(p)
		if err == io.EOF {
			d.part, d.boundary, err = nil, true, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// readPlain returns plain bytes up to where a compressed part may begin. If one begins
// right here it sets d.part and returns 0, nil.
func (d *decompressor) readPlain(p []byte) (int, error) {
	head, err := d.in.Peek(len(zstdMagic))
	if len(head) == 0 {
		return 0, err
	}
	if !d.sniffed {
		d.sniffed = true
		start, _ := d.in.Peek(64)
		d.binary = bytes.IndexByte(start, 0) >= 0 && !isPacked(start)
	}
	if d.binary {
		return d.in.Read(p)
	}
	if d.boundary && isPacked(head) {
		return 0, d.open(head)
	}
	have, _ := d.in.Peek(min(len(p), max(d.in.Buffered(), 1)))
	n := d.plainLength(have)
	copy(p, have[:n])
	d.boundary = endsPlain(have[n-1])
	d.in.Discard(n) // cannot fail: n bytes are buffered
	return n, nil
}

// plainLength returns how much of b, at least one byte, stands before the next place
// where a compressed part begins or may begin behind the end of b.
func (d *decompressor) plainLength(b []byte) int {
	if n := indexPacked(b); n > 0 {
		return n
	}
	// The last bytes may be the first of a magic: leave them for the next call.
	for n := max(1, len(b)-len(zstdMagic)+1); n < len(b); n++ {
		if endsPlain(b[n-1]) && beginsMagic(b[n:]) {
			return n
		}
	}
	return len(b)
}

// indexPacked returns where behind the first byte of b a compressed part begins, or -1. It
// looks for the byte of each magic that text has least of: 0xfd is never part of UTF-8, the
// others are control characters.
func indexPacked(b []byte) int {
	first := -1
	for _, m := range []struct {
		rare byte
		at   int // where it is in the magic
		is   func([]byte) bool
	}{
		{zstdMagic[3], 3, func(b []byte) bool { return bytes.HasPrefix(b, zstdMagic) }},
		{gzipMagic[0], 0, func(b []byte) bool { return bytes.HasPrefix(b, gzipMagic) }},
		{skippableMagic[3], 3, isSkippable},
	} {
		for from := m.at + 1; from < len(b); from++ {
			i := bytes.IndexByte(b[from:], m.rare)
			if i < 0 {
				break
			}
			from += i
			if start := from - m.at; endsPlain(b[start-1]) && m.is(b[start:]) {
				first, b = start, b[:start]
				break
			}
		}
	}
	return first
}

// beginsMagic tells whether b, which is too short for one, may be the start of a magic.
func beginsMagic(b []byte) bool {
	return bytes.HasPrefix(zstdMagic, b) || bytes.HasPrefix(gzipMagic, b) ||
		b[0]&0xf0 == skippableMagic[0] && bytes.HasPrefix(skippableMagic[1:], b[1:])
}

// endsPlain tells whether a compressed part may begin behind c.
func endsPlain(c byte) bool { return c == '\n' || c == '}' }

func isPacked(b []byte) bool {
	return bytes.HasPrefix(b, zstdMagic) || bytes.HasPrefix(b, gzipMagic) || isSkippable(b)
}

// isSkippable recognises the frames without content in which pzstd keeps its sizes.
func isSkippable(b []byte) bool {
	return len(b) >= 4 && b[0]&0xf0 == skippableMagic[0] && bytes.Equal(b[1:4], skippableMagic[1:])
}

// maxWindow is how much memory a zstd frame may ask for, as much as zstd(1) grants unasked.
const maxWindow = 128 << 20

func (d *decompressor) open(head []byte) (err error) {
	if bytes.HasPrefix(head, gzipMagic) {
		z, err := gzip.NewReader(d.in)
		if err != nil {
			return fmt.Errorf("gzip: %w", err)
		}
		z.Multistream(false) // what follows may be something else
		d.part = packed{z, "gzip"}
		return nil
	}
	part := &frame{in: d.in}
	if d.zstd == nil {
		d.zstd, err = zstd.NewReader(part, zstd.WithDecoderMaxWindow(maxWindow))
	} else {
		err = d.zstd.Reset(part)
	}
	if err != nil {
		return fmt.Errorf("zstd: %w", err)
	}
	d.part = packed{d.zstd, "zstd"}
	return nil
}

// packed names the format in its errors, and calls an early end what it is.
type packed struct {
	io.Reader
	format string
}

func (p packed) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil && err != io.EOF {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%s data is cut: %w", p.format, err)
		} else {
			err = fmt.Errorf("%s data is corrupt: %w", p.format, err)
		}
	}
	return n, err
}

// A frame reads exactly one zstd frame from in, which the zstd package would read past.
// It follows the lengths of the frame header and of the blocks (RFC 8878, 3.1.1).
type frame struct {
	in     *bufio.Reader
	left   int64 // bytes of the current piece that were not read yet
	begun  bool
	last   bool // the current block is the last one
	check  bool // a checksum follows it
	ended  bool
	failed error
}

func (f *frame) Read(p []byte) (int, error) {
	for f.left == 0 {
		if f.failed != nil {
			return 0, f.failed
		}
		if f.ended {
			return 0, io.EOF
		}
		f.failed = f.piece()
	}
	n, err := f.in.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// piece finds the length of the next piece: the header, a block with its header, the
// checksum.
func (f *frame) piece() error {
	switch {
	case !f.begun:
		f.begun = true
		b, err := f.in.Peek(zstd.HeaderMaxSize)
		var h zstd.Header
		if herr := h.Decode(b); herr != nil {
			if err == io.EOF {
				return io.ErrUnexpectedEOF
			}
			return herr
		}
		f.left, f.check = int64(h.HeaderSize), h.HasCheckSum
		if h.Skippable {
			f.left, f.last = int64(h.HeaderSize)+int64(h.SkippableSize), true
		}
	case !f.last:
		b, err := f.in.Peek(3)
		if len(b) < 3 {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		h := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		f.last = h&1 != 0
		f.left = 3 + int64(h>>3)
		if h>>1&3 == 1 { // run of one byte: the size is that of the output
			f.left = 3 + 1
		}
	default:
		f.ended = true
		if f.check {
			f.left = 4
		}
	}
	return nil
}
