package machine

import (
	"slices"
	"sort"
)

// A mapping is a part of an address space with a module in it.
type mapping struct {
	start, end uint64
	offset     uint64 // of start in the module
	module     *module
}

// A space is what is mapped in a process, or in the kernel. Processes share one until
// either of them changes it.
type space struct {
	id     uint32 // of its present contents: stacks that were found in it are remembered by it
	maps   []mapping
	shared bool
	used   bool // something was looked up since the last change
	last   int  // where the last lookup ended
}

// find returns the mapping at an address, nil where there is none.
func (s *space) find(a uint64) *mapping {
	if s.last < len(s.maps) {
		if m := &s.maps[s.last]; m.start <= a && a < m.end {
			return m
		}
	}
	i := sort.Search(len(s.maps), func(i int) bool { return s.maps[i].end > a })
	if i == len(s.maps) || s.maps[i].start > a {
		return nil
	}
	s.last = i
	return &s.maps[i]
}

// insert puts m in place of what it overlaps.
func (s *space) insert(m mapping) {
	if m.start >= m.end {
		return
	}
	from := sort.Search(len(s.maps), func(i int) bool { return s.maps[i].end > m.start })
	to := from
	var rest [3]mapping
	parts := rest[:0]
	if from < len(s.maps) && s.maps[from].start < m.start {
		before := s.maps[from]
		before.end = m.start
		parts = append(parts, before)
	}
	parts = append(parts, m)
	for ; to < len(s.maps) && s.maps[to].start < m.end; to++ {
		if after := s.maps[to]; after.end > m.end {
			after.offset += m.end - after.start
			after.start = m.end
			parts = append(parts, after)
		}
	}
	s.maps = slices.Replace(s.maps, from, to, parts...)
	s.last = 0
}

// remove takes out the mapping at an address.
func (s *space) remove(a uint64) {
	i := sort.Search(len(s.maps), func(i int) bool { return s.maps[i].end > a })
	if i < len(s.maps) && s.maps[i].start <= a {
		s.maps = slices.Delete(s.maps, i, i+1)
		s.last = 0
	}
}

// No program maps code as often as this, and no system has as many processes that each map
// something else. A recording that says so is made up, and must not fill the memory.
const (
	maxMappings = 1 << 15 // of a process
	maxCopied   = 1 << 20 // of all processes, when they stop to share a space,
	perRecord   = 64      // and so many more for each mapping that is recorded
)

// spaces hands out the ids.
type spaces struct {
	next   uint32
	copied int // mappings
	seen   int // changes
}

func (p *spaces) new() *space {
	p.next++
	return &space{id: p.next}
}

// writable returns s, or a copy of it where s is not s's owner's alone, ready for a change.
func (p *spaces) writable(s *space) *space {
	p.seen++
	switch {
	case s.shared:
		c := p.new()
		if p.copied += len(s.maps); p.copied <= maxCopied+perRecord*p.seen {
			c.maps = slices.Clone(s.maps)
		}
		return c
	case s.used:
		p.next++
		s.id, s.used = p.next, false
	}
	return s
}
