package data

import "io"

const (
	chunkSize = 256 << 10 // what is read at once
	maxRecord = 1<<16 - 1 // what the size in a record's header can say
)

// A chunk is a part of the recording. Records that wait for others with an earlier time
// stay where they were read, so a chunk is used again when all its records were yielded.
type chunk struct {
	buf    []byte
	offset int64 // of buf[0] in the recording
	fixed  bool  // all its records have this offset: that of the compressed data
	refs   int   // the stream that fills it, and the records that wait
	number uint32
}

// place returns the offset of the record at buf[at].
func (c *chunk) place(at int) int64 {
	if c.fixed {
		return c.offset
	}
	return c.offset + int64(at)
}

// chunks are all those in use, by number, and the free ones.
type chunks struct {
	list []*chunk
	free []*chunk
}

func (p *chunks) get() *chunk {
	if n := len(p.free); n > 0 {
		c := p.free[n-1]
		p.free = p.free[:n-1]
		c.refs, c.buf = 1, c.buf[:0]
		return c
	}
	c := &chunk{buf: make([]byte, 0, chunkSize), refs: 1, number: uint32(len(p.list))}
	p.list = append(p.list, c)
	return c
}

func (p *chunks) release(c *chunk) {
	if c.refs--; c.refs == 0 {
		p.free = append(p.free, c)
	}
}

// used returns how many chunks are in use.
func (p *chunks) used() int { return len(p.list) - len(p.free) }

// A stream cuts what it reads into chunks in which every record is in one piece.
type stream struct {
	pool   *chunks
	in     io.Reader
	c      *chunk // what was read and not consumed is c.buf[at:]
	at     int
	offset int64 // of what is read next
	limit  int64 // bytes that may be read yet; -1 without a limit
	fixed  bool
	err    error // of in; io.EOF at the end
}

// have makes the next n bytes lie in one piece, n at most maxRecord, and reports how many
// bytes there are: less than n only at the end.
func (s *stream) have(n int) int {
	if s.c == nil {
		s.c, s.at = s.pool.get(), 0
		s.c.offset, s.c.fixed = s.offset, s.fixed
	}
	for len(s.c.buf)-s.at < n && s.err == nil {
		if s.at+n > cap(s.c.buf) || len(s.c.buf) == cap(s.c.buf) {
			s.turn()
		}
		free := s.c.buf[len(s.c.buf):cap(s.c.buf)]
		if s.limit >= 0 && int64(len(free)) > s.limit {
			if free = free[:s.limit]; len(free) == 0 {
				s.err = io.EOF
				break
			}
		}
		k, err := s.in.Read(free)
		s.c.buf = s.c.buf[:len(s.c.buf)+k]
		if !s.fixed {
			s.offset += int64(k)
		}
		if s.limit >= 0 {
			s.limit -= int64(k)
		}
		s.err = err
	}
	return len(s.c.buf) - s.at
}

// turn goes on in a new chunk with what is left of the old one.
func (s *stream) turn() {
	c := s.pool.get()
	rest := s.c.buf[s.at:]
	c.buf = append(c.buf, rest...)
	c.offset, c.fixed = s.offset-int64(len(rest)), s.fixed
	if s.fixed {
		c.offset = s.offset
	}
	s.pool.release(s.c)
	s.c, s.at = c, 0
}

// bytes returns the next n bytes, which have said are there.
func (s *stream) bytes(n int) []byte { return s.c.buf[s.at : s.at+n : s.at+n] }

// place returns the offset of the next byte.
func (s *stream) place() int64 {
	if s.c == nil {
		return s.offset
	}
	return s.c.place(s.at)
}

// read copies the next n bytes, of any number, and skip leaves them out. Both report
// whether there were as many.
func (s *stream) read(n uint64) ([]byte, bool) {
	var b []byte
	ok := s.eachPiece(n, func(piece []byte) { b = append(b, piece...) })
	return b, ok
}

func (s *stream) skip(n uint64) bool { return s.eachPiece(n, func([]byte) {}) }

func (s *stream) eachPiece(n uint64, f func([]byte)) bool {
	for n > 0 {
		k := s.have(1)
		if k == 0 {
			return false
		}
		k = int(min(uint64(k), n))
		f(s.bytes(k))
		s.at += k
		n -= uint64(k)
	}
	return true
}
