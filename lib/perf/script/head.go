package script

import (
	"bytes"
	"math"
	"strings"

	"vperf/lib/perf/recording"
)

// lineKind is what a line outside call chains turns out to be.
type lineKind uint8

const (
	lineForeign lineKind = iota
	lineSample
	lineRecord // PERF_RECORD_MMAP2 and the like, behind the same columns
)

// headSize is how far into a line the time, or the event where there is no time, can be: a
// comm has 15 bytes and all numbers together less than 100. It bounds the work that a
// megabyte of colons makes.
const headSize = 512

// parsedHead is the first line of a sample, its texts still in the buffer.
type parsedHead struct {
	comm     []byte
	pid, tid int64
	cpu      int64
	time     int64
	weight   uint64
	noPeriod bool
	event    []byte
	payload  []byte // behind the event's colon
	record   []byte // "MMAP2 9600/9600: ...", for lineRecord
}

// parseHead reads
//
//	[COMM] [PID[/TID]] [[CPU]] [MISC] [SECONDS.FRACTION:] [PERIOD] EVENT: [PAYLOAD]
//
// Comms may hold anything, blanks, digits, brackets and colons included, so the line is
// read from the time outwards: the first "digits.digits:" with ids to its left and an
// event to its right. timed says that the text was seen to hold times; then a line
// without one is no sample.
func parseHead(line []byte, timed bool) (h parsedHead, kind lineKind) {
	front := line[:min(len(line), headSize)]
	for at := 0; ; at++ {
		i := bytes.IndexByte(front[at:], ':')
		if i < 0 {
			return h, lineForeign
		}
		at += i
		if t, ok := timeBefore(line, at); ok {
			if kind := h.around(line, t, at); kind != lineForeign {
				return h, kind
			}
		} else if !timed && (at+1 == len(line) || isBlank(line[at+1])) {
			if h.untimed(line, at) {
				return h, lineSample
			}
		}
	}
}

// timeBefore reports where the time begins that ends before the colon at end.
func timeBefore(line []byte, end int) (start int, ok bool) {
	i := end
	for i > 0 && isDigit(line[i-1]) {
		i--
	}
	if i == end || end-i > 9 || i < 2 || line[i-1] != '.' || !isDigit(line[i-2]) {
		return 0, false
	}
	for i--; i > 0 && isDigit(line[i-1]); i-- {
	}
	return i, i == 0 || isBlank(line[i-1])
}

// around reads a line with a time at line[start:colon].
func (h *parsedHead) around(line []byte, start, colon int) lineKind {
	var ok bool
	if h.time, ok = parseTime(line[start:colon]); !ok {
		return lineForeign
	}
	sure := h.ids(line[:start])
	right := line[colon+1:]
	i := skipBlanks(right, 0)
	if rest, ok := bytes.CutPrefix(right[i:], []byte("PERF_RECORD_")); ok {
		h.record = rest
		return lineRecord
	}
	period := h.period(right, &i)
	if !h.eventAt(right[i:]) {
		return lineForeign
	}
	// Without ids the line needs another sign of being perf's.
	if !sure && !period && len(bytes.TrimSpace(h.payload)) > 0 {
		return lineForeign
	}
	return lineSample
}

// untimed reads a line without time, in which the event ends before colon.
func (h *parsedHead) untimed(line []byte, colon int) bool {
	start := colon
	for start > 0 && !isBlank(line[start-1]) {
		start--
	}
	if start == colon || start == 0 || isDigit(line[start]) {
		return false
	}
	h.time = recording.None
	left := bytes.TrimRight(line[:start], " \t")
	h.weight, h.noPeriod = 1, true
	if !h.ids(left) {
		return false
	}
	// Of two numbers the second is a period: "tomcat 20117 10101010 cycles:".
	if word := lastWord(left); isDigits(word) {
		var again parsedHead
		rest := bytes.TrimRight(left[:len(left)-len(word)], " \t")
		if n, ok := parseUint(word); ok && again.ids(rest) {
			h.comm, h.pid, h.tid, h.cpu, h.weight, h.noPeriod = again.comm, again.pid, again.tid, again.cpu, n, false
		}
	}
	if !h.eventAt(line[start:]) {
		return false
	}
	if len(bytes.TrimSpace(h.payload)) == 0 || isTracepoint(h.event) {
		return true
	}
	from, to := inlineFrame(h.payload)
	return from < to
}

