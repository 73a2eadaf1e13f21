// Package jsonout writes JSON as it comes, where a document is too large to be put together
// in memory first.
package jsonout

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
)

// A Writer writes JSON. It knows nothing of the grammar: what is between the values is
// written with Raw. The first error of the output is kept for Flush.
type Writer struct {
	out     *bufio.Writer
	scratch []byte
}

// New returns a Writer on out.
func New(out io.Writer) *Writer { return &Writer{out: bufio.NewWriterSize(out, 64<<10)} }

// Raw writes text as it is.
func (w *Writer) Raw(text string) { w.out.WriteString(text) }

// String writes a string. What could end a script element in a page that it is put into is
// written as an escape, and what is not UTF-8 as U+FFFD.
func (w *Writer) String(s string) {
	b, _ := json.Marshal(s) // cannot fail for a string
	w.out.Write(b)
}

// Uint writes an integer.
func (w *Writer) Uint(n uint64) {
	w.scratch = strconv.AppendUint(w.scratch[:0], n, 10)
	w.out.Write(w.scratch)
}

// Int writes an integer.
func (w *Writer) Int(n int64) {
	w.scratch = strconv.AppendInt(w.scratch[:0], n, 10)
	w.out.Write(w.scratch)
}

// Milliseconds writes nanoseconds as milliseconds, exactly: 1500000 is 1.5.
func (w *Writer) Milliseconds(ns int64) {
	if ns < 0 {
		w.Raw("-")
	}
	n := uint64(ns)
	if ns < 0 {
		n = -n
	}
	w.Uint(n / 1e6)
	rest := n % 1e6
	if rest == 0 {
		return
	}
	digits := strconv.AppendUint(w.scratch[:0], 1e6+rest, 10)
	digits[0] = '.'
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	w.out.Write(digits)
}

// Array writes an array of n values, each of which is written by value.
func (w *Writer) Array(n int, value func(i int)) {
	w.Raw("[")
	for i := range n {
		if i > 0 {
			w.Raw(",")
		}
		value(i)
	}
	w.Raw("]")
}

// Flush writes what is buffered.
func (w *Writer) Flush() error { return w.out.Flush() }
