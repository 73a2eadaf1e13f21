package machine

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
)

// A chainMemo remembers the stacks that call chains became, by their bytes and the spaces
// that they were looked up in. A profile consists of some ten thousand distinct ones.
type chainMemo struct {
	seed    maphash.Seed
	entries []chainEntry // 0 stands for none
	table   []int32      // open addressing by hash
	arena   []byte       // free part of the chunk that chains are copied to
	bytes   int
}

type chainEntry struct {
	hash  uint64
	chain []byte
	user  uint32 // ids of the spaces
	kern  uint32
	stack int32
}

const (
	chainChunk = 64 << 10
	// Chains that never repeat gain nothing from being remembered: forget them all rather
	// than grow with the input.
	memoBytes  = 16 << 20
	memoChains = 1 << 18
)

func newChainMemo() *chainMemo {
	return &chainMemo{seed: maphash.MakeSeed(), entries: make([]chainEntry, 1, 1024), table: make([]int32, 4096)}
}

func (m *chainMemo) find(chain []byte, user, kern uint32) (stack int32, hash uint64, ok bool) {
	hash = maphash.Bytes(m.seed, chain) ^ uint64(user)*0x9e3779b97f4a7c15 ^ uint64(kern)<<40
	mask := uint64(len(m.table) - 1)
	for i := hash & mask; m.table[i] != 0; i = (i + 1) & mask {
		e := &m.entries[m.table[i]]
		if e.hash == hash && e.user == user && e.kern == kern && bytes.Equal(e.chain, chain) {
			return e.stack, hash, true
		}
	}
	return 0, hash, false
}

func (m *chainMemo) add(chain []byte, user, kern uint32, hash uint64, stack int32) {
	if m.bytes > memoBytes || len(m.entries) > memoChains {
		clear(m.table)
		clear(m.entries)
		m.entries, m.bytes = m.entries[:1], 0
	}
	n := len(chain)
	if n > cap(m.arena) {
		m.arena = make([]byte, 0, max(chainChunk, n))
	}
	kept := append(m.arena[:0:n], chain...)
	m.arena = m.arena[n:n:cap(m.arena)]
	m.bytes += n
	m.entries = append(m.entries, chainEntry{hash, kept, user, kern, stack})
	if 2*len(m.entries) > len(m.table) {
		m.table = make([]int32, 2*len(m.table))
		for i := 1; i < len(m.entries); i++ {
			m.place(i)
		}
		return
	}
	m.place(len(m.entries) - 1)
}

func (m *chainMemo) place(n int) {
	mask := uint64(len(m.table) - 1)
	i := m.entries[n].hash & mask
	for m.table[i] != 0 {
		i = (i + 1) & mask
	}
	m.table[i] = int32(n)
}

// An addressMemo remembers the frames that addresses became, by module and offset.
type addressMemo struct {
	entries []addressEntry // open addressing; module 0 stands for none
	n       int
}

type addressEntry struct {
	offset uint64
	module int32 // its number times two, and 1 where a call returns to the offset
	frames int32 // the frame, or the negative number of a list of them
}

func newAddressMemo() *addressMemo { return &addressMemo{entries: make([]addressEntry, 4096)} }

// mixKey is a secret, for whoever knows it can make keys that collide.
var mixKey = rand.Uint64() | 1

// at returns the entry of an offset. Its module is 0 if it has to be filled in.
func (m *addressMemo) at(module int32, offset uint64) *addressEntry {
	hi, lo := bits.Mul64(offset^mixKey, uint64(module)*0x9e3779b97f4a7c15^mixKey>>7)
	mask := uint64(len(m.entries) - 1)
	for i := (hi ^ lo) & mask; ; i = (i + 1) & mask {
		e := &m.entries[i]
		if e.module == 0 || e.module == module && e.offset == offset {
			return e
		}
	}
}

func (m *addressMemo) add(e addressEntry) {
	if 2*m.n >= len(m.entries) {
		old := m.entries
		m.entries = make([]addressEntry, 2*len(old))
		for _, e := range old {
			if e.module != 0 {
				*m.at(e.module, e.offset) = e
			}
		}
	}
	m.n++
	*m.at(e.module, e.offset) = e
}