// ids reads "COMM PID/TID [CPU] MISC" from the right, and reports whether there was a
// thread or a CPU, or nothing at all.
func (h *parsedHead) ids(left []byte) bool {
	h.pid, h.tid, h.cpu = recording.None, recording.None, recording.None
	left = bytes.TrimRight(left, " \t")
	word := lastWord(left)
	if isMisc(word) {
		before := bytes.TrimRight(left[:len(left)-len(word)], " \t")
		w := lastWord(before)
		if _, ok := parseCPU(w); ok {
			left, word = before, w
		} else if _, _, ok := parseThread(w); ok {
			left, word = before, w
		}
	}
	sure := len(left) == 0
	if cpu, ok := parseCPU(word); ok {
		h.cpu, sure = cpu, true
		left = bytes.TrimRight(left[:len(left)-len(word)], " \t")
		word = lastWord(left)
	}
	if pid, tid, ok := parseThread(word); ok {
		h.pid, h.tid, sure = pid, tid, true
		left = left[:len(left)-len(word)]
	}
	h.comm = bytes.TrimSpace(left)
	return sure
}

// period reads the number at right[*i:], if a blank ends it.
func (h *parsedHead) period(right []byte, i *int) bool {
	h.weight, h.noPeriod = 1, true
	j := *i
	for j < len(right) && isDigit(right[j]) {
		j++
	}
	if j == *i || j == len(right) || !isBlank(right[j]) {
		return false
	}
	n, ok := parseUint(right[*i:j])
	if ok {
		h.weight, h.noPeriod = n, false
		*i = skipBlanks(right, j)
	}
	return ok
}

// eventAt reads "EVENT: payload". The colon that ends the name is the first one before a
// blank or the end: names hold others ("cycles:u", "sched:sched_switch"). Blanks occur only
// in the terms of a PMU's event.
func (h *parsedHead) eventAt(b []byte) bool {
	for i := 0; ; i++ {
		k := bytes.IndexByte(b[i:], ':')
		if k < 0 {
			return false
		}
		i += k
		if i+1 < len(b) && !isBlank(b[i+1]) {
			continue
		}
		h.event, h.payload = b[:i], b[i+1:]
		return i > 0 && !isDigit(b[0]) &&
			(bytes.IndexByte(h.event, ' ') < 0 || bytes.IndexByte(h.event, '/') >= 0)
	}
}

// inlineFrame returns the frame of a line that perf prints without call chains:
//
//	cycles:u:  ffffffff9b201293 main+0x4 (/opt/app)
//	mem-loads: ffff881817d63e02  68100142 |OP LOAD|LVL L1 hit|...|BLK  N/A  7 ffffffff814041a3 f ([kernel.kallsyms])
//	branches:   jmp        404c69 f+0x3e9 (a.so) =>      404cad g+0x42d (a.so)
//
// The columns in front of it (flags, data address, data source, weights) are of the same
// width, so that the last of a run of numbers is the address of the code. from == to where
// there is none.
func inlineFrame(payload []byte) (from, to int) {
	i := 0
	if k := bytes.LastIndex(payload, []byte(" |")); k >= 0 && bytes.Contains(payload, []byte("|OP ")) {
		i = k + 2
	}
	found := -1
	for i < len(payload) {
		start := skipBlanks(payload, i)
		end := wordEnd(payload, start)
		if isColumn(payload, start, end) {
			found = i
		} else if found >= 0 {
			break
		}
		i = end
	}
	if found < 0 {
		return 0, 0
	}
	if k := bytes.Index(payload[found:], []byte(") => ")); k >= 0 {
		return found, found + k + 1
	}
	// A branch stack behind a bare address is not its symbol.
	end := wordEnd(payload, skipBlanks(payload, found))
	if next := skipBlanks(payload, end); bytes.HasPrefix(payload[next:], []byte("0x")) {
		return found, end
	}
	return found, len(payload)
}

