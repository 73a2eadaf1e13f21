package record

import (
	"bytes"
	"fmt"
	"io"

	"github.com/goccy/go-json"
)

// A Problem is a place where the input is not what it should be. Reading goes on behind
// it.
type Problem struct {
	Name  string // of the input
	Line  int    // 1 is the first
	Cause Cause
	Text  string
}

// String returns "name:line: text".
func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.Name, p.Line, p.Text) }

// A Reader reads records line by line. It looks at the type of each, and at nothing else
// unless Decode is called. Lines may be of any length, and the last one may lack its
// newline. A line that is no record is reported and passed over.
type Reader struct {
	// Report, if set, is told of lines that are no records, and of streams that were cut
	// or that say of themselves that they are not complete.
	Report func(Problem)

	name   string
	in     io.Reader
	buf    []byte // buf[at:] is read but not yet returned
	at     int
	eof    bool
	err    error
	line   []byte
	rest   []byte // further records on the line that line came from
	lineNo int
	typ    Type
	open   bool   // a stream record was seen and its end was not
	opened int    // the line it was in
	by     string // who wrote it

	stream  int                // ordinal of the open stream
	streams int                // how many there were, copies not counted
	known   map[string]*copies // by stream record
	copy    *copies            // of the open stream; nil if it names no profile
	count   [NumTypes]int      // records of each type in the open stream so far
	repeat  bool
}

// copies is what was seen of one stream in all the places where it is in the input.
type copies struct {
	stream int
	seen   [NumTypes]int // the most records of each type that one copy held
}

// maxLine bounds a line: what has none within it is no record stream, and must not fill the
// memory before that is noticed. The longest lines that filters write, dumps, have 2 MB.
var maxLine = 256 << 20 // a variable for the tests

// NewReader returns a Reader of what in holds: records as plain text, gzip or zstd, or
// any concatenation of these. name stands in the reports.
func NewReader(name string, in io.Reader) *Reader {
	return NewPlainReader(name, NewDecompressor(in))
}

// NewPlainReader is NewReader for what is not compressed, or not any more.
func NewPlainReader(name string, in io.Reader) *Reader {
	return &Reader{name: name, in: in}
}

// Reset goes on with another plain input, as if its content followed that of the last one:
// [Reader.Stream] counts on, but for records before the first stream record it is 0 again.
func (r *Reader) Reset(name string, in io.Reader) {
	*r = Reader{
		Report: r.Report, name: name, in: in, buf: r.buf[:0],
		streams: r.streams, known: r.known,
	}
}

// Next moves to the next record. It returns false at the end of the input and when reading
// fails: Err tells which.
func (r *Reader) Next() bool {
	for r.nextLine() {
		t, ok := sniff(r.line)
		if !ok {
			if len(bytes.TrimSpace(r.line)) > 0 {
				r.report(r.lineNo, CauseBadInput, "not a record: "+excerpt(r.line))
			}
			continue
		}
		r.typ = t
		switch t {
		case TypeStream:
			r.bracketOpens()
		case TypeEnd:
			r.bracketCloses()
		}
		r.repeat = r.repeats(t)
		return true
	}
	r.line = nil
	r.cut()
	return false
}

func (r *Reader) bracketOpens() {
	r.cut()
	var s Stream
	r.by = "?"
	if s.parse(r.line) == nil {
		r.by = s.By
	}
	r.open, r.opened = true, r.lineNo

	r.count = [NumTypes]int{}
	r.copy = r.known[string(r.line)]
	if r.copy == nil {
		r.streams++
		if s.Profile != "" {
			r.copy = &copies{stream: r.streams}
			if r.known == nil {
				r.known = map[string]*copies{}
			}
			r.known[string(r.line)] = r.copy
		}
	}
	r.stream = r.streams
	if r.copy != nil {
		r.stream = r.copy.stream
	}
}

// repeats counts a record of the open stream and tells whether an earlier copy held it.
func (r *Reader) repeats(t Type) bool {
	if r.copy == nil {
		return false
	}
	r.count[t]++
	if r.count[t] <= r.copy.seen[t] {
		return true
	}
	r.copy.seen[t] = r.count[t]
	return false
}

func (r *Reader) bracketCloses() {
	r.open = false
	var e End
	if e.parse(r.line) == nil && !e.Complete {
		r.report(r.lineNo, e.Cause, "the stream of "+e.By+" is not complete")
	}
}

// cut reports the open stream, if any, as one that has no end record.
func (r *Reader) cut() {
	if r.open {
		r.open = false
		r.report(r.opened, CauseTruncatedInput, "the stream of "+r.by+" that begins here has no end: it was cut")
	}
}

// Type returns the type of the record.
func (r *Reader) Type() Type { return r.typ }

// Line returns the record as it was read, without the newline. It is valid until the next
// call of Next.
func (r *Reader) Line() []byte { return r.line }

