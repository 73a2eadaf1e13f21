// Package folded reads folded stacks, the text that FlameGraph's collapsers made common
// (https://github.com/brendangregg/FlameGraph): a line for each stack, its frames from the
// root to the leaf with ";" between, and behind the last blank how many samples were taken
// in it.
//
//	main;work;sys_read 12
//
// The suffixes _[k], _[i] and _[j] of a frame say that it is of the kernel, inlined, or
// compiled at run time. Package stack writes such text.
package folded

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"vperf/lib/event"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// EventName is the event of the samples: the text does not say which one it was.
const EventName = "samples"

// ErrColumns says that lines end with several numbers, as those that compare two profiles.
var ErrColumns = errors.New("folded stacks with several columns of numbers, of which only one can be the samples")

// errLength says that a line is longer than a stack can be.
var errLength = errors.New("a line longer than 64 MiB is no stack")

const maxLine = 64 << 20

// timeStamp is in the first line of what `perf script` prints.
var timeStamp = regexp.MustCompile(`[ \t]\d+\.\d{3,9}: `)

// Looks reports whether text begins with folded stacks rather than with what `perf script`
// prints. Its first line has to be a stack; if head ends before the line does it has to
// part frames.
func Looks(head []byte) bool {
	for {
		line, rest, whole := bytes.Cut(head, []byte{'\n'})
		trimmed := bytes.TrimSpace(line)
		if whole && (len(trimmed) == 0 || trimmed[0] == '#') {
			head = rest
			continue
		}
		if timeStamp.Match(line) {
			return false
		}
		parted := bytes.IndexByte(line, ';') >= 0
		if frames, _, ok := cutNumber(trimmed); ok && len(frames) > 0 {
			return parted || !bytes.Contains(frames, []byte(": ")) && frames[len(frames)-1] != ':'
		}
		return parted && !whole
	}
}

// Columns reports whether every line of the beginning of a text that is there as a whole
// ends with two numbers or more.
func Columns(head []byte) bool {
	n := 0
	for line := range bytes.Lines(head) {
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) == 0 || trimmed[0] == '#' || line[len(line)-1] != '\n' && n > 0 {
			continue
		}
		frames, _, ok := cutNumber(trimmed)
		if _, _, again := cutNumber(frames); !ok || !again {
			return false
		}
		n++
	}
	return n > 0
}

// cutNumber takes the number off the end of a line.
func cutNumber(line []byte) (before []byte, n uint64, ok bool) {
	i := bytes.LastIndexAny(line, " \t")
	if i < 0 {
		return nil, 0, false
	}
	n, err := strconv.ParseUint(string(line[i+1:]), 10, 64)
	return bytes.TrimRight(line[:i], " \t"), n, err == nil
}

// A Reader yields a sample for each line, that stands for as many as the line says. It
// implements [recording.Source].
type Reader struct {
	in      *bufio.Reader
	line    []byte
	number  int64
	table   *stack.Table
	frameID map[string]record.ID // by name, suffix included
	sample  recording.Sample
	tally   recording.Tally
	err     error
	scratch []int32
}

// NewReader returns a Reader of in. Text with several columns is an error.
func NewReader(in *bufio.Reader) *Reader {
	r := &Reader{in: in, table: stack.NewTable(), frameID: map[string]record.ID{}}
	if head, _ := in.Peek(in.Size()); Columns(head) {
		r.err = ErrColumns
	}
	return r
}

// Next goes to the next stack. A line that is none is counted, and left out.
func (r *Reader) Next() bool {
	for r.err == nil {
		line, more := r.read()
		if !more {
			return false
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		frames, n, ok := cutNumber(line)
		if !ok || len(frames) == 0 {
			const most = 80
			r.tally.Add(recording.BadLine, 1, r.number, string(line[:min(len(line), most)]))
			continue
		}
		if n == 0 {
			continue
		}
		id, depth := r.stack(string(frames))
		r.tally.Samples = stack.Plus(r.tally.Samples, n)
		if depth > 1 {
			r.tally.Deep = stack.Plus(r.tally.Deep, n)
		}
		r.sample = recording.Sample{
			Event: EventName, PID: recording.None, TID: recording.None, CPU: recording.None, TimeNS: recording.None,
			Weight: n, NoPeriod: true, Stack: id, Place: r.number,
		}
		return true
	}
	return false
}

// read returns the next line, and false behind the last one.
func (r *Reader) read() ([]byte, bool) {
	r.line = r.line[:0]
	r.number++
	for {
		part, err := r.in.ReadSlice('\n')
		r.line = append(r.line, part...)
		switch {
		case err == nil:
			return r.line, true
		case err == io.EOF:
			return r.line, len(r.line) > 0
		case !errors.Is(err, bufio.ErrBufferFull):
			r.err = fmt.Errorf("line %d: %w", r.number, err)
			return nil, false
		case len(r.line) > maxLine:
			r.err = fmt.Errorf("line %d: %w", r.number, errLength)
			return nil, false
		}
	}
}

// stack interns a stack. Some collapsers leave empty frames, which are none.
func (r *Reader) stack(text string) (id, depth int) {
	at := record.ID(0)
	for name := range strings.SplitSeq(text, ";") {
		if name == "" {
			continue
		}
		f, ok := r.frameID[name]
		if !ok {
			name = strings.Clone(name)
			f = r.table.Frame(frame(name))
			r.frameID[name] = f
		}
		at = r.table.Stack(at, f)
		depth++
	}
	return int(at), depth
}

// frame returns what a name and its suffix say.
func frame(name string) record.Frame {
	f := record.Frame{Symbol: name, Kind: record.KindUser}
	if n := len(name) - len("_[k]"); n > 0 {
		switch name[n:] {
		case "_[k]":
			f.Symbol, f.Kind = name[:n], record.KindKernel
		case "_[i]":
			f.Symbol, f.Inlined = name[:n], true
		case "_[j]":
			f.Symbol, f.Module = name[:n], stack.JIT
		}
	}
	if f.Symbol == "[unknown]" {
		f.Symbol = ""
		if f.Kind == record.KindUser {
			f.Kind = record.KindUnknown
		}
	}
	return f
}

// Event describes the event of the samples. Folded stacks are said to be of where time
// went unless one is told otherwise.
func (r *Reader) Event() record.Event {
	return record.Event{Name: EventName, Unit: event.Count, Kind: record.KindCPU}
}

// Sample returns the sample that Next went to.
func (r *Reader) Sample() *recording.Sample { return &r.sample }

// Count returns how many samples it stands for.
func (r *Reader) Count() uint64 { return r.sample.Weight }

// Stack implements [recording.Source].
func (r *Reader) Stack(i int) []int32 {
	r.scratch = r.table.Path(r.scratch[:0], record.ID(i))
	return r.scratch
}

// Frame implements [recording.Source].
func (r *Reader) Frame(i int32) *record.Frame { return r.table.FrameAt(record.ID(i)) }

// Tally implements [recording.Source].
func (r *Reader) Tally() *recording.Tally { return &r.tally }

// Err implements [recording.Source].
func (r *Reader) Err() error { return r.err }