// tracepointFrame returns the frame at the end of a tracepoint's line: the last column
// behind which everything reads as symbol and module, since what a tracepoint prints is
// free text.
func tracepointFrame(payload []byte) (from, to int) {
	end := len(bytes.TrimRight(payload, " \t"))
	if end == 0 || payload[end-1] != ')' {
		return 0, 0
	}
	module := moduleAt(payload[:end])
	for i := 0; i < module; {
		start := skipBlanks(payload, i)
		next := wordEnd(payload, start)
		if next < module && isColumn(payload, start, next) {
			from, to = i, end
		}
		i = next
	}
	return from, to
}

// isColumn reports whether b[start:end] is a hex number, right-aligned in the columns
// that perf gives to addresses: a blank and 16 digits.
func isColumn(b []byte, start, end int) bool {
	if end == start || end-start > 16 {
		return false
	}
	for _, c := range b[start:end] {
		if !isHex(c) {
			return false
		}
	}
	blanks := 0
	for i := start; i > 0 && isBlank(b[i-1]); i-- {
		blanks++
	}
	return blanks > 0 && blanks+end-start >= frameWidth
}

// isTracepoint tells "sched:sched_switch" from "cycles:u": both sides of the one colon are
// plain words, and the right one is no modifier.
func isTracepoint(event []byte) bool {
	i := bytes.IndexByte(event, ':')
	if i <= 0 || i+1 == len(event) {
		return false
	}
	modifier := true
	for _, c := range event[i+1:] {
		if c == ':' || c == '=' || c == '/' {
			return false
		}
		if strings.IndexByte("ukhpPGHISDWebR", c) < 0 {
			modifier = false
		}
	}
	return !modifier && bytes.IndexByte(event[:i], '/') < 0
}

// parseTime returns a time in nanoseconds, exactly.
func parseTime(b []byte) (int64, bool) {
	dot := bytes.IndexByte(b, '.')
	sec, ok := parseUint(b[:dot])
	if !ok || sec >= math.MaxInt64/1_000_000_000 {
		return 0, false
	}
	frac, _ := parseUint(b[dot+1:])
	for range 9 - (len(b) - dot - 1) {
		frac *= 10
	}
	return int64(sec*1e9 + frac), true
}

// parseThread reads "TID" or "PID/TID"; perf prints -1 for what it does not know.
func parseThread(word []byte) (pid, tid int64, ok bool) {
	left, right, both := bytes.Cut(word, []byte("/"))
	if !both {
		tid, ok = parseID(word)
		return recording.None, tid, ok
	}
	pid, ok = parseID(left)
	tid, ok2 := parseID(right)
	return pid, tid, ok && ok2
}

func parseID(b []byte) (int64, bool) {
	if string(b) == "-1" {
		return recording.None, true
	}
	n, ok := parseUint(b)
	return int64(n), ok && n <= math.MaxInt32
}

// parseCPU reads "[012]".
func parseCPU(word []byte) (int64, bool) {
	if len(word) < 3 || word[0] != '[' || word[len(word)-1] != ']' {
		return 0, false
	}
	n, ok := parseUint(word[1 : len(word)-1])
	return int64(n), ok && n <= math.MaxInt32
}

// isMisc reports whether a word can be the column of -F misc: K, U, KH, S, Sp, M, E.
func isMisc(word []byte) bool {
	if len(word) == 0 || len(word) > 4 {
		return false
	}
	for _, c := range word {
		if strings.IndexByte("KUHGMESpFc", c) < 0 {
			return false
		}
	}
	return true
}

// parseUint reads decimal digits; ok is false for anything else and past 64 bits.
func parseUint(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		if !isDigit(c) || n > (math.MaxUint64-9)/10 {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, len(b) > 0
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return len(b) > 0
}

// lastWord returns what stands behind the last blank of b.
func lastWord(b []byte) []byte {
	i := len(b)
	for i > 0 && !isBlank(b[i-1]) {
		i--
	}
	return b[i:]
}

func wordEnd(b []byte, i int) int {
	for i < len(b) && !isBlank(b[i]) {
		i++
	}
	return i
}
