package script

import (
	"bytes"
	"io"
)

// bufSize is what is read at a time. One buffer is reused for the whole text: memory that
// was never touched before costs a page fault each, which is dearer than copying.
const bufSize = 256 << 10

// A lineBuffer hands out lines of any length. Bytes before at are consumed.
type lineBuffer struct {
	in   io.Reader
	buf  []byte
	at   int
	end  int
	line int64 // number of the line at buf[at], from 1
	err  error // of in; io.EOF at the end
}

// peek returns the next line without its newline, and whether there was one: the last
// line may lack it. ok is false at the end of the text. The line is valid until the next
// peek.
func (b *lineBuffer) peek() (line []byte, newline, ok bool) {
	seen := 0 // of the line, known to hold no newline
	for {
		if i := bytes.IndexByte(b.buf[b.at+seen:b.end], '\n'); i >= 0 {
			return b.buf[b.at : b.at+seen+i], true, true
		}
		seen = b.end - b.at
		if b.err != nil {
			return b.buf[b.at:b.end], false, seen > 0
		}
		b.fill()
	}
}

// skip consumes the line that peek returned.
func (b *lineBuffer) skip(line []byte, newline bool) {
	b.at += len(line)
	if newline {
		b.at++
		b.line++
	}
}

// fill reads more, behind what is not consumed yet.
func (b *lineBuffer) fill() {
	switch {
	case b.at > 0:
		b.end = copy(b.buf, b.buf[b.at:b.end])
		b.at = 0
	case b.end == len(b.buf):
		grown := make([]byte, max(bufSize, 2*len(b.buf)))
		b.end = copy(grown, b.buf[:b.end])
		b.buf = grown
	}
	for empty := 0; ; empty++ {
		n, err := b.in.Read(b.buf[b.end:])
		b.end += n
		if err == nil && n == 0 && empty < 100 {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrNoProgress
		}
		b.err = err
		return
	}
}
