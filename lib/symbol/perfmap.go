package symbol

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"vperf/lib/record"
)

// openMap names JIT code by the perf-PID.map that the compiler wrote, looked for where the
// process sees it and where we do; or by the jitdump file that it wrote instead.
func (f *Finder) openMap(m Module) *Table {
	path := m.Path
	if path == "" || path[0] != '/' {
		path = fmt.Sprintf("/tmp/perf-%d.map", m.PID)
	}
	places := []string{f.SymFS + path}
	if m.PID > 0 && f.SymFS == "" {
		root := fmt.Sprintf("/proc/%d/root", m.PID)
		places = append(places, root+path)
		if inside := innerPID(m.PID); inside != "" {
			places = append(places, root+"/tmp/perf-"+inside+".map")
		}
	}
	p := &Problem{
		Cause: record.CauseSymbolsMissing, Text: path + " is missing: JIT code has no names",
		Hint: "let the runtime write it: java -XX:+DumpPerfMapAtExit (17 or later), node --perf-basic-prof, python -X perf, dotnet with DOTNET_PerfMapEnabled=1",
	}
	for _, place := range places {
		x, err := readOwn(place, parseMap)
		switch {
		case err == nil:
			return &Table{index: x}
		case !errors.Is(err, fs.ErrNotExist) && place == places[0]: // the other's root may well be closed to us
			p = &Problem{Cause: record.CauseSymbolsMissing, Text: err.Error()}
			if errors.Is(err, errOwner) {
				p.Hint = "chown root " + place + ", or run as its owner"
			}
		}
	}
	for _, place := range f.jitdumps(m.PID) {
		if x, err := readOwn(place, parseJitdump); err == nil {
			return &Table{index: x}
		}
	}
	return &Table{problem: p}
}

// jitdumps returns where compilers write jitdump files: V8 (node --perf-prof) where it was
// started, perf's agent for Java below ~/.debug/jit, others in /tmp.
func (f *Finder) jitdumps(pid int) []string {
	if pid <= 0 {
		return nil
	}
	name := fmt.Sprintf("jit-%d.dump", pid)
	places := []string{f.SymFS + "/tmp/" + name}
	if f.SymFS == "" {
		places = append(places, name, fmt.Sprintf("/proc/%d/cwd/%s", pid, name))
	}
	if home := f.home(); home != "" {
		found, _ := filepath.Glob(home + "/.debug/jit/*/" + name)
		places = append(places, found...)
	}
	return places
}

// innerPID returns the number that a process in a container has for itself, or "" where it
// does not run any more.
func innerPID(pid int) string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(status)) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			if f := strings.Fields(ids); len(f) > 0 {
				return f[len(f)-1]
			}
		}
	}
	return ""
}

// errOwner is perf's rule: anyone may write to /tmp, so a map of somebody else is not
// believed.
var errOwner = errors.New("it belongs neither to root nor to the user who runs this")

// readOwn reads a file of root or of this user.
func readOwn(path string, parse func(io.Reader) (*index, error)) (*index, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return nil, fmt.Errorf("%s is not used: %w", path, errOwner)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	x, err := parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// maxMap bounds the names that are kept of a perf-PID.map.
const maxMap = 1 << 30

// parseMap reads lines of hexadecimal start and size, and a name that may have blanks:
//
//	7f1a2c0a5000 1c0 Ljava/lang/String;::hashCode
//
// Other lines are skipped, as in perf. A compiler that uses memory again writes the new
// owner further down, so of entries that overlap the last one counts.
func parseMap(r io.Reader) (*index, error) {
	in := bufio.NewReaderSize(r, 1<<20)
	var list []entry
	var text []byte
	for {
		line, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if e, name, ok := mapLine(line); ok && len(text)+len(name) < maxMap {
			e.name = uint32(len(text))
			text = append(append(text, name...), 0)
			list = append(list, e)
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the name of megabytes was cut
			_, err = in.ReadSlice('\n')
		}
		if err == io.EOF {
			break
		}
		if err != nil && !long {
			return nil, err
		}
	}
	return newIndex(lastWins(list), text, nil), nil
}

func mapLine(line []byte) (e entry, name []byte, ok bool) {
	start, rest, ok := hexField(line)
	if !ok {
		return e, nil, false
	}
	size, rest, ok := hexField(rest)
	if !ok || size == 0 || start+size < start {
		return e, nil, false
	}
	name = bytes.TrimRight(rest, "\r\n")
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	return entry{start: start, end: start + size}, name, len(name) > 0
}

// hexField takes a hexadecimal number and the blank behind it.
func hexField(line []byte) (v uint64, rest []byte, ok bool) {
	line = bytes.TrimPrefix(line, []byte("0x"))
	i := 0
	for ; i < len(line) && i < 17; i++ {
		d := unhex(line[i])
		if d > 15 {
			break
		}
		v = v<<4 | uint64(d)
	}
	if i == 0 || i > 16 || i == len(line) || line[i] != ' ' {
		return 0, nil, false
	}
	return v, line[i+1:], true
}

// lastWins sorts entries and takes from each what a later one covers.
func lastWins(list []entry) []entry {
	disjoint := true
	for i := 1; i < len(list); i++ {
		if list[i].start < list[i-1].end {
			disjoint = false
			break
		}
	}
	if disjoint {
		return list
	}

	// A sweep over the starts: the heap holds the entries that cover the current address,
	// the latest on top; those that ended are removed when they come up.
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a].start, list[b].start) })
	var out []entry
	var active latest
	at := uint64(0)
	emit := func(limit uint64) { // what lies between at and limit
		for len(active) > 0 && at < limit {
			e := list[active[0]]
			if e.end <= at {
				heap.Pop(&active)
				continue
			}
			end := min(e.end, limit)
			if n := len(out); n > 0 && out[n-1].end == at && out[n-1].name == e.name {
				out[n-1].end = end
			} else {
				out = append(out, entry{start: at, end: end, name: e.name})
			}
			at = end
		}
	}
	for _, i := range order {
		emit(list[i].start)
		at = list[i].start
		heap.Push(&active, i)
	}
	emit(^uint64(0))
	return out
}

// latest is a heap of indices, the largest first.
type latest []int

func (h latest) Len() int           { return len(h) }
func (h latest) Less(i, j int) bool { return h[i] > h[j] }
func (h latest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *latest) Push(x any)        { *h = append(*h, x.(int)) }
func (h *latest) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
