package symbol

import (
	"bytes"
	"cmp"
	"debug/elf"
	"hash/crc32"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"vperf/lib/record"
)

// elfTable makes the table of a file that was mapped.
func (f *Finder) elfTable(im *image, kind Kind) *Table {
	t := &Table{}
	if !f.NoInline && kind != VDSO {
		t.lines = &lines{finder: f, runtime: im}
	}
	symbols := &elfSymbols{runtime: im}
	whole, err := f.collect(symbols)
	if path, n := im.path, len(symbols.list); !whole && kind != VDSO {
		t.stripped = sync.OnceValue(func() *Problem { return f.strippedProblem(path, n) })
	}
	var indexErr error
	if t.index, indexErr = symbols.index(); err == nil {
		err = indexErr
	}
	if err != nil {
		t.problem = &Problem{Cause: record.CauseBadInput, Text: err.Error(), Hint: "the file is damaged: install it again"}
	}
	return t
}

func (f *Finder) strippedProblem(path string, symbols int) *Problem {
	p := &Problem{Cause: record.CauseSymbolsMissing, Text: path + " is stripped: it has no names of functions"}
	if symbols > 0 {
		p.Text = path + " is stripped: only what it exports has names"
	}
	p.Hint = f.debugHint(strings.TrimPrefix(path, f.SymFS))
	return p
}

// collect reads the symbol table of the file, or of its separate debug file, or what a
// stripped file keeps: MiniDebugInfo and the symbols that it exports. It reports whether
// those are all that there were.
func (f *Finder) collect(symbols *elfSymbols) (whole bool, err error) {
	im := symbols.runtime
	if im.hasContents(".symtab") {
		return true, symbols.add(im, elf.SHT_SYMTAB)
	}
	if debug := f.debugFile(im, ".symtab"); debug != nil {
		defer debug.Close()
		return true, symbols.add(debug, elf.SHT_SYMTAB)
	}
	mini, err := miniDebugInfo(im)
	if err == nil && mini != nil {
		whole, err = true, symbols.add(mini, elf.SHT_SYMTAB)
	}
	return whole, cmp.Or(err, symbols.add(im, elf.SHT_DYNSYM))
}

// debugFile finds the separate debug file of an image that holds a section: where
// .gnu_debuglink says, in perf's cache, and below /usr/lib/debug by path and by build-id.
// It returns nil where there is none.
func (f *Finder) debugFile(im *image, section string) *image {
	type place struct {
		path string
		crc  uint32
		link bool
	}
	var places []place
	path := strings.TrimPrefix(im.path, f.SymFS)
	add := func(path string) { places = append(places, place{path: path}) }
	if name, crc, ok := im.debugLink(); ok {
		dir := filepath.Dir(im.path)
		for _, p := range []string{dir + "/" + name, dir + "/.debug/" + name, f.SymFS + "/usr/lib/debug" + filepath.Dir(path) + "/" + name} {
			places = append(places, place{p, crc, true})
		}
	}
	if id := im.buildID; len(id) > 2 {
		for _, p := range append(f.cached(id, "debug"), f.cached(id, "elf")...) {
			add(p)
		}
		add(f.SymFS + "/usr/lib/debug/.build-id/" + id[:2] + "/" + id[2:] + ".debug")
		add(f.SymFS + "/usr/lib/debug" + path + ".debug")
		add(f.SymFS + "/usr/lib/debug" + path)
	}
	for _, p := range places {
		debug, err := openImage(p.path)
		if err != nil {
			continue
		}
		// The checksum is of the whole file: only files without build-id need it.
		if debug.hasContents(section) && (im.buildID != "" && debug.buildID == im.buildID ||
			p.link && im.buildID == "" && debug.checksum() == p.crc) {
			return debug
		}
		debug.Close()
	}
	return nil
}

// debugLink returns the name and CRC that .gnu_debuglink has of the debug file.
func (im *image) debugLink() (name string, crc uint32, ok bool) {
	data := im.contents(im.Section(".gnu_debuglink"))
	end := bytes.IndexByte(data, 0)
	at := (end + 4) &^ 3
	if end <= 0 || at+4 > len(data) || bytes.IndexByte(data[:end], '/') >= 0 {
		return "", 0, false
	}
	return string(data[:end]), im.ByteOrder.Uint32(data[at:]), true
}

func (im *image) checksum() uint32 {
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.NewSectionReader(im.data, 0, im.size)); err != nil {
		return 0
	}
	return sum.Sum32()
}
