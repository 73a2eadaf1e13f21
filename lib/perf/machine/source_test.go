package machine_test

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"vperf/lib/perf/data"
	"vperf/lib/perf/data/datatest"
	"vperf/lib/perf/machine"
	"vperf/lib/perf/recording"
	"vperf/lib/symbol"
)

const (
	plain = data.SampleIP | data.SampleTID | data.SampleTime
	deep  = plain | data.SampleCallchain
	user  = data.ModeUser
)

// A module of these tests has a function for each 0x100 bytes, called after its path and
// where it begins.
type fakeNames struct{ symbol.Module }

func (f fakeNames) Symbol(off uint64) (symbol.Symbol, bool) {
	start := off &^ 0xff
	if start >= 0xf00000 && f.Kind == symbol.User {
		return symbol.Symbol{}, false
	}
	return symbol.Symbol{Name: fmt.Sprintf("%s+%x", f.Path, start), Start: start, End: start + 0x100}, true
}

func (f fakeNames) Frames(off uint64) []symbol.Frame {
	if off&0xff < 0x80 {
		return nil
	}
	return []symbol.Frame{{Name: "inner", Inlined: true}, {Name: "middle", Inlined: true}, {Name: "outer"}}
}

func fake(m symbol.Module) machine.Names { return fakeNames{m} }

// A writer makes recordings whose events are of one kind.
type writer struct {
	datatest.Recording
	time uint64
}

func newWriter(types data.SampleType) *writer {
	w := &writer{}
	w.Event(data.Attr{SampleType: types, Flags: data.FlagSampleIDAll | data.FlagExcludeGuest, SamplePeriod: 1}, 1)
	return w
}

func (w *writer) id(pid, tid uint32) []byte {
	w.time++
	return w.Encode(0, 0, pid, tid, w.time)[8:]
}

func (w *writer) comm(pid, tid uint32, name string, misc uint16) {
	w.Record(data.RecordComm, misc, pid, tid, name, w.id(pid, tid))
}

func (w *writer) fork(pid, tid, ppid, ptid uint32, misc uint16) {
	w.Record(data.RecordFork, misc, pid, ppid, tid, ptid, w.time, w.id(ppid, ptid))
}

func (w *writer) mmap(pid uint32, start, size, offset uint64, path string) {
	w.Record(data.RecordMmap, user, pid, pid, start, size, offset, path, w.id(pid, pid))
}

func (w *writer) kernelMap(start, size uint64, path string) {
	w.Record(data.RecordMmap, data.ModeKernel, uint32(0xffffffff), uint32(0), start, size, start, path, w.id(0, 0))
}

func (w *writer) sample(pid, tid uint32, mode uint16, ip uint64, chain ...uint64) {
	w.time++
	fields := []any{ip, pid, tid, w.time}
	if chain != nil {
		fields = append(fields, uint64(len(chain)), chain)
	}
	w.Record(data.RecordSample, mode, fields...)
}

