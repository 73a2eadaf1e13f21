package data

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A Reader reads a recording.
//
//	r, err := data.NewReader(file)
//	...
//	defer r.Close()
//	for r.Next() {
//		rec := r.Record()
//		if rec.Type == data.RecordSample && rec.Event() != nil && rec.Sample(rec.Event(), &s) {
//			fmt.Println(rec.Event().Name, s.TID, s.IP)
//		}
//	}
//	if err := r.Err(); err != nil { ... }
type Reader struct {
	order
	pipe    bool
	events  events
	info    Info
	formats map[uint32]*Format // of tracepoints, by id
	counts  [countTypes]uint64
	unknown uint64 // records of types beyond

	pool     chunks
	outer    stream  // the recording
	inner    *stream // its decompressed part; nil before the first of it
	inflater *inflater
	inside   bool // records come from inner
	queue    queue
	held     *chunk // of record
	ahead    bool   // Next is to yield the record that is there
	record   Record
	ended    bool
	fault    *Fault
	err      error
}

// A Fault is where a recording stops being readable.
type Fault struct {
	Place int64 // offset
	Text  string
}

func (f *Fault) Error() string { return fmt.Sprintf("%s at offset %d", f.Text, f.Place) }

// ErrFormat says that the input is no recording of perf.
var ErrFormat = errors.New("not a perf.data file")

// ErrNotSeekable says that a file came through a pipe. Only what perf record wrote into a
// pipe can be read from one: the names of a file are at its end.
var ErrNotSeekable = errors.New("a perf.data file cannot be read from a pipe")

const (
	pipeHeaderSize = 16
	fileHeaderSize = 104
)

// IsRecording reports whether a file begins like a recording of perf, in either byte order.
// Version 1 of the format ("PERFFILE") has been gone since 2009.
func IsRecording(head []byte) bool {
	_, ok := orderOf(head)
	return ok
}

// IsPipe reports whether a recording that begins with head was written into a pipe.
func IsPipe(head []byte) bool {
	o, ok := orderOf(head)
	return ok && len(head) >= pipeHeaderSize && o.u64(head[8:]) == pipeHeaderSize
}

// orderOf tells the byte order by the first eight bytes.
func orderOf(head []byte) (o order, ok bool) {
	switch {
	case bytes.HasPrefix(head, []byte("PERFILE2")):
		return order{}, true
	case bytes.HasPrefix(head, []byte("2ELIFREP")):
		return order{big: true}, true
	}
	return o, false
}

// NewReader reads the header of a recording, and of a pipe what stands in front of the
// first record of the kernel. Unless perf record wrote into a pipe, in has to be an
// [io.ReaderAt] too; then it is read from its beginning, wherever it stands.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{info: Info{BuildIDs: map[string]BuildID{}}}
	r.record.events = &r.events
	at, seekable := in.(io.ReaderAt)
	head := make([]byte, fileHeaderSize)
	// What is behind the first 16 bytes of a pipe are records, which are read in order.
	n, err := io.ReadFull(in, head[:pipeHeaderSize])
	if seekable {
		// A file that is a pipe in truth cannot be read at an offset.
		if k, err := at.ReadAt(head, 0); k < pipeHeaderSize {
			seekable = false
		} else if n = k; err != nil && err != io.EOF {
			return nil, err
		}
	} else if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	var ok bool
	if r.order, ok = orderOf(head[:n]); !ok || n < pipeHeaderSize {
		return nil, ErrFormat
	}
	r.record.order = r.order
	size := r.u64(head[8:])
	switch {
	case size == pipeHeaderSize:
		r.pipe = true
		if seekable {
			in = io.NewSectionReader(at, pipeHeaderSize, 1<<62)
		}
		r.outer = stream{pool: &r.pool, in: in, offset: pipeHeaderSize, limit: -1}
		for !r.ended && !r.ahead && r.queue.empty() {
			r.ahead = r.read()
		}
		return r, nil
	case size >= fileHeaderSize && !seekable:
		return nil, ErrNotSeekable
	case size < fileHeaderSize || n < fileHeaderSize:
		return nil, fmt.Errorf("%w: its header has %d bytes", ErrFormat, min(size, uint64(n)))
	}
	return r, r.fileHeader(at, head)
}

