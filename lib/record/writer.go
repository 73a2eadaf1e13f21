package record

import (
	"errors"
	"io"
)

// flushAt is the buffer fill at which a Writer writes: large enough for the kernel to be
// cheap, small enough to stay in cache.
const flushAt = 128 << 10

// A Writer writes records, one per line. It buffers: call Flush in the end. Errors of the
// underlying writer are sticky: every later call returns the first one.
type Writer struct {
	out     io.Writer
	buf     []byte
	err     error
	dropped [NumTypes]bool
	by      string // producer of the open stream
	open    bool
	counts  [NumTypes]int
}

// NewWriter returns a Writer on out.
func NewWriter(out io.Writer) *Writer {
	return &Writer{out: out, buf: make([]byte, 0, flushAt+(flushAt>>2))}
}

// Drop leaves records of these types out from now on, passed on or written alike. The
// brackets (stream, end) and notices cannot be dropped: without them a reader could not
// tell a short stream from a cut one.
func (w *Writer) Drop(types ...Type) error {
	for _, t := range types {
		switch t {
		case Unknown, TypeStream, TypeEnd, TypeNotice:
			return errors.New("records of type " + t.String() + " cannot be dropped")
		}
		if t < NumTypes {
			w.dropped[t] = true
		}
	}
	return nil
}

// Begin opens a stream: ids start anew. It sets s.Schema.
func (w *Writer) Begin(s Stream) error {
	s.Schema = Schema
	w.by, w.open = s.By, true
	w.counts = [NumTypes]int{}
	return w.Write(&s)
}

// End closes the stream that Begin opened, with the number of records of each type that
// were written into it. A cause other than "" says that the stream is not complete, and
// why.
func (w *Writer) End(cause Cause) error {
	end := End{By: w.by, Counts: map[string]int{}, Complete: cause == "", Cause: cause}
	for t, n := range w.counts {
		if n > 0 {
			end.Counts[Type(t).String()] = n
		}
	}
	w.open = false
	return w.Write(&end)
}

// Write appends the line of r. Writing a record that cannot be expressed in JSON (a NaN)
// is an error of that record alone: the next one is written again.
func (w *Writer) Write(r Record) error {
	if w.err != nil {
		return w.err
	}
	t := r.Type()
	if w.dropped[t] {
		return nil
	}
	n := len(w.buf)
	buf, err := r.appendTo(w.buf)
	if err != nil {
		w.buf = buf[:n]
		return err
	}
	w.buf = append(buf, '\n')
	if w.open && t != TypeStream {
		w.counts[t]++
	}
	return w.full()
}

// Raw passes a line on, byte for byte; the newline is added.
func (w *Writer) Raw(line []byte) error {
	if w.err != nil {
		return w.err
	}
	if t, ok := sniff(line); ok && w.dropped[t] {
		return nil
	}
	if len(line) >= flushAt { // a dump: no copy
		if w.Flush() == nil {
			w.put(line)
		}
		w.buf = append(w.buf, '\n')
		return w.err
	}
	w.buf = append(append(w.buf, line...), '\n')
	return w.full()
}

func (w *Writer) full() error {
	if len(w.buf) >= flushAt {
		return w.Flush()
	}
	return nil
}

// Flush writes what is buffered.
func (w *Writer) Flush() error {
	w.put(w.buf)
	w.buf = w.buf[:0]
	return w.err
}

func (w *Writer) put(b []byte) {
	if w.err != nil || len(b) == 0 {
		return
	}
	n, err := w.out.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	w.err = err
}

// An Interner gives the frames and stacks of one stream their ids, and writes each
// distinct one when it is first seen, so that it is defined before it is used.
type Interner struct {
	w      *Writer
	frames map[Frame]ID
	stacks map[node]ID
}

type node struct{ frame, parent ID }

// NewInterner returns an Interner for the stream that is open in w. Every stream needs
// its own.
func NewInterner(w *Writer) *Interner {
	return &Interner{w: w, frames: map[Frame]ID{}, stacks: map[node]ID{}}
}

// Frame returns the id of f, whose ID field is not looked at.
func (in *Interner) Frame(f Frame) ID {
	f.ID = 0
	id, ok := in.frames[f]
	if !ok {
		id = ID(len(in.frames) + 1)
		in.frames[f] = id
		f.ID = id
		in.w.Write(&f) // a write error is sticky: Flush returns it
	}
	return id
}

// Stack returns the id of the stack that frame makes when called from parent, 0 for a
// root.
func (in *Interner) Stack(parent, frame ID) ID {
	id, ok := in.stacks[node{frame, parent}]
	if !ok {
		id = ID(len(in.stacks) + 1)
		in.stacks[node{frame, parent}] = id
		in.w.Write(&Stack{ID: id, Frame: frame, Parent: parent})
	}
	return id
}
