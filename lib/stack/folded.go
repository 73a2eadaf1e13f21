package stack

import (
	"bufio"
	"cmp"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"vperf/lib/record"
)

// JIT is the module of functions of which is only known that they were compiled at run time.
const JIT = "[jit]"

// Naming says how frames are written in folded text.
type Naming struct {
	Mark      bool // append _[k] to kernel, _[i] to inlined and _[j] to JIT-compiled functions
	Addresses bool // put the address into the names of unresolved frames
}

// Name returns what stands for a frame in folded text: the symbol; for what is not
// resolved the module's file name in brackets; "[unknown]" where that is missing too.
// ";" becomes ":" and a newline a blank, for they part frames and stacks; other control
// characters, which could take over a terminal, become U+FFFD.
func (n Naming) Name(f *record.Frame) string {
	name := f.Symbol
	if name == "" {
		name = "unknown"
		if f.Module != "" {
			name = ModuleName(f.Module)
		}
		if n.Addresses && f.Address != "" {
			name += " <" + strings.TrimPrefix(f.Address, "0x") + ">"
		}
		name = "[" + name + "]"
	}
	name = separators.Replace(name)
	if strings.ContainsFunc(name, unicode.IsControl) {
		name = strings.Map(visible, name)
	}
	if n.Mark {
		switch {
		case f.Inlined:
			name += "_[i]"
		case f.Kind == record.KindKernel:
			name += "_[k]"
		case f.Module == JIT, strings.HasSuffix(f.Module, ".map") && strings.Contains(f.Module, "perf-"),
			strings.Contains(f.Module, "/jitted-"):
			name += "_[j]"
		}
	}
	return name
}

var separators = strings.NewReplacer(";", ":", "\n", " ", "\r", " ", "\t", " ")

func visible(r rune) rune {
	if unicode.IsControl(r) {
		return unicode.ReplacementChar
	}
	return r
}

// WriteFolded writes a line for every stack that weighs something, root first, in the
// bytewise order of the lines:
//
//	name;root;...;leaf weight
//
// Stacks whose frames have equal names are one line.
func WriteFolded(out io.Writer, t *Table, w Weights, naming Naming) error {
	f := newFoldedWriter(t, w, naming)
	buffered := bufio.NewWriterSize(out, 64<<10)
	if err := f.write(buffered); err != nil {
		return err
	}
	return buffered.Flush()
}

// A foldedWriter walks the trie in the order of the lines. What it walks over are sets of
// stacks, since frames that differ may have the same name.
type foldedWriter struct {
	table   *Table
	weights Weights
	names   []string // by rank
	rank    []int32  // by frame: in the order of name + ";"
	order   []record.ID
	start   []int32
	needed  []bool // stacks that weigh something, or call one that does

	todo  []pending
	sets  []record.ID // of pending, one behind the other
	calls []call      // scratch
	next  []sibling   // scratch
	line  []byte
}

// pending is what is still to be written behind a prefix of size bytes: the end of a line,
// or everything below the stacks at sets[from:].
type pending struct {
	size   int
	rank   int32
	ends   bool
	weight uint64 // if ends
	from   int    // if not
}

// call is a stack and the rank of its leaf's name; a sibling is all calls of one rank.
type (
	call    struct{ rank, stack int32 }
	sibling struct {
		rank     int32
		from, to int // in calls
		weight   uint64
		deeper   bool
	}
)

func newFoldedWriter(t *Table, w Weights, naming Naming) *foldedWriter {
	f := &foldedWriter{table: t, weights: w, rank: make([]int32, len(t.frames)), needed: make([]bool, len(t.stacks))}
	f.order, f.start = t.children()

	byName := map[string]int32{}
	name := make([]string, len(t.frames))
	for i := 1; i < len(t.frames); i++ {
		name[i] = naming.Name(&t.frames[i])
		byName[name[i]] = 0
	}
	f.names = slices.SortedFunc(maps.Keys(byName), compareElements)
	for i, n := range f.names {
		byName[n] = int32(i)
	}
	for i := 1; i < len(t.frames); i++ {
		f.rank[i] = byName[name[i]]
	}

	for id := len(t.stacks) - 1; id > 0; id-- {
		f.needed[id] = f.needed[id] || w.At(record.ID(id)) > 0
		if f.needed[id] {
			f.needed[t.stacks[id].parent] = true
		}
	}
	return f
}