// Next moves to the next record. At the end of the recording, and where it cannot be read
// any further, it returns false.
func (r *Reader) Next() bool {
	if r.ahead {
		r.ahead = false
		return true
	}
	if r.held != nil {
		r.pool.release(r.held)
		r.held = nil
	}
	r.record.own = nil
	for {
		if w, ok := r.queue.pop(); ok {
			r.held = r.pool.list[w.chunk]
			b := r.held.buf[w.at:]
			r.set(b[:r.u16(b[6:])], w.time, r.held.place(int(w.at)))
			return true
		}
		if r.ended {
			return false
		}
		if r.read() {
			return true
		}
	}
}

// set makes the record of its bytes.
func (r *Reader) set(b []byte, time uint64, place int64) {
	rec := &r.record
	rec.Type, rec.Misc, rec.Body = Type(r.u32(b)), r.u16(b[4:]), b[8:len(b):len(b)]
	rec.Time, rec.Place = time, place
}

// Record returns the record that Next moved to. Only its fields change with the next one.
func (r *Reader) Record() *Record { return &r.record }

// Err returns why reading failed, nil where it did not: a fault of the recording is none.
func (r *Reader) Err() error { return r.err }

// Fault returns what is wrong with the recording, nil where nothing is.
func (r *Reader) Fault() *Fault { return r.fault }

// Info returns what is known about the recording. A pipe may have build-ids at its end.
func (r *Reader) Info() *Info { return &r.info }

// Events returns the events, in their order.
func (r *Reader) Events() []*Event { return r.events.list }

// Count returns how many records of a type were read, whether Next yields them or not.
func (r *Reader) Count(t Type) uint64 {
	if t < countTypes {
		return r.counts[t]
	}
	return 0
}

// Unknown returns how many records were skipped whose types are of a perf to come.
func (r *Reader) Unknown() uint64 { return r.unknown }

// IsPipe reports whether perf record wrote into a pipe.
func (r *Reader) IsPipe() bool { return r.pipe }

// Close gives back what reading needed. The input stays open.
func (r *Reader) Close() {
	if r.inflater != nil {
		r.inflater.stop()
	}
}

// breaks ends reading at a fault.
func (r *Reader) breaks(place int64, format string, a ...any) {
	if r.fault == nil {
		r.fault = &Fault{place, fmt.Sprintf(format, a...)}
	}
	r.end()
}

func (r *Reader) end() {
	r.ended = true
	r.queue.flush(NoTime)
}

// read reads one record, and reports whether Next is to yield it.
func (r *Reader) read() bool {
	s := &r.outer
	if r.inside {
		s = r.inner
	}
	n := s.have(recordHeader)
	if n < recordHeader {
		r.endOf(s, n)
		return false
	}
	head := s.bytes(recordHeader)
	t, size := Type(r.u32(head)), int(r.u16(head[6:]))
	if size < recordHeader {
		r.breaks(s.place(), "a record of %d bytes, less than its own header", size)
		return false
	}
	if n = s.have(size); n < size {
		r.endOf(s, n)
		return false
	}
	b := s.bytes(size)
	place := s.place()
	s.at += size
	if t < countTypes {
		r.counts[t]++
	} else {
		r.unknown++
	}
	if t >= recordUser {
		return r.user(s, t, b, place)
	}
	time := r.timeOf(t, b[recordHeader:])
	if time == 0 || time == NoTime {
		// The chunk cannot be used again before the next call of Next.
		s.c.refs++
		r.held = s.c
		r.set(b, NoTime, place)
		return true
	}
	s.c.refs++
	r.queue.add(waiting{time: time, chunk: s.c.number, at: uint32(s.at - size)})
	if r.pool.used() > maxChunks {
		r.queue.flushHalf()
	}
	return false
}

