package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// image is an ELF file with its headers read. Sections are read when they are needed.
type image struct {
	*elf.File
	path    string // for messages and for what lies beside the file
	data    io.ReaderAt
	size    int64
	buildID string // hex, empty where it has none
	closer  io.Closer
}

// openImage opens an ELF file.
func openImage(path string) (*image, error) {
	// Not a FIFO or a device, which would block or never end.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	im, err := newImage(path, file, info.Size())
	if err != nil {
		file.Close()
		return nil, err
	}
	im.closer = file
	return im, nil
}

// newImage reads the headers of an ELF file in data.
func newImage(path string, data io.ReaderAt, size int64) (im *image, err error) {
	defer recovered(path, &err)
	f, err := elf.NewFile(io.NewSectionReader(data, 0, size))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	im = &image{File: f, path: path, data: data, size: size}
	im.buildID = im.readBuildID()
	return im, nil
}

func (im *image) Close() {
	if im != nil && im.closer != nil {
		im.closer.Close()
	}
}

// recovered turns a panic of a library that reads a malformed file into an error.
func recovered(path string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s: malformed: %v", path, r)
	}
}

// contents returns the bytes of a section as they are in the file, or nil where it has
// none there.
func (im *image) contents(s *elf.Section) []byte {
	if s == nil || s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 ||
		s.Offset > uint64(im.size) || s.FileSize > uint64(im.size)-s.Offset {
		return nil
	}
	data := make([]byte, s.FileSize)
	if _, err := im.data.ReadAt(data, int64(s.Offset)); err != nil {
		return nil
	}
	return data
}

// section returns a section by index, or nil.
func (im *image) section(i uint32) *elf.Section {
	if uint64(i) >= uint64(len(im.Sections)) {
		return nil
	}
	return im.Sections[i]
}

// hasContents reports whether the file holds a section's bytes, not just its header.
func (im *image) hasContents(name string) bool {
	s := im.Section(name)
	return s != nil && s.Type != elf.SHT_NOBITS && s.Size > 0
}

// toOffset translates an address of the file into an offset, as perf does.
func (im *image) toOffset(addr uint64) (uint64, bool) {
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr-p.Vaddr < p.Memsz {
			return addr - p.Vaddr + p.Off, true
		}
	}
	return addr, false
}

// toAddress translates a file offset into an address. Where segments share a page of the
// file, code wins.
func (im *image) toAddress(off uint64) (uint64, bool) {
	addr, found := off, false
	for _, p := range im.Progs {
		if p.Type != elf.PT_LOAD || off < p.Off || off-p.Off >= p.Filesz {
			continue
		}
		if !found || p.Flags&elf.PF_X != 0 {
			addr, found = off-p.Off+p.Vaddr, true
		}
		if p.Flags&elf.PF_X != 0 {
			break
		}
	}
	return addr, found
}

// readBuildID looks where linkers put it: in sections, or where those were stripped, in
// the segment of notes.
func (im *image) readBuildID() string {
	for _, s := range im.Sections {
		if s.Type == elf.SHT_NOTE && s.FileSize <= maxNote {
			if id := buildID(im.contents(s), im.ByteOrder, s.Addralign); id != "" {
				return id
			}
		}
	}
	for _, p := range im.Progs {
		if p.Type != elf.PT_NOTE || p.Filesz > maxNote || p.Off > uint64(im.size) || p.Filesz > uint64(im.size)-p.Off {
			continue
		}
		notes := make([]byte, p.Filesz)
		if _, err := im.data.ReadAt(notes, int64(p.Off)); err != nil {
			continue
		}
		if id := buildID(notes, im.ByteOrder, p.Align); id != "" {
			return id
		}
	}
	return ""
}

// maxNote is far above what a linker writes, and keeps a core file's notes out.
const maxNote = 1 << 20

// buildID finds NT_GNU_BUILD_ID among ELF notes: sizes of name and description, type,
// then both, padded to 4 bytes, or 8 where the notes are aligned so.
func buildID(notes []byte, order binary.ByteOrder, align uint64) string {
	if align != 8 {
		align = 4
	}
	pad := func(n uint64) uint64 { return (n + align - 1) &^ (align - 1) }
	for len(notes) >= 12 {
		nameSize := uint64(order.Uint32(notes))
		descSize := uint64(order.Uint32(notes[4:]))
		kind := order.Uint32(notes[8:])
		descAt := pad(12 + nameSize)
		if descAt+descSize > uint64(len(notes)) {
			return ""
		}
		if kind == 3 && descSize > 0 && bytes.Equal(notes[12:12+nameSize], []byte("GNU\x00")) {
			return hex.EncodeToString(notes[descAt : descAt+descSize])
		}
		next := pad(descAt + descSize)
		if next > uint64(len(notes)) {
			return ""
		}
		notes = notes[next:]
	}
	return ""
}