// compareElements orders names as they are ordered in lines when others follow them:
// a + ";" against b + ";".
func compareElements(a, b string) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 || len(a) == len(b) {
		return c
	}
	if len(a) < len(b) {
		return cmp.Compare(';', b[n])
	}
	return cmp.Compare(a[n], ';')
}

func (f *foldedWriter) write(out *bufio.Writer) error {
	f.sets = append(f.sets, 0)
	f.below(0, 0)
	for len(f.todo) > 0 {
		p := f.todo[len(f.todo)-1]
		f.todo = f.todo[:len(f.todo)-1]
		f.line = append(f.line[:p.size], f.names[p.rank]...)
		if !p.ends {
			f.line = append(f.line, ';')
			f.below(p.from, len(f.line))
			continue
		}
		f.line = append(f.line, ' ')
		f.line = strconv.AppendUint(f.line, p.weight, 10)
		f.line = append(f.line, '\n')
		if _, err := out.Write(f.line); err != nil {
			return err
		}
	}
	return nil
}

// below replaces the set of stacks at sets[from:], which is the last one, by what they
// call.
func (f *foldedWriter) below(from, size int) {
	f.calls = f.calls[:0]
	for _, s := range f.sets[from:] {
		for _, c := range f.order[f.start[s]:f.start[s+1]] {
			if f.needed[c] {
				f.calls = append(f.calls, call{f.rank[f.table.stacks[c].frame], int32(c)})
			}
		}
	}
	f.sets = f.sets[:from]
	slices.SortFunc(f.calls, func(a, b call) int { return cmp.Compare(a.rank, b.rank) })

	f.next = f.next[:0]
	plain := true
	for i := 0; i < len(f.calls); {
		s := sibling{rank: f.calls[i].rank, from: i}
		for ; i < len(f.calls) && f.calls[i].rank == s.rank; i++ {
			id := f.calls[i].stack
			s.weight = Plus(s.weight, f.weights.At(record.ID(id)))
			s.deeper = s.deeper || f.start[id] < f.start[id+1]
		}
		s.to = i
		if n := len(f.next); n > 0 && strings.HasPrefix(f.names[f.next[n-1].rank], f.names[s.rank]) {
			plain = false
		}
		f.next = append(f.next, s)
	}

	first := len(f.todo)
	for i := len(f.next) - 1; i >= 0; i-- {
		s := f.next[i]
		if s.deeper {
			f.todo = append(f.todo, pending{size: size, rank: s.rank, from: len(f.sets)})
			for _, c := range f.calls[s.from:s.to] {
				f.sets = append(f.sets, record.ID(c.stack))
			}
		}
		if s.weight > 0 {
			f.todo = append(f.todo, pending{size: size, rank: s.rank, ends: true, weight: s.weight})
		}
	}
	if !plain {
		f.untangle(f.todo[first:])
	}
}

// untangle sorts siblings of which one's name begins with another's. A line that ends
// goes on with a blank and a number there, one that does not with ";", and names with
// characters in between: "f 9", "f(int) 9", "f;g 9".
func (f *foldedWriter) untangle(list []pending) {
	text := func(p pending) string {
		if p.ends {
			return f.names[p.rank] + " " + strconv.FormatUint(p.weight, 10)
		}
		return f.names[p.rank] + ";"
	}
	slices.SortFunc(list, func(a, b pending) int { return strings.Compare(text(b), text(a)) })
}
