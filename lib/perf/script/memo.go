package script

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
)

// A lineMemo remembers what lines of call chains mean. A profile consists of some ten
// thousand distinct ones, each printed thousands of times. Two guesses save most of the
// work, for a guess is checked by a comparison, without looking for the end of the line:
// callers repeat, so the line that followed a line last time may follow it again; and
// lines with the same address are mostly the same.
type lineMemo struct {
	seed  maphash.Seed
	lines []memoLine // 0 stands for none
	table []int32    // open addressing by hash
	guess []int32    // the last line whose address has that hash
	arena []byte     // free part of the chunk that texts are copied to
	bytes int
}

// memoLine is a distinct line.
type memoLine struct {
	text   []byte // with its newline
	hash   uint64
	frame  int32   // the frame, or more when chain is set
	next   int32   // the line that followed it last
	chain  []int32 // inlined frames of one line, leaf first
	source bool    // a source line: frame is the index of Reader.sources
}

const (
	arenaChunk = 64 << 10
	// Text whose lines never repeat gains nothing from being remembered: forget it all
	// rather than grow with the input.
	memoLines = 1 << 20
	memoBytes = 128 << 20
)

func newLineMemo() *lineMemo {
	return &lineMemo{seed: maphash.MakeSeed(), lines: make([]memoLine, 1, 1024), table: make([]int32, 4096), guess: make([]int32, 4096)}
}

// addressSize is how much of a line the address of a frame takes, as perf indents it: a
// tab and 16 columns.
const addressSize = 17

// guessAt returns where guess has the line that begins with text, which is longer than
// addressSize.
func (m *lineMemo) guessAt(text []byte) *int32 {
	hi, lo := bits.Mul64(binary.LittleEndian.Uint64(text[1:])^mixKey, binary.LittleEndian.Uint64(text[9:])^0x9e3779b97f4a7c15)
	return &m.guess[(hi^lo)&uint64(len(m.guess)-1)]
}

// find returns the number of a line, 0 if it is not there, and the line's hash.
func (m *lineMemo) find(text []byte) (int32, uint64) {
	h := maphash.Bytes(m.seed, text)
	mask := uint64(len(m.table) - 1)
	for i := h & mask; m.table[i] != 0; i = (i + 1) & mask {
		l := &m.lines[m.table[i]]
		if l.hash == h && bytes.Equal(l.text, text) {
			return m.table[i], h
		}
	}
	return 0, h
}

// full reports whether the memo should be forgotten before more is added. Numbers of
// lines are void after that.
func (m *lineMemo) full() bool { return len(m.lines) >= memoLines || m.bytes >= memoBytes }

func (m *lineMemo) reset() {
	m.lines = m.lines[:1]
	m.lines[0] = memoLine{}
	clear(m.table)
	clear(m.guess)
	m.arena, m.bytes = nil, 0
}

// add remembers a line that find did not find, and returns its number.
func (m *lineMemo) add(l memoLine) int32 {
	if len(l.text) > cap(m.arena) {
		m.arena = make([]byte, 0, max(arenaChunk, len(l.text)))
	}
	n := len(l.text)
	m.bytes += n
	l.text = append(m.arena[:0:n], l.text...)
	m.arena = m.arena[n:n:cap(m.arena)]
	m.lines = append(m.lines, l)
	if 2*len(m.lines) > len(m.table) {
		m.table, m.guess = make([]int32, 2*len(m.table)), make([]int32, 2*len(m.table))
		for i := 1; i < len(m.lines); i++ {
			m.place(int32(i))
		}
	} else {
		m.place(int32(len(m.lines) - 1))
	}
	return int32(len(m.lines) - 1)
}

// mixKey is a secret, for whoever knows it can make lines that collide.
var mixKey = rand.Uint64() | 1

func (m *lineMemo) place(n int32) {
	mask := uint64(len(m.table) - 1)
	i := m.lines[n].hash & mask
	for m.table[i] != 0 {
		i = (i + 1) & mask
	}
	m.table[i] = n
}