// Stream returns the ordinal of the stream that the record is in: ids of different
// streams have nothing to do with each other. It is 0 before the first stream record. The
// copies of one stream have the same ordinal, for their ids are the same.
func (r *Reader) Stream() int { return r.stream }

// Repeat tells whether the record was read before. A filter passes on what it reads, so
// two files that were made from each other hold the same streams, and concatenated they
// would count everything twice. Streams of one profile with equal stream records are
// copies of one stream; as their records come in the same order, the n-th of a type is the
// same in all of them. So it does not matter which types were dropped from which copy, nor
// whether one was cut. A filter passes a repeated record on, and does nothing else with it.
//
// Streams that name no profile cannot be told from a second recording: nothing in them is
// a repeat.
func (r *Reader) Repeat() bool { return r.repeat }

// Place returns where the record is: "name:line".
func (r *Reader) Place() string { return fmt.Sprintf("%s:%d", r.name, r.lineNo) }

// LineNumber returns the number of the record's line within its input; the first is 1.
func (r *Reader) LineNumber() int { return r.lineNo }

// Decode replaces v by what the record says. It returns false, after a report, if the
// record cannot be read as v: go on with the next one.
func (r *Reader) Decode(v Record) bool {
	if v.Type() != r.typ {
		panic("record: a " + r.typ.String() + " record decoded as " + v.Type().String())
	}
	if err := v.parse(r.line); err != nil {
		r.report(r.lineNo, CauseBadInput, err.Error()+": "+excerpt(r.line))
		return false
	}
	return true
}

// Err returns the error that ended reading, nil at the end of the input.
func (r *Reader) Err() error { return r.err }

func (r *Reader) report(line int, cause Cause, text string) {
	if r.Report != nil {
		r.Report(Problem{Name: r.name, Line: line, Cause: cause, Text: text})
	}
}

// joint is what stands in a line where a file whose last line lacks its newline was
// concatenated with the next one. Inside a JSON string its quotes would be escaped.
var joint = []byte(`}{"type":"`)

// nextLine sets line to the next line of the input, or to the next record of a line that
// holds several.
func (r *Reader) nextLine() bool {
	if len(r.rest) > 0 {
		r.line, r.rest = splitJoint(r.rest)
		return true
	}
	seen := 0
	for {
		if i := bytes.IndexByte(r.buf[r.at+seen:], '\n'); i >= 0 {
			end := r.at + seen + i
			r.take(r.buf[r.at:end])
			r.at = end + 1
			return true
		}
		seen = len(r.buf) - r.at
		if r.eof {
			if seen == 0 {
				return false
			}
			r.take(r.buf[r.at:])
			r.at = len(r.buf)
			return true
		}
		if seen > maxLine {
			r.lineNo++
			r.err = fmt.Errorf("line %d is longer than %d MB: this is no record stream", r.lineNo, maxLine>>20)
			return false
		}
		r.fill()
	}
}

func (r *Reader) take(line []byte) {
	r.lineNo++
	r.line, r.rest = splitJoint(line)
}

func splitJoint(line []byte) (first, rest []byte) {
	if i := bytes.Index(line, joint); i >= 0 {
		return line[:i+1], line[i+1:]
	}
	return line, nil
}

// fill reads more behind buf[at:], which moves to the front or into a larger buffer.
func (r *Reader) fill() {
	const least = 256 << 10
	if r.at > 0 {
		n := copy(r.buf, r.buf[r.at:])
		r.buf, r.at = r.buf[:n], 0
	}
	if len(r.buf) == cap(r.buf) {
		bigger := make([]byte, len(r.buf), max(least, 2*cap(r.buf)))
		copy(bigger, r.buf)
		r.buf = bigger
	}
	n, err := r.in.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	if err != nil {
		r.eof = true
		if err != io.EOF {
			r.err = err
		}
	}
}

var opening = []byte(`{"type":"`)

// sniff returns the type of the record in line. ok is false if line is no record: not an
// object, cut before its brace, without a type.
func sniff(line []byte) (t Type, ok bool) {
	if bytes.HasPrefix(line, opening) && line[len(line)-1] == '}' {
		word := line[len(opening):min(len(line), len(opening)+24)]
		if i := bytes.IndexByte(word, '"'); i > 0 && bytes.IndexByte(word[:i], '\\') < 0 {
			return typeOf(word[:i]), true
		}
	}
	return sniffOdd(line)
}

// sniffOdd reads lines that other tools wrote: the type elsewhere, blanks, CRLF.
func sniffOdd(line []byte) (Type, bool) {
	line = bytes.TrimSpace(line)
	if len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}' {
		return Unknown, false
	}
	var v struct {
		Type *string `json:"type"`
	}
	if json.Unmarshal(line, &v) != nil || v.Type == nil {
		return Unknown, false
	}
	return TypeOf(*v.Type), true
}

// excerpt quotes the beginning of a line for a message.
func excerpt(line []byte) string {
	const most = 60
	if len(line) <= most {
		return fmt.Sprintf("%q", line)
	}
	return fmt.Sprintf("%q...", line[:most])
}