const (
	recordHeader = 8
	countTypes   = 96 // those that are known, and some room
	// A recording without FINISHED_ROUND records has to be sorted whole. perf writes them;
	// what was decompressed from a few bytes must not fill the memory for want of them.
	maxChunks = 2048
)

// endOf ends a stream that has only n bytes left, which are no whole record.
func (r *Reader) endOf(s *stream, n int) {
	if s.err != io.EOF && s.err != nil {
		if s == r.inner {
			r.breaks(s.place(), "compressed data that cannot be decompressed (%v)", s.err)
			return
		}
		r.err = s.err
		r.end()
		return
	}
	if s == r.inner {
		r.inside = false // the rest of a record comes with the next compressed one
		return
	}
	switch {
	case n > 0:
		r.breaks(s.place(), "the recording ends inside a record")
	case s.limit > 0:
		r.breaks(s.place(), "the recording ends %d bytes too early", s.limit)
	case r.inner != nil && r.inner.c != nil && len(r.inner.c.buf) > r.inner.at:
		r.breaks(s.place(), "the compressed data ends inside a record")
	default:
		r.end()
	}
}

// timeOf returns the time of a record of the kernel.
func (r *Reader) timeOf(t Type, body []byte) uint64 {
	l, ok := r.events.layout(r.order, t, body)
	if !ok {
		return NoTime
	}
	at := l.sampleTime
	if t != RecordSample {
		at = len(body) - l.tailTime
		if l.tailTime < 0 {
			return NoTime
		}
	}
	if at < 0 || at+8 > len(body) {
		return NoTime
	}
	return r.u64(body[at:])
}

// user takes a record that perf record itself wrote, and reports whether Next is to yield
// it.
func (r *Reader) user(s *stream, t Type, b []byte, place int64) bool {
	body := b[recordHeader:]
	c := cursor{order: r.order, b: body}
	switch t {
	case recordAttr:
		r.attrRecord(body)
	case recordEventUpdate:
		r.updateRecord(&c)
	case recordFeature:
		number := c.u64()
		if !c.short && number < features {
			r.feature(int(number), c.b)
		}
	case recordBuildID:
		r.buildID(r.u16(b[4:]), body, false)
	case recordTracingData:
		text, ok := s.read(uint64(c.u32()))
		if !ok {
			r.breaks(place, "the recording ends inside the descriptions of its tracepoints")
			return false
		}
		r.formats = parseTracing(text)
		r.nameTracepoints()
	case recordAuxtrace:
		if !s.skip(c.u64()) {
			r.breaks(place, "the recording ends inside a hardware trace")
		}
	case recordFinishedRound:
		r.queue.finishRound()
	case recordCompressed, recordCompressed2:
		r.compressed(t, &c, place)
	case RecordAuxtraceError, RecordTimeConv:
		s.c.refs++
		r.held = s.c
		r.set(b, NoTime, place)
		return true
	}
	return false
}

// compressed begins to read the contents of a COMPRESSED record.
//
//	COMPRESSED:  data
//	COMPRESSED2: size u64, data, padding
func (r *Reader) compressed(t Type, c *cursor, place int64) {
	if r.inside {
		r.breaks(place, "compressed data inside compressed data")
		return
	}
	data := c.b
	if t == recordCompressed2 {
		if data = c.take(c.u64()); c.short {
			r.breaks(place, "a compressed record that is shorter than its data")
			return
		}
	}
	if r.inner == nil {
		r.inflater = newInflater()
		r.inner = &stream{pool: &r.pool, in: r.inflater, limit: -1, fixed: true}
	}
	// The bytes lie in a chunk that outer reads no further before inner has ended.
	r.inflater.add(data)
	r.inner.offset, r.inner.err = place, nil
	r.inside = true
}
