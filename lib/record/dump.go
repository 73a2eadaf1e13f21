package record

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// dumpChunk is how much raw output goes into one Dump: large enough to compress well,
// small enough that a filter that passes it on need not hold much.
const dumpChunk = 1 << 20

// WriteDump writes all of in as dump records. Text stays text, so that it can be read with
// jq; what is not UTF-8, and perf.data always, is compressed. An empty input is one empty
// chunk.
func WriteDump(w *Writer, of string, in io.Reader) error {
	buf := make([]byte, dumpChunk)
	kept := 0 // bytes of a character that the last chunk would have cut
	for seq := 0; ; seq++ {
		n, err := io.ReadFull(in, buf[kept:])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return err
		}
		last := err != nil
		chunk := buf[:kept+n]
		kept = 0
		if !last && of != DumpPerfData {
			kept = cutCharacter(chunk)
		}
		if len(chunk) > 0 || seq == 0 {
			if err := w.Write(newDump(of, seq, chunk[:len(chunk)-kept])); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
		copy(buf, chunk[len(chunk)-kept:])
	}
}

func newDump(of string, seq int, chunk []byte) *Dump {
	if of != DumpPerfData && utf8.Valid(chunk) {
		return &Dump{Of: of, Seq: seq, Text: string(chunk)}
	}
	packed := encoder().EncodeAll(chunk, nil)
	return &Dump{Of: of, Seq: seq, Encoding: EncodingZstd, Data: base64.StdEncoding.EncodeToString(packed)}
}

// cutCharacter returns how many bytes at the end of b are the beginning of a character.
func cutCharacter(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic(err) // only for options that do not exist
	}
	return e
})

// maxChunk bounds what a compressed chunk may unpack to, so that a hostile line of a few
// kilobytes cannot ask for gigabytes.
const maxChunk = 256 << 20

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxChunk))
	if err != nil {
		panic(err)
	}
	return d
})

// AppendTo appends the bytes that the chunk stands for.
func (r *Dump) AppendTo(dst []byte) ([]byte, error) {
	switch r.Encoding {
	case "":
		if r.Data != "" {
			return dst, errors.New("dump record with data but no encoding")
		}
		return append(dst, r.Text...), nil
	case EncodingZstd:
		packed, err := base64.StdEncoding.DecodeString(r.Data)
		if err != nil {
			return dst, fmt.Errorf("dump record %d of %s: %w", r.Seq, r.Of, err)
		}
		out, err := decoder().DecodeAll(packed, dst)
		if err != nil {
			return dst, fmt.Errorf("dump record %d of %s: %w", r.Seq, r.Of, err)
		}
		return out, nil
	}
	return dst, fmt.Errorf("dump record in unknown encoding %q", r.Encoding)
}

// parse reads a dump line. Its data may be a megabyte of base64, which needs no JSON
// library.
func (r *Dump) parse(line []byte) error {
	*r = Dump{}
	s := scanner{b: line}
	s.want(`{"type":"dump","of":`)
	r.Of = s.text()
	s.want(`,"seq":`)
	r.Seq = int(s.int())
	if s.has(`,"text":`) {
		r.Text = s.text()
	}
	if s.has(`,"encoding":`) {
		r.Encoding = s.text()
	}
	if s.has(`,"data":`) {
		r.Data = s.text()
	}
	if !s.end() {
		return parseJSON(line, r)
	}
	return nil
}
