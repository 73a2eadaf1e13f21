package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"vperf/lib/record"
	"vperf/lib/symbol/dwarf"
)

// lines is the debug information of a module, opened when it is asked for first.
type lines struct {
	finder  *Finder
	runtime *image // its file is closed, its segments are known

	once    sync.Once
	info    *dwarf.Data // nil where there is none
	problem atomic.Pointer[Problem]
}

func (l *lines) at(off uint64) []Frame {
	l.once.Do(l.open)
	if l.info == nil {
		return nil
	}
	addr, ok := l.runtime.toAddress(off)
	if !ok {
		return nil
	}
	frames := l.info.Frames(addr)
	if err := l.info.Err(); err != nil && l.problem.Load() == nil {
		l.problem.Store(&Problem{
			Cause: record.CauseBadInput,
			Text:  fmt.Sprintf("%s: debug information: %v", l.runtime.path, err),
			Hint:  "some inlined functions and line numbers are missing: build it again",
		})
	}
	return frames
}

func (l *lines) open() {
	im, err := openImage(l.runtime.path)
	if err != nil || im.buildID != l.runtime.buildID {
		im.Close()
		return // it was there a moment ago: replaced while we read
	}
	defer im.Close()
	from := im
	if !im.hasContents(".debug_info") {
		if from = l.finder.debugFile(im, ".debug_info"); from == nil {
			return
		}
		defer from.Close()
	}
	if l.info, err = l.finder.dwarf(from, true); err != nil {
		l.problem.Store(&Problem{Cause: record.CauseBadInput, Text: err.Error(), Hint: "the debug information is damaged: build or install it again"})
		return
	}
	if dwo := l.info.Split(); dwo != "" {
		l.problem.Store(&Problem{
			Cause: record.CauseSymbolsMissing,
			Text:  fmt.Sprintf("%s: inlined functions are described in other files (%s), which are not read", im.path, dwo),
			Hint:  "build with -gno-split-dwarf",
		})
	}
}

// dwarf opens the debug information of an image. It is mapped: of hundreds of megabytes
// few pages are needed.
func (f *Finder) dwarf(im *image, mayLink bool) (*dwarf.Data, error) {
	file, ok := im.data.(*os.File)
	if !ok || int64(int(im.size)) != im.size || im.size == 0 {
		return nil, fmt.Errorf("%s cannot be mapped", im.path)
	}
	mapped, err := syscall.Mmap(int(file.Fd()), 0, int(im.size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", im.path, err)
	}
	s := dwarf.Sections{Order: im.ByteOrder, Spell: demangle}
	for name, to := range map[string]*[]byte{
		"info": &s.Info, "abbrev": &s.Abbrev, "line": &s.Line, "line_str": &s.LineStr, "str": &s.Str,
		"str_offsets": &s.StrOffsets, "addr": &s.Addr, "ranges": &s.Ranges, "rnglists": &s.RngLists,
	} {
		if *to, err = im.mappedSection(im.Section(".debug_"+name), mapped); err != nil {
			syscall.Munmap(mapped)
			return nil, err
		}
	}
	if mayLink {
		s.Alt = f.altFile(im)
	}
	d, err := dwarf.New(s)
	if err != nil {
		syscall.Munmap(mapped)
		return nil, fmt.Errorf("%s: debug information: %w", im.path, err)
	}
	runtime.AddCleanup(d, func(m []byte) { syscall.Munmap(m) }, mapped)
	return d, nil
}

func (im *image) mappedSection(s *elf.Section, mapped []byte) ([]byte, error) {
	switch {
	case s == nil || s.Type == elf.SHT_NOBITS:
		return nil, nil
	case s.Offset > uint64(len(mapped)) || s.FileSize > uint64(len(mapped))-s.Offset:
		return nil, fmt.Errorf("%s: %s is not in the file: it was cut", im.path, s.Name)
	}
	data := mapped[s.Offset : s.Offset+s.FileSize]
	if s.Flags&elf.SHF_COMPRESSED == 0 {
		return data, nil
	}
	data, err := im.inflate(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", im.path, s.Name, err)
	}
	return data, nil
}

// altFile opens the file to which dwz moved what several debug files have in common:
// .gnu_debugaltlink holds its path and build-id.
func (f *Finder) altFile(im *image) *dwarf.Data {
	link := im.contents(im.Section(".gnu_debugaltlink"))
	end := bytes.IndexByte(link, 0)
	if end <= 0 {
		return nil
	}
	path, id := string(link[:end]), hex.EncodeToString(link[end+1:])
	places := []string{f.SymFS + path}
	if path[0] != '/' {
		places[0] = filepath.Join(filepath.Dir(im.path), path)
	}
	if len(id) > 2 {
		places = append(places, f.SymFS+"/usr/lib/debug/.build-id/"+id[:2]+"/"+id[2:]+".debug")
	}
	for _, place := range places {
		alt, err := openImage(place)
		if err != nil {
			continue
		}
		defer alt.Close()
		if alt.buildID != id {
			continue
		}
		if d, err := f.dwarf(alt, false); err == nil {
			return d
		}
	}
	return nil
}
