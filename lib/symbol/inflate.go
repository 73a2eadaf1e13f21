package symbol

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// expands is how much larger than compressed a section may be. Debug information shrinks
// to a half or a tenth.
const expands = 64

// inflate returns the contents of a section with SHF_COMPRESSED: a header of type and
// size, then a stream. debug/elf does the same, at half the speed.
func (im *image) inflate(data []byte) ([]byte, error) {
	o, header, size := im.ByteOrder, 12, uint64(0)
	switch {
	case im.Class == elf.ELFCLASS64 && len(data) >= 24:
		header, size = 24, o.Uint64(data[8:])
	case im.Class == elf.ELFCLASS32 && len(data) >= 12:
		size = uint64(o.Uint32(data[4:]))
	default:
		return nil, io.ErrUnexpectedEOF
	}
	if size > expands*uint64(len(data)) {
		return nil, fmt.Errorf("claims to be more than %d times larger than compressed", expands)
	}
	stream := bytes.NewReader(data[header:])
	var plain io.Reader
	switch elf.CompressionType(o.Uint32(data)) {
	case elf.COMPRESS_ZLIB:
		r, err := zlib.NewReader(stream)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		plain = r
	case elf.COMPRESS_ZSTD:
		r, err := zstd.NewReader(stream, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(max(size, 1<<20)))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		plain = r
	default:
		return nil, errors.New("compressed in an unknown way")
	}
	out := make([]byte, size)
	_, err := io.ReadFull(plain, out)
	return out, err
}