func (w *writer) source(t *testing.T, o machine.Options) *machine.Source {
	t.Helper()
	r, err := data.NewReader(bytes.NewReader(w.File()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	if o.Open == nil {
		o.Open = fake
	}
	return machine.NewSource(r, o)
}

// lines reads all samples as "comm: leaf root", a frame as "symbol", "[module]" or "?".
func lines(src recording.Source) (list []string) {
	for src.Next() {
		var b strings.Builder
		b.WriteString(src.Sample().Comm + ":")
		for _, i := range src.Stack(src.Sample().Stack) {
			f := src.Frame(i)
			switch {
			case f.Symbol != "":
				b.WriteString(" " + f.Symbol)
			case f.Module != "":
				b.WriteString(" [" + f.Module + "]")
			default:
				b.WriteString(" ?")
			}
		}
		list = append(list, b.String())
	}
	return list
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMappings(t *testing.T) {
	w := newWriter(plain)
	w.comm(10, 10, "app", 0)
	w.mmap(10, 0x10000, 0x3000, 0, "/a")
	w.sample(10, 10, user, 0x10110)
	w.mmap(10, 0x11000, 0x1000, 0x5000, "/b") // into its middle
	for _, ip := range []uint64{0x10110, 0x10fff, 0x11000, 0x11fff, 0x12000, 0x12fff, 0x13000, 0xffff} {
		w.sample(10, 10, user, ip)
	}
	w.mmap(10, 0x8000, 0x10000, 0, "/c") // over all of it
	w.sample(10, 10, user, 0x12000)
	w.mmap(10, 0x8000, ^uint64(0), 0xf00000, "/d") // past the end of the address space
	w.sample(10, 10, user, 0x9000)
	want(t, lines(w.source(t, machine.Options{})),
		"app: /a+100", "app: /a+100", "app: /a+f00", "app: /b+5000", "app: /b+5f00", "app: /a+2000", "app: /a+2f00", "app: ?", "app: ?",
		"app: /c+a000", "app: [/d]")
}

func TestTasks(t *testing.T) {
	w := newWriter(plain)
	w.sample(10, 10, user, 0x10000) // nothing is known
	w.comm(10, 10, "parent", 0)
	w.mmap(10, 0x10000, 0x1000, 0, "/a")
	w.fork(11, 11, 10, 10, 0) // a process: a copy
	w.fork(10, 12, 10, 10, 0) // a thread: the same
	w.mmap(11, 0x20000, 0x1000, 0, "/child")
	w.mmap(10, 0x30000, 0x1000, 0, "/parent")
	w.sample(11, 11, user, 0x10000)
	w.sample(11, 11, user, 0x20000)
	w.sample(11, 11, user, 0x30000)
	w.sample(10, 12, user, 0x30000)
	w.sample(10, 12, user, 0x20000)
	w.comm(10, 12, "worker", 0)
	w.sample(10, 12, user, 0x10000)
	w.sample(10, 10, user, 0x10000)
	w.comm(11, 11, "other", data.MiscCommExec)
	w.sample(11, 11, user, 0x20000) // inside of exec, with the old caller
	w.Record(data.RecordExit, 0, uint32(11), uint32(10), uint32(11), uint32(10), w.time, w.id(11, 11))
	w.sample(11, 11, user, 0x20000)    // its last moment
	w.fork(20, 11, 20, 20, 0)          // the tid is given to a thread of another process
	w.sample(20, 11, user, 0x20000)    //
	w.fork(30, 30, 10, 10, 1<<13)      // there before: its mappings are recorded apart
	w.sample(30, 30, user, 0x10000)    //
	w.sample(0, 0, data.ModeKernel, 1) //
	want(t, lines(w.source(t, machine.Options{})),
		":10: ?", "parent: /a+0", "parent: /child+0", "parent: ?", "parent: /parent+0", "parent: ?", "worker: /a+0", "parent: /a+0",
		"other: /child+0", "other: /child+0", ":11: ?", "parent: ?", "swapper: ?")
}

func TestModules(t *testing.T) {
	var mu sync.Mutex
	var opened []symbol.Module
	w := newWriter(plain)
	w.Feature(2, w.Encode(67, data.ModeKernel, uint32(0xffffffff), []byte("\x01\x02345678901234567890"), uint32(20), "[kernel.kallsyms]"))
	w.kernelMap(0xffffffff81000000, 0x100000, "[kernel.kallsyms]_text")
	w.kernelMap(0xffffffffc0000000, 0x1000, "/lib/modules/6.1/net/nf-conntrack.ko.xz")
	for _, m := range []struct {
		start uint64
		path  string
	}{{0x10000, "//anon"}, {0x20000, "[heap]"}, {0x30000, "[vdso]"}, {0x40000, "/app (deleted)"}, {0x50000, "/bad\xff"}} {
		w.mmap(77, m.start, 0x1000, 0, m.path)
		w.sample(77, 77, user, m.start+0x10)
	}
	w.Record(data.RecordMmap, user|data.MiscMmapData, uint32(77), uint32(77), uint64(0x60000), uint64(0x1000), uint64(0), "//anon", w.id(77, 77))
	w.sample(77, 77, user, 0x60010)
	w.Record(data.RecordKsymbol, 0, uint64(0xffffffffc0100000), uint32(0x100), uint16(1), uint16(0), "bpf_prog_1", w.id(0, 0))
	for _, ip := range []uint64{0xffffffff81000010, 0xffffffff81200010, 0xffffffffc0000010, 0xffffffffc0100010} {
		w.sample(77, 77, data.ModeKernel, ip)
	}
	w.sample(77, 77, user, 0xffffffff81000010) // not of this mode
	w.Record(data.RecordKsymbol, 0, uint64(0xffffffffc0100000), uint32(0x100), uint16(1), uint16(1), "bpf_prog_1", w.id(0, 0))
	src := w.source(t, machine.Options{Addresses: true, Open: func(m symbol.Module) machine.Names {
		mu.Lock()
		defer mu.Unlock()
		opened = append(opened, m)
		return fakeNames{m}
	}})
	var got []string
	for src.Next() {
		f := src.Frame(src.Stack(src.Sample().Stack)[0])
		got = append(got, fmt.Sprintf("%s|%s|%s|%s", f.Address, f.Symbol, f.Module, f.Kind))
	}
	want(t, got,
		"0x10010|/tmp/perf-77.map+10000|/tmp/perf-77.map|user",
		"0x20010|/tmp/perf-77.map+20000|/tmp/perf-77.map|user",
		"0x10|[vdso]+0|[vdso]|user",
		"0x10|/app (deleted)+0|/app (deleted)|user",
		"0x10|/bad\ufffd+0|/bad\ufffd|user",
		"0x60010||//anon|user",
		"0xffffffff81000010|[kernel.kallsyms]+ffffffff81000000|[kernel.kallsyms]|kernel",
		"0xffffffff81200010|[kernel.kallsyms]+ffffffff81200000|[kernel.kallsyms]|kernel", // beyond what was mapped: it has a name
		"0xffffffffc0000010|[nf_conntrack]+ffffffffc0000000|[nf_conntrack]|kernel",
		"0xffffffffc0100010|bpf_prog_1|bpf_prog_1|kernel",
		"0xffffffff81000010|||kernel")
	wantOpened := []symbol.Module{
		{Path: "/app (deleted)"},
		{Path: "/bad\xff"},
		{Path: "/tmp/perf-77.map", Kind: symbol.JIT, PID: 77},
		{Path: "[kernel.kallsyms]", Kind: symbol.Kernel, Start: 0xffffffff81000000, BuildID: "0102333435363738393031323334353637383930"},
		{Path: "[nf_conntrack]", Kind: symbol.KernelModule},
		{Path: "[vdso]", Kind: symbol.VDSO},
	}
	slices.SortFunc(opened, func(a, b symbol.Module) int { return strings.Compare(a.Path, b.Path) })
	if !reflect.DeepEqual(opened, wantOpened) {
		t.Errorf("opened\n%+v\nwant\n%+v", opened, wantOpened)
	}
}

func TestChains(t *testing.T) {
	w := newWriter(deep)
	w.kernelMap(0xffffffff81000000, 0x100000, "[kernel.kallsyms]_text")
	w.mmap(1, 0x10000, 0x1000, 0, "/a")
	k, u := uint64(0xffffffff81000010), uint64(0x10010)
	for range 2 { // looked up, and remembered
		w.sample(1, 1, data.ModeKernel, k, data.ContextKernel, k, data.ContextUser, u, 0)
		w.sample(1, 1, user, u, u, u+0x100) // without a context
		w.sample(1, 1, data.ModeKernel, k, data.ContextKernel, k)
		w.sample(1, 1, user, u, data.ContextUser) // nothing but a context
		w.sample(1, 1, user, u, []uint64{}...)
		w.sample(1, 1, user, u, data.ContextGuestKernel, k, data.ContextUser, u)
	}
	w.mmap(1, 0x10000, 0x1000, 0, "/b")
	w.sample(1, 1, user, u, u, u+0x100)
	src := w.source(t, machine.Options{})
	one := []string{
		":1: [kernel.kallsyms]+ffffffff81000000 /a+0 ?", ":1: /a+0 /a+100", ":1: [kernel.kallsyms]+ffffffff81000000",
		":1: /a+0", ":1: /a+0", ":1: ? /a+0",
	}
	want(t, lines(src), slices.Concat(one, one, []string{":1: /b+0 /b+100"})...)
	if n := src.Tally(); n.Samples != 13 || n.Deep != 7 || n.Cut || n.Counts != nil {
		t.Errorf("%+v", n)
	}
}

func TestMissing(t *testing.T) {
	w := newWriter(deep)
	w.mmap(1, 0x10000, 0x1000, 0xf00000, "/stripped") // fakeNames has none there
	w.mmap(1, 0x20000, 0x1000, 0xf00000, "/gone")
	w.mmap(1, 0x30000, 0x1000, 0, "/named")
	for range 3 {
		w.sample(1, 1, user, 0x20010, 0x20010, 0x30010)
	}
	w.sample(1, 1, user, 0x10010, 0x10010)
	w.sample(1, 1, user, 0x30010, 0x30010, 0x10010) // a caller's name is not missed
	w.sample(1, 1, user, 0x90010, 0x90010)
	src := w.source(t, machine.Options{Open: func(m symbol.Module) machine.Names {
		if m.Path == "/gone" {
			return new(symbol.Finder).Open(symbol.Module{Path: "/there/is/no/such/file"})
		}
		return fakeNames{m}
	}})
	lines(src)
	missing := func(share float64) (list []string) {
		for _, m := range src.Missing(share) {
			list = append(list, fmt.Sprint(m.Module, " ", m.Samples, " ", m.Problem != nil))
		}
		return list
	}
	want(t, missing(0), "/gone 3 true", "/stripped 1 false")
	want(t, missing(0.5), "/gone 3 true")
}

// Processes share the module of a file, with or without a build-id in the mapping, and so
// its frames.
func TestSharedModules(t *testing.T) {
	w := newWriter(plain)
	w.Feature(2, w.Encode(67, user, uint32(0), make([]byte, 20), uint32(20), "/a"))
	for pid := range uint32(20) {
		w.mmap(pid, 0x10000, 0x1000, 0, "/a")
		w.sample(pid, pid, user, 0x10010)
	}
	var opened atomic.Int32
	src := w.source(t, machine.Options{Open: func(m symbol.Module) machine.Names {
		opened.Add(1)
		return fakeNames{m}
	}})
	for src.Next() {
		if n := src.Sample().Stack; n != 1 {
			t.Errorf("stack %d", n)
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("opened %d times", n)
	}
}

func TestGroups(t *testing.T) {
	w := &writer{}
	attr := data.Attr{SampleType: plain | data.SampleRead, ReadFormat: data.ReadGroup | data.ReadID, Flags: data.FlagExcludeGuest}
	w.Event(attr, 1)
	attr.Config = 1
	w.Event(attr, 2)
	for i, v := range [][2]uint64{{100, 7}, {250, 7}, {250, 7}} {
		w.Record(data.RecordSample, user, uint64(0x10), uint32(1), uint32(1), uint64(i+1), uint64(2), v[0], uint64(1), v[1], uint64(2))
	}
	src := w.source(t, machine.Options{})
	var got []string
	for src.Next() {
		got = append(got, fmt.Sprint(src.Sample().Event, " ", src.Sample().Weight, " ", src.Sample().TimeNS))
	}
	want(t, got, "cycles 100 1", "instructions 7 1", "cycles 150 2")
	if n := src.Tally().Samples; n != 3 {
		t.Errorf("%d samples", n)
	}
}

func TestDeferred(t *testing.T) {
	w := newWriter(deep)
	w.kernelMap(0xffffffff81000000, 0x100000, "[kernel.kallsyms]_text")
	w.mmap(1, 0x10000, 0x1000, 0, "/a")
	k := uint64(0xffffffff81000010)
	w.sample(1, 1, data.ModeKernel, k, data.ContextKernel, k, data.ContextUserDeferred, 5)
	w.sample(1, 1, data.ModeKernel, k, data.ContextKernel, k+0x100, data.ContextUserDeferred, 5)
	w.sample(1, 2, data.ModeKernel, k, data.ContextKernel, k, data.ContextUserDeferred, 6) // whose user part never came
	w.Record(data.RecordCallchainDeferred, 0, uint64(5), uint64(2), data.ContextUser, uint64(0x10010), w.id(1, 1))
	want(t, lines(w.source(t, machine.Options{})),
		":1: [kernel.kallsyms]+ffffffff81000000 /a+0", ":1: [kernel.kallsyms]+ffffffff81000100 /a+0", ":2: [kernel.kallsyms]+ffffffff81000000")
}

func TestTally(t *testing.T) {
	w := newWriter(deep)
	w.sample(1, 1, user, 0x10, 0x10)
	w.Record(data.RecordLost, 0, uint64(1), uint64(600), w.id(1, 1))
	w.Record(data.RecordLostSamples, 0, uint64(30), w.id(1, 1))
	w.Record(data.RecordLostSamples, 1<<15, uint64(7), w.id(1, 1)) // a BPF program did not want them
	w.Record(data.RecordSample, user, uint64(0x10), uint32(1), uint32(1), uint64(99), uint64(1<<40))
	w.Raw(make([]byte, 9))
	src := w.source(t, machine.Options{})
	want(t, lines(src), ":1: ?")
	n := src.Tally()
	if n.Samples != 1 || n.N(recording.Lost) != 630 || n.N(recording.Cut) != 1 || !n.Cut || src.Err() != nil {
		t.Errorf("%+v, %v", n, src.Err())
	}
}

func TestTaskEvents(t *testing.T) {
	w := newWriter(plain)
	w.comm(1, 1, "app", data.MiscCommExec)
	w.fork(1, 2, 1, 1, 0)
	w.Record(data.RecordSwitch, 0, w.id(1, 2))
	w.sample(1, 2, user, 0x10)
	w.Record(data.RecordSwitch, data.MiscSwitchOut, w.id(1, 2))
	w.Record(data.RecordSwitch, data.MiscSwitchOut|data.MiscSwitchPreempt, w.id(1, 1))
	w.Record(data.RecordExit, 0, uint32(1), uint32(1), uint32(2), uint32(1), w.time, w.id(1, 2))
	src := w.source(t, machine.Options{})
	var got []string
	src.OnTask(func(e *recording.TaskEvent) {
		got = append(got, fmt.Sprint(e.Kind, " ", e.Comm, " ", e.PID, "/", e.TID, " ", e.TimeNS))
	})
	src.Next()
	want(t, got, "4 app 1/1 1", "3 app 1/2 2", "0 app 1/2 3")
	got = nil
	for src.Next() {
	}
	want(t, got, "1 app 1/2 5", "2 app 1/1 6", "5 app 1/2 7")
}

// Processes that come and go are forgotten, those that stay are not; nor is the one whose
// first thread ended before the others.
func TestManyProcesses(t *testing.T) {
	w := newWriter(plain)
	w.comm(10, 10, "leader", 0)
	w.mmap(10, 0x10000, 0x1000, 0, "/a")
	w.fork(10, 11, 10, 10, 0)
	exit := func(pid, tid uint32) {
		w.Record(data.RecordExit, 0, pid, uint32(1), tid, uint32(1), w.time, w.id(pid, tid))
	}
	exit(10, 10)
	const n = 30_000
	for pid := uint32(100); pid < 100+n; pid++ {
		w.fork(pid, pid, 10, 11, 0)
		w.mmap(pid, 0x20000, 0x1000, 0, "/b")
		w.sample(pid, pid, user, 0x10010)
		exit(pid, pid)
		if pid%100 == 0 {
			w.Record(68, 0) // FINISHED_ROUND
		}
	}
	w.fork(10, 12, 10, 11, 0)
	w.sample(10, 12, user, 0x10010)
	src := w.source(t, machine.Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	got := lines(src)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if len(got) != n+1 || got[n] != "leader: /a+0" || got[0] != "leader: /a+0" {
		t.Errorf("%d samples, the last %q", len(got), got[len(got)-1])
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 5<<20 {
		t.Errorf("%d MiB are held for processes that are gone", grown>>20)
	}
	runtime.KeepAlive(src)
}

// A recording of a few hundred kB may claim any number of processes with any number of
// mappings each.
func TestHostileForks(t *testing.T) {
	w := newWriter(plain)
	for i := range uint64(20_000) {
		w.mmap(1, 1<<40-0x1000*i, 0x1000, 0, "/a")
	}
	for pid := uint32(2); pid < 20_000; pid++ {
		w.fork(pid, pid, 1, 1, 0)
		w.mmap(pid, 0x1000, 0x1000, 0, "/b")
	}
	w.sample(1, 1, user, 1<<40)
	want(t, lines(w.source(t, machine.Options{})), ":1: /a+0")
}

// Chains that never repeat do not fill the memory, and stay right when what was remembered
// is forgotten.
func TestMany(t *testing.T) {
	w := newWriter(deep)
	w.mmap(1, 0, 1<<40, 0, "/a")
	const n = 300_000
	chain := make([]uint64, 9)
	for i := range uint64(n) {
		for j := range chain {
			chain[j] = 0x100 * (i % 7)
		}
		chain[0] = i << 16 % 0xf00000
		chain[8] = 1<<32 + i
		w.sample(1, 1, user, chain[0], chain...)
	}
	src := w.source(t, machine.Options{})
	for i := uint64(0); src.Next(); i++ {
		frames := src.Stack(src.Sample().Stack)
		if got, expect := src.Frame(frames[4]).Symbol, fmt.Sprintf("/a+%x", 0x100*(i%7)); len(frames) != 9 || got != expect {
			t.Fatalf("sample %d: %d frames, %q, want %q", i, len(frames), got, expect)
		}
	}
	if src.Tally().Samples != n {
		t.Error(src.Tally().Samples)
	}
}
