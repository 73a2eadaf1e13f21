package data

import (
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// An inflater undoes perf record -z, which writes its records through one zstd stream and
// flushes it at the end of every COMPRESSED record: the stream runs on through all of them,
// in a frame that is never closed. What such a record holds is needed before the records
// behind it are looked at, FINISHED_ROUND among them. So the decoder runs as a coroutine,
// which pauses when it wants more than there is.
type inflater struct {
	next func() ([]byte, bool) // goes on with the decoder: a piece of its output, nil if it pauses
	stop func()
	in   []byte // compressed and not yet taken
	out  []byte // decompressed and not yet taken
	err  error
}

const (
	inflateSize = 128 << 10 // a block of zstd holds no more
	maxWindow   = 128 << 20 // what the decoder may have to remember: 8 MiB up to level 19, this for 22
)

func newInflater() *inflater {
	z := &inflater{}
	z.next, z.stop = iter.Pull(z.decode)
	return z
}

func (z *inflater) decode(yield func([]byte) bool) {
	d, err := zstd.NewReader(&inflaterInput{z, yield}, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		z.err = err
		return
	}
	defer d.Close()
	buf := make([]byte, inflateSize)
	for {
		n, err := d.Read(buf)
		if n > 0 && !yield(buf[:n]) {
			return
		}
		if err != nil {
			z.err = err
			return
		}
	}
}

// add adds the contents of a COMPRESSED record. b has to stay as it is until Read returned
// io.EOF.
func (z *inflater) add(b []byte) { z.in = b }

// Read returns what was decompressed, and io.EOF when that is all until more is added.
func (z *inflater) Read(p []byte) (int, error) {
	if len(z.out) == 0 {
		var ok bool
		if z.out, ok = z.next(); !ok {
			return 0, z.err
		}
		if z.out == nil {
			return 0, io.EOF
		}
	}
	n := copy(p, z.out)
	z.out = z.out[n:]
	return n, nil
}

type inflaterInput struct {
	z     *inflater
	yield func([]byte) bool
}

// Read takes compressed data, and waits for some.
func (f *inflaterInput) Read(p []byte) (int, error) {
	for len(f.z.in) == 0 {
		if !f.yield(nil) {
			return 0, io.ErrUnexpectedEOF
		}
	}
	n := copy(p, f.z.in)
	f.z.in = f.z.in[n:]
	return n, nil
}
