package recording

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Stacks numbers distinct sequences of frames from 1, for readers of recordings: the same
// few thousand stacks come millions of times.
type Stacks struct {
	stacks [][]int32
	hashes []uint64
	table  []int32 // open addressing by hash
	arena  []int32 // free part of the chunk that stacks are copied to
}

const stackChunk = 16 << 10

// NewStacks returns an empty Stacks.
func NewStacks() *Stacks {
	return &Stacks{stacks: make([][]int32, 1), hashes: make([]uint64, 1), table: make([]int32, 4096)}
}

// Mix adds a frame to the hash of the frames before it, 0 for none. Its key is a secret, for
// whoever knows it can make stacks that collide.
func Mix(hash uint64, frame int32) uint64 {
	return (bits.RotateLeft64(hash, 5) ^ uint64(frame)) * mixKey
}

var mixKey = rand.Uint64() | 1

// Len returns how many stacks there are.
func (t *Stacks) Len() int { return len(t.stacks) - 1 }

// At returns the frames of a stack. The caller must not change them.
func (t *Stacks) At(number int) []int32 { return t.stacks[number] }

// Number returns the number of a stack, 0 for one without frames. hash is what [Mix] makes
// of its frames.
func (t *Stacks) Number(frames []int32, hash uint64) int {
	if len(frames) == 0 {
		return 0
	}
	hash ^= hash >> 32
	mask := uint64(len(t.table) - 1)
	i := hash & mask
	for ; t.table[i] != 0; i = (i + 1) & mask {
		n := t.table[i]
		if t.hashes[n] == hash && slices.Equal(t.stacks[n], frames) {
			return int(n)
		}
	}
	n := len(frames)
	if n > cap(t.arena) {
		t.arena = make([]int32, 0, max(stackChunk, n))
	}
	t.stacks = append(t.stacks, append(t.arena[:0:n], frames...))
	t.arena = t.arena[n:n:cap(t.arena)]
	t.hashes = append(t.hashes, hash)
	t.table[i] = int32(len(t.stacks) - 1)
	if 2*len(t.stacks) > len(t.table) {
		t.table = make([]int32, 2*len(t.table))
		mask = uint64(len(t.table) - 1)
		for n := 1; n < len(t.stacks); n++ {
			i := t.hashes[n] & mask
			for t.table[i] != 0 {
				i = (i + 1) & mask
			}
			t.table[i] = int32(n)
		}
	}
	return len(t.stacks) - 1
}
