package script

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
)

// What Err returns for input that is no text of `perf script`.
var (
	ErrUTF16  = errors.New("text is UTF-16, not UTF-8")
	ErrFtrace = errors.New("text is the kernel's own trace (ftrace), not that of perf script")
	ErrBinary = errors.New("input is not text")
)

// A Reader reads the text of `perf script`. It implements [recording.Source].
type Reader struct {
	// Addresses keeps the address of every frame, and with it frames apart that differ
	// in nothing else. Set it before the first Next.
	Addresses bool

	text  lineBuffer
	memo  *lineMemo
	last  int32 // line of the memo that was read last
	stack *recording.Stacks

	frames  []record.Frame
	byFrame map[record.Frame]int32
	sources []sourcePlace
	names   map[string]string // comms and events
	header  map[string]string

	sample recording.Sample
	tally  recording.Tally
	cur    []int32 // frames of the sample being read
	hash   uint64  // of cur
	before uint64  // hash of cur without its last frame

	head      parsedHead
	pending   bool // head holds a sample's first line that is not yet worked off
	headLine  int64
	started   bool
	timed     bool // samples have times
	chained   bool // samples have call chains on lines of their own
	whole     bool // frames name modules
	inRecord  bool // the line before was a record other than a sample, or a part of it
	sawFtrace bool
	err       error

	onTask  func(*recording.TaskEvent) // nil if nobody asked
	held    recording.TaskEvent        // ended the call chain of the sample, if holding
	holding bool
}

var _ recording.Source = (*Reader)(nil)

// NewReader returns a Reader of the text in r. It does not close r.
func NewReader(r io.Reader) *Reader {
	return &Reader{
		text:    lineBuffer{in: r, line: 1},
		memo:    newLineMemo(),
		stack:   recording.NewStacks(),
		frames:  make([]record.Frame, 1),
		byFrame: map[record.Frame]int32{},
		names:   map[string]string{},
		header:  map[string]string{},
	}
}

// Sample returns the sample that Next found.
func (r *Reader) Sample() *recording.Sample { return &r.sample }

// Stack returns the frames of a stack, leaf first.
func (r *Reader) Stack(i int) []int32 { return r.stack.At(i) }

// Frame returns a frame.
func (r *Reader) Frame(i int32) *record.Frame { return &r.frames[i] }

// Tally returns what was counted so far.
func (r *Reader) Tally() *recording.Tally { return &r.tally }

// Header returns the lines "# key : value" that `perf script --header` puts in front:
// "hostname", "perf version", "nrcpus online" and so on.
func (r *Reader) Header() map[string]string { return r.header }

// Err returns the error that ended reading, or why the input is not what this package
// reads.
func (r *Reader) Err() error {
	if r.err != nil {
		return r.err
	}
	if r.text.err != nil && r.text.err != io.EOF {
		return r.text.err
	}
	if r.sawFtrace && r.tally.Samples == 0 {
		return ErrFtrace
	}
	return nil
}

// Ended reports whether the whole text was read.
func (r *Reader) Ended() bool { return r.text.err == io.EOF && r.text.at == r.text.end }

// Next moves to the next sample.
func (r *Reader) Next() bool {
	if !r.started {
		r.started = true
		r.begin()
	}
	r.release()
	for r.err == nil {
		if !r.pending && !r.seekHead() {
			return false
		}
		r.pending = false
		if r.readSample() {
			return true
		}
		r.release()
	}
	return false
}

// begin looks at the first bytes.
func (r *Reader) begin() {
	for r.text.end < 4 && r.text.err == nil {
		r.text.fill()
	}
	b := r.text.buf[:r.text.end]
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		r.text.at = 3
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")),
		len(b) >= 4 && (b[0] == 0 && b[2] == 0 || b[1] == 0 && b[3] == 0) && b[0]|b[1] != 0:
		r.err = ErrUTF16
	case bytes.IndexByte(b[:min(len(b), 512)], 0) >= 0:
		r.err = ErrBinary
	}
}

// seekHead reads up to the next first line of a sample, and leaves it in r.head.
func (r *Reader) seekHead() bool {
	for {
		line, newline, ok := r.text.peek()
		if !ok {
			return false
		}
		r.text.skip(line, newline)
		if r.classify(trimCR(line), newline) {
			return true
		}
	}
}

// classify looks at a line outside of a call chain, and reports whether it is the first
// one of a sample. Anything else is counted.
func (r *Reader) classify(line []byte, newline bool) bool {
	place := r.place(newline)
	if isBlankLine(line) {
		r.inRecord = false
		return false
	}
	var kind lineKind
	r.head, kind = parseHead(line, r.timed)
	switch {
	case kind == lineSample:
		r.headLine, r.inRecord = place, false
		r.timed = r.timed || r.head.time != recording.None
		return true
	case kind == lineRecord:
		r.inRecord = true
		r.otherRecord(place, false)
	case line[0] == '#':
		r.comment(line)
	case bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("instruction trace error")):
		r.tally.Add(recording.TraceError, 1, place, excerpt(line))
	case r.inRecord && isBlank(line[0]):
		// The rest of a record of several lines (namespaces, BPF metadata).
	default:
		r.inRecord = false
		r.foreign(line, place)
	}
	return false
}

// place returns the number of the line that was consumed last.
func (r *Reader) place(newline bool) int64 {
	if newline {
		return r.text.line - 1
	}
	return r.text.line
}

