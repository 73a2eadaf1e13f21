package stack

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"

	"vperf/lib/record"
)

// Naming says how frames are written in folded text.
type Naming struct {
	Mark      bool // append _[k] to kernel, _[i] to inlined and _[j] to JIT-compiled functions
	Addresses bool // put the address into the names of unresolved frames
}

// Name returns what stands for a frame in folded text: the symbol; for what is not
// resolved the module's file name in brackets; "[unknown]" where that is missing too.
// ";" becomes ":" and a newline a blank, for they part frames and stacks.
func (n Naming) Name(f *record.Frame) string {
	name := f.Symbol
	if name == "" {
		name = "unknown"
		if f.Module != "" {
			name = strings.TrimSuffix(f.Module, " (deleted)")
			name = name[strings.LastIndexByte(name, '/')+1:]
		}
		if n.Addresses && f.Address != "" {
			name += " <" + strings.TrimPrefix(f.Address, "0x") + ">"
		}
		name = "[" + name + "]"
	}
	name = separators.Replace(name)
	if n.Mark {
		switch {
		case f.Inlined:
			name += "_[i]"
		case f.Kind == record.KindKernel:
			name += "_[k]"
		case strings.HasSuffix(f.Module, ".map") && strings.Contains(f.Module, "perf-"),
			strings.Contains(f.Module, "/jitted-"):
			name += "_[j]"
		}
	}
	return name
}

var separators = strings.NewReplacer(";", ":", "\n", " ", "\r", " ")

// WriteFolded writes a line for every stack that weighs something, root first, in the
// bytewise order of the lines:
//
//	name;root;...;leaf weight
//
// Stacks whose frames have equal names are one line.
func WriteFolded(out io.Writer, t *Table, w Weights, naming Naming) error {
	f := newFoldedTree(t, w, naming)
	return f.write(bufio.NewWriterSize(out, 64<<10))
}

// foldedTree is a trie of names: what of the Table's trie can be told apart in the text.
type foldedTree struct {
	names    []string
	weights  []uint64 // by node; node 0 is above the roots
	name     []int32
	children [][]int32
}

func newFoldedTree(t *Table, w Weights, naming Naming) *foldedTree {
	f := &foldedTree{weights: make([]uint64, 1), name: make([]int32, 1), children: make([][]int32, 1)}
	nameIDs := map[string]int32{}
	ofFrame := make([]int32, len(t.frames))
	for i := 1; i < len(t.frames); i++ {
		name := naming.Name(&t.frames[i])
		id, ok := nameIDs[name]
		if !ok {
			id = int32(len(f.names))
			nameIDs[name] = id
			f.names = append(f.names, name)
		}
		ofFrame[i] = id
	}

	// Only what weighs something, or calls what does.
	needed := make([]bool, len(t.stacks))
	for id := len(t.stacks) - 1; id > 0; id-- {
		needed[id] = needed[id] || w.At(record.ID(id)) > 0
		if needed[id] {
			needed[t.stacks[id].parent] = true
		}
	}

	type key struct{ parent, name int32 }
	nodes := map[key]int32{}
	ofStack := make([]int32, len(t.stacks))
	for id := 1; id < len(t.stacks); id++ {
		if !needed[id] {
			continue
		}
		s := t.stacks[id]
		k := key{ofStack[s.parent], ofFrame[s.frame]}
		n, ok := nodes[k]
		if !ok {
			n = int32(len(f.name))
			nodes[k] = n
			f.name = append(f.name, k.name)
			f.weights = append(f.weights, 0)
			f.children = append(f.children, nil)
			f.children[k.parent] = append(f.children[k.parent], n)
		}
		ofStack[id] = n
		f.weights[n] = plus(f.weights[n], w.At(record.ID(id)))
	}
	return f
}

// An item is what a line goes on with behind a prefix: a name and the weight that ends it,
// or a name and the callees that follow it. A line ends in a blank and a number and goes
// on with ";", and names hold characters on both sides of these: so lines are in order
// if items are, and nodes are not.
type item struct {
	text string
	node int32 // whose callees follow; 0 for the end of a line
	size int   // of the prefix in front
}

func (f *foldedTree) write(out *bufio.Writer) error {
	var line []byte
	todo := f.items(nil, 0, 0)
	for len(todo) > 0 {
		it := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		line = append(line[:it.size], it.text...)
		if it.node != 0 {
			todo = f.items(todo, it.node, len(line))
			continue
		}
		line = append(line, '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// items pushes what follows a node, the last in order first.
func (f *foldedTree) items(todo []item, node int32, size int) []item {
	from := len(todo)
	for _, c := range f.children[node] {
		name := f.names[f.name[c]]
		if w := f.weights[c]; w > 0 {
			todo = append(todo, item{name + " " + strconv.FormatUint(w, 10), 0, size})
		}
		if len(f.children[c]) > 0 {
			todo = append(todo, item{name + ";", c, size})
		}
	}
	slices.SortFunc(todo[from:], func(a, b item) int { return strings.Compare(b.text, a.text) })
	return todo
}
