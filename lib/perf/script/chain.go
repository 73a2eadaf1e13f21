package script

import (
	"bytes"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
)

// readChain reads the lines of a call chain into r.cur, up to the blank line behind it or
// the first line of another sample. It reports false where the text ends inside.
func (r *Reader) readChain() (complete bool) {
	t, m := &r.text, r.memo
	r.last = 0
	for {
		// Most of the text goes through the next few lines.
		rest := t.buf[t.at:t.end]
		if len(rest) > 0 && rest[0] == '\n' {
			t.at++
			t.line++
			return true
		}
		if r.tryLine(m.lines[r.last].next, rest) {
			continue
		}
		if len(rest) > addressSize && r.tryLine(*m.guessAt(rest), rest) {
			continue
		}
		line, newline, ok := t.peek()
		if !ok {
			// A sample without frames is followed by a blank line where others have some.
			return len(r.cur) > 0 || !r.chained
		}
		if isBlankLine(line) && (newline || len(trimCR(line)) == 0) {
			t.skip(line, newline)
			return true
		}
		if newline {
			text := t.buf[t.at : t.at+len(line)+1]
			n, hash := m.find(text)
			if n == 0 {
				n = r.learn(text, hash)
			}
			if n != 0 {
				if len(text) > addressSize {
					*m.guessAt(text) = n
				}
				t.skip(line, true)
				r.enter(n)
				continue
			}
		}
		t.skip(line, newline)
		if line = trimCR(line); r.otherLine(line, newline) {
			return true
		}
		if !newline {
			return r.lastLine(line)
		}
	}
}

// tryLine enters a line of the memo if rest begins with it.
func (r *Reader) tryLine(n int32, rest []byte) bool {
	text := r.memo.lines[n].text
	if n == 0 || len(text) > len(rest) || !bytes.Equal(rest[:len(text)], text) {
		return false
	}
	r.text.at += len(text)
	r.text.line++
	r.enter(n)
	return true
}

// enter adds what a line means to the chain.
func (r *Reader) enter(n int32) {
	l := &r.memo.lines[n]
	r.memo.lines[r.last].next = n
	r.last = n
	switch {
	case l.chain != nil:
		for _, f := range l.chain {
			r.push(f)
		}
	case l.source:
		r.applySource(r.sources[l.frame])
	default:
		r.push(l.frame)
	}
}

func (r *Reader) push(frame int32) {
	r.cur = append(r.cur, frame)
	r.before = r.hash
	r.hash = recording.Mix(r.hash, frame)
}

// learn makes a new entry of the memo from a line with its newline. It returns 0 for a
// line that belongs to no call chain.
func (r *Reader) learn(text []byte, hash uint64) int32 {
	line := trimCR(text[:len(text)-1])
	l := memoLine{text: text, hash: hash}
	if f, ok := parseFrame(line); ok && f.wide {
		r.learnFrame(&l, f)
	} else if place, is := sourceLine(line); is && len(r.cur) > 0 {
		l.source, l.frame = true, int32(len(r.sources))
		r.sources = append(r.sources, place)
	} else if ok && f.whole && !r.isHead(line) {
		r.learnFrame(&l, f)
	} else {
		return 0
	}
	if r.memo.full() {
		r.memo.reset()
		r.last = 0
	}
	return r.memo.add(l)
}

func (r *Reader) learnFrame(l *memoLine, f parsedFrame) {
	r.chained = true
	r.whole = r.whole || f.whole
	if l.chain = r.javaChain(f); l.chain == nil {
		l.frame = r.frame(f)
	}
}

func (r *Reader) isHead(line []byte) bool {
	_, kind := parseHead(line, r.timed)
	return kind != lineForeign
}

// otherLine works off a line that turns up inside of a call chain and is no part of it. It
// reports whether another sample or record begins there.
func (r *Reader) otherLine(line []byte, newline bool) (ends bool) {
	place := r.place(newline)
	head, kind := parseHead(line, r.timed)
	switch {
	case kind == lineSample:
		r.head, r.headLine, r.pending = head, place, true
		r.timed = r.timed || head.time != recording.None
		return true
	case kind == lineRecord:
		r.head, r.inRecord = head, true
		r.otherRecord(place, true)
		return true
	case !newline && isBlank(line[0]):
		return false // lastLine decides
	case isBlank(line[0]):
		r.tally.Add(recording.BadFrame, 1, place, excerpt(line))
	case line[0] != '#':
		r.foreign(line, place)
	}
	return false
}

// lastLine works off the last line of a text that does not end in a newline, and reports
// whether the call chain is complete with it.
func (r *Reader) lastLine(line []byte) bool {
	f, ok := parseFrame(line)
	if ok && (f.whole || r.chained && !r.whole) {
		r.push(r.frame(f))
		return true
	}
	return !isBlank(line[0]) && (len(r.cur) > 0 || !r.chained)
}

// frame interns the frame that a line names.
func (r *Reader) frame(f parsedFrame) int32 {
	rec := record.Frame{Symbol: valid(f.symbol), Module: valid(f.module), Inlined: f.inlined}
	if !f.inlined {
		rec.Kind = kindOf(rec.Module, f.address)
	}
	if r.Addresses {
		rec.Address = hexAddress(f.address)
	}
	return r.intern(rec)
}

// javaChain interns the frames of a line that names several, leaf first. It returns nil
// for all other lines.
func (r *Reader) javaChain(f parsedFrame) []int32 {
	names := callChain(string(f.symbol), string(f.module))
	if names == nil {
		return nil
	}
	chain := make([]int32, 0, len(names))
	for i := len(names) - 1; i >= 0; i-- {
		part := f
		part.symbol, part.inlined = []byte(names[i]), i > 0
		chain = append(chain, r.frame(part))
	}
	return chain
}

// applySource gives the frame that was read last its file and line.
func (r *Reader) applySource(p sourcePlace) {
	last := len(r.cur) - 1
	if last < 0 {
		return
	}
	f := r.frames[r.cur[last]]
	f.File, f.Line = p.file, p.line
	if p.inlined {
		f.Inlined, f.Kind = true, ""
	}
	r.cur[last] = r.intern(f)
	r.hash = recording.Mix(r.before, r.cur[last])
}

func (r *Reader) intern(f record.Frame) int32 {
	f.ID = 0
	i, ok := r.byFrame[f]
	if !ok {
		i = int32(len(r.frames))
		r.byFrame[f] = i
		f.ID = record.ID(i)
		r.frames = append(r.frames, f)
	}
	return i
}