// otherRecord works off a record that is no sample. inChain is set if it ends one.
func (r *Reader) otherRecord(place int64, inChain bool) {
	if r.taskRecord(place, inChain) {
		return
	}
	text := r.head.record
	if rest, ok := bytes.CutPrefix(text, []byte("LOST")); ok {
		if i := bytes.LastIndex(rest, []byte("lost")); i >= 0 {
			if n, ok := parseUint(bytes.Trim(rest[i+4:], " :")); ok {
				r.tally.Add(recording.Lost, n, place, excerpt(text))
				return
			}
		}
	}
	r.tally.Add(recording.Other, 1, place, excerpt(text))
}

// comment reads a line of the header.
func (r *Reader) comment(line []byte) {
	const most = 64 // what a header has room for, and an endless one has not
	key, value, ok := strings.Cut(strings.TrimPrefix(valid(line), "# "), ":")
	if key = strings.TrimSpace(key); ok && len(r.header) < most && len(line) < 4096 {
		if _, dup := r.header[key]; !dup {
			r.header[key] = strings.TrimSpace(value)
		}
	}
}

// foreign counts a line that perf script did not write, or not for us.
func (r *Reader) foreign(line []byte, place int64) {
	if f, ok := parseFrame(line); ok && f.wide {
		r.tally.Add(recording.StrayFrame, 1, place, excerpt(line))
		return
	}
	if r.tally.Samples == 0 && isFtrace(line) {
		r.sawFtrace = true
	}
	CountLoss(&r.tally, line, place)
	r.tally.Add(recording.Foreign, 1, place, excerpt(line))
}

// readSample makes r.sample of r.head and the call chain that follows. It reports false
// where the text ends inside.
func (r *Reader) readSample() bool {
	h, s := &r.head, &r.sample
	*s = recording.Sample{
		Comm: r.name(h.comm, s.Comm), Event: r.name(h.event, s.Event),
		PID: h.pid, TID: h.tid, CPU: h.cpu, TimeNS: h.time, Weight: h.weight, NoPeriod: h.noPeriod,
		Payload: s.Payload[:0], Place: r.headLine,
	}
	r.cur, r.hash = r.cur[:0], 0
	if len(bytes.TrimSpace(h.payload)) > 0 {
		payload := h.payload
		if from, to := r.frameIn(h); from < to {
			f, _ := parseFrame(payload[from:to])
			r.push(r.frame(f))
			payload = bytes.TrimRight(payload[:from], " \t")
		}
		// Copied, for reading on moves the buffer.
		s.Payload = append(s.Payload, bytes.TrimPrefix(payload, []byte(" "))...)
	}
	if len(r.cur) == 0 && !r.readChain() {
		r.tally.Cut = true
		r.tally.Add(recording.Cut, 1, s.Place, "")
		return false
	}
	s.Stack = r.stack.Number(r.cur, r.hash)
	r.tally.Samples++
	if len(r.cur) > 1 {
		r.tally.Deep++
	}
	return true
}

// frameIn returns where the frame is that stands on the same line as its sample.
func (r *Reader) frameIn(h *parsedHead) (from, to int) {
	switch {
	case !isTracepoint(h.event):
		return inlineFrame(h.payload)
	case !r.chained:
		return tracepointFrame(h.payload)
	}
	return 0, 0
}

// name returns b as a string that is kept, was if it is the same.
func (r *Reader) name(b []byte, was string) string {
	if string(b) == was {
		return was
	}
	name, ok := r.names[string(b)]
	if !ok {
		name = valid(b)
		r.names[string(b)] = name
	}
	return name
}

// trimCR cuts the carriage returns of text that went through Windows.
func trimCR(line []byte) []byte { return bytes.TrimRight(line, "\r") }

func isBlankLine(line []byte) bool {
	for _, c := range line {
		if c != '\r' && !isBlank(c) {
			return false
		}
	}
	return true
}

// CountLoss counts what a message of perf says it lost while recording, and reports
// whether it is such a message:
//
//	Processed 1500 events and lost 3 chunks!
//	Processed 2000 samples and lost 12.50%!
//
// The percentage is of the samples with those that were lost.
func CountLoss(t *recording.Tally, line []byte, place int64) bool {
	rest, ok := bytes.CutPrefix(line, []byte("Processed "))
	if !ok {
		return false
	}
	if _, chunks, ok := bytes.Cut(rest, []byte(" events and lost ")); ok {
		number, _, _ := bytes.Cut(chunks, []byte(" "))
		n, ok := parseUint(number)
		if ok {
			t.Add(recording.LostChunks, n, place, excerpt(line))
		}
		return ok
	}
	number, share, ok := bytes.Cut(rest, []byte(" samples and lost "))
	n, isNumber := parseUint(number)
	percent, _, _ := strings.Cut(strings.TrimSpace(string(share)), "%")
	p, err := strconv.ParseFloat(percent, 64)
	if !ok || !isNumber || err != nil || !(p >= 0 && p <= 100) {
		return false
	}
	t.Add(recording.Lost, uint64(float64(n)*p/100+0.5), place, excerpt(line))
	return true
}

// isFtrace recognises the lines of /sys/kernel/tracing/trace:
//
//	bash-4500    [001] d..2.    12.800000: sched_switch: prev_comm=bash ...
func isFtrace(line []byte) bool {
	words := bytes.Fields(line[:min(len(line), 128)])
	for i, word := range words {
		if _, ok := parseCPU(word); ok && i > 0 {
			before := words[i-1]
			dash := bytes.LastIndexByte(before, '-')
			return dash > 0 && isDigits(before[dash+1:])
		}
	}
	return false
}

// excerpt returns the beginning of a line, for messages.
func excerpt(line []byte) string {
	const most = 100
	if len(line) <= most {
		return valid(line)
	}
	return valid(line[:most]) + "..."
}

func hexAddress(a uint64) string { return "0x" + strconv.FormatUint(a, 16) }
