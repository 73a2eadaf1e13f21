// Package firefox writes profiles for https://profiler.firefox.com, in its processed
// profile format. The format is described by src/types/profile.ts and
// docs-developer/CHANGELOG-formats.md of github.com/firefox-devtools/profiler. Version 60
// is written, the first one in which the tables of frames, functions and stacks are shared
// by the threads; the profiler brings files of earlier versions up to its own when it
// loads them.
//
// Times are milliseconds since the first sample. The weights that the format knows are
// milliseconds ("tracing-ms"), bytes and numbers of samples, so a profile of another unit
// has to count its samples: see [Weighs].
package firefox

import (
	"io"
	"strconv"
	"strings"

	"vperf/lib/event"
	"vperf/lib/format"
	"vperf/lib/format/internal/jsonout"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// The versions that the file says it has: of the processed format, and of the format of
// Firefox itself, which nothing of it depends on.
const (
	version      = 60
	geckoVersion = 31
)

// Spacing is how many nanoseconds samples stand apart where they have no times.
const Spacing = 1_000_000

// Weighs reports whether the format has weights of a unit. In profiles of other units the
// weight of a sample has to be the number of samples that it stands for.
func Weighs(unit string) bool { return unit == event.Nanoseconds || unit == event.Bytes }

// The categories, by which the profiler colours the timeline. The default has to be grey.
const (
	categoryOther = iota
	categoryUser
	categoryKernel
)

const categories = `[{"name":"Other","color":"grey","subcategories":["Other"]},` +
	`{"name":"User","color":"yellow","subcategories":["Other"]},` +
	`{"name":"Kernel","color":"orange","subcategories":["Other"]}]`

// Write writes a profile, which must be Timed. Samples without times are put Spacing apart
// in the order in which they came.
func Write(out io.Writer, p *format.Profile) error {
	t := newTables(p)
	w := &writer{jsonout.New(out), p, t, max(p.First, 0)}
	w.Raw(`{"meta":`)
	w.meta()
	w.Raw(`,"libs":`)
	w.libs()
	w.Raw(`,"shared":`)
	w.shared()
	w.Raw(`,"threads":`)
	w.Array(len(p.Threads), func(i int) { w.thread(p.Threads[i]) })
	w.Raw("}\n")
	return w.Flush()
}

type writer struct {
	*jsonout.Writer
	p      *format.Profile
	t      *tables
	origin int64 // time of the first sample
}

func (w *writer) meta() {
	// The interval is the narrowest that samples of a thread stand apart on the average.
	interval := int64(Spacing)
	if span := w.p.Last - w.p.First; w.p.First != recording.None && span > 0 {
		most := 1
		for _, t := range w.p.Threads {
			most = max(most, t.Series.Len())
		}
		interval = max(span/int64(most), 1)
	}
	w.Raw(`{"interval":`)
	w.Milliseconds(interval)
	// No recording of perf says what time of day it was, and 0 is what other converters
	// write then.
	w.Raw(`,"startTime":0`)
	if w.p.First != recording.None {
		w.Raw(`,"profilingStartTime":0,"profilingEndTime":`)
		w.Milliseconds(w.p.Last - w.p.First)
	}
	w.Raw(`,"processType":0,"categories":` + categories + `,"product":`)
	w.String(w.p.Event.Name)
	w.Raw(`,"stackwalk":1,"debug":false,"version":` + strconv.Itoa(geckoVersion) +
		`,"preprocessedProfileVersion":` + strconv.Itoa(version) +
		`,"symbolicated":true,"symbolicationNotSupported":true,"usesOnlyOneStackType":true,"sourceCodeIsNotOnSearchfox":true`)
	if w.p.By != "" {
		w.Raw(`,"importedFrom":`)
		w.String(w.p.By)
	}
	w.Raw(`,"platform":"Linux","oscpu":"Linux","sampleUnits":{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"}`)
	w.Raw(`,"markerSchema":[],"extensions":{"baseURL":[],"id":[],"name":[],"length":0}}`)
}

// libs writes the modules. A debugger's id is the first 16 bytes of the build id, the
// leading fields of it in the byte order of a GUID, and a 0: as Breakpad makes it.
func (w *writer) libs() {
	w.Array(len(w.t.libs), func(i int) {
		path := w.t.libs[i]
		name := path[strings.LastIndexByte(path, '/')+1:]
		id := w.p.BuildIDs[path]
		w.Raw(`{"arch":"","name":`)
		w.String(name)
		w.Raw(`,"path":`)
		w.String(path)
		w.Raw(`,"debugName":`)
		w.String(name)
		w.Raw(`,"debugPath":`)
		w.String(path)
		w.Raw(`,"breakpadId":`)
		w.String(breakpadID(id))
		w.Raw(`,"codeId":`)
		if id == "" {
			w.Raw("null}")
			return
		}
		w.String(id)
		w.Raw("}")
	})
}

func breakpadID(buildID string) string {
	const digits = 32
	if len(buildID) < digits {
		return ""
	}
	b := strings.ToUpper(buildID)
	swap := func(from, to int) (s string) {
		for i := to - 2; i >= from; i -= 2 {
			s += b[i : i+2]
		}
		return s
	}
	return swap(0, 8) + swap(8, 12) + swap(12, 16) + b[16:digits] + "0"
}

// column writes an array under a name.
func (w *writer) column(name string, n int, value func(i int)) {
	w.Raw(`"` + name + `":`)
	w.Array(n, value)
	w.Raw(",")
}

func (w *writer) same(name string, n int, value string) {
	w.column(name, n, func(int) { w.Raw(value) })
}

func (w *writer) length(n int) {
	w.Raw(`"length":`)
	w.Int(int64(n))
	w.Raw("}")
}

// orNull writes n, or null for what is less than 0.
func (w *writer) orNull(n int) {
	if n < 0 {
		w.Raw("null")
		return
	}
	w.Int(int64(n))
}

func (w *writer) shared() {
	t, table := w.t, w.p.Table
	w.Raw(`{"stackTable":{`)
	n := table.Stacks()
	w.column("frame", n, func(i int) { w.Int(int64(table.Leaf(record.ID(i+1)).ID) - 1) })
	w.column("prefix", n, func(i int) { w.orNull(int(table.Parent(record.ID(i+1))) - 1) })
	w.length(n)

	frame := func(i int) *record.Frame { return table.FrameAt(record.ID(i + 1)) }
	n = table.Frames()
	w.Raw(`,"frameTable":{`)
	// Addresses are of the process, not of the module, which is what the column is for.
	w.same("address", n, "-1")
	w.column("inlineDepth", n, func(i int) {
		if frame(i).Inlined {
			w.Raw("1")
			return
		}
		w.Raw("0")
	})
	w.column("category", n, func(i int) { w.Int(int64(category(frame(i)))) })
	w.same("subcategory", n, "0")
	w.column("func", n, func(i int) { w.Int(int64(t.funcOf[i])) })
	w.same("nativeSymbol", n, "null")
	w.same("innerWindowID", n, "0")
	w.column("line", n, func(i int) {
		if f := frame(i); f.File != "" && f.Line > 0 {
			w.Int(int64(f.Line))
			return
		}
		w.Raw("null")
	})
	w.same("column", n, "null")
	w.length(n)

	n = len(t.funcs)
	w.Raw(`,"funcTable":{`)
	w.column("name", n, func(i int) { w.Int(int64(t.funcs[i].name)) })
	w.same("isJS", n, "false")
	w.same("relevantForJS", n, "false")
	w.column("resource", n, func(i int) { w.Int(int64(t.funcs[i].lib)) })
	w.column("source", n, func(i int) { w.orNull(t.funcs[i].source) })
	w.same("lineNumber", n, "null")
	w.same("columnNumber", n, "null")
	w.length(n)

	// A resource is a module: both tables have the same order. Type 1 is a library.
	n = len(t.libs)
	w.Raw(`,"resourceTable":{`)
	w.column("lib", n, func(i int) { w.Int(int64(i)) })
	w.column("name", n, func(i int) { w.Int(int64(t.libNames[i])) })
	w.same("host", n, "null")
	w.same("type", n, "1")
	w.length(n)

	w.Raw(`,"nativeSymbols":{"libIndex":[],"address":[],"name":[],"functionSize":[],"length":0},"stringArray":`)
	w.Array(len(t.strings), func(i int) { w.String(t.strings[i]) })
	w.Raw(`,"sources":{`)
	w.same("uuid", len(t.sources), "null")
	w.column("filename", len(t.sources), func(i int) { w.Int(int64(t.sources[i])) })
	w.length(len(t.sources))
	w.Raw("}")
}

func category(f *record.Frame) int {
	switch {
	case f.Kind == record.KindKernel:
		return categoryKernel
	case f.Kind == record.KindUser:
		return categoryUser
	}
	return categoryOther
}

func (w *writer) thread(t *format.Thread) {
	s, order := &t.Series, t.Series.Order()
	first, last := int64(0), int64(0)
	at := func(i int) int64 {
		ns, _, _ := s.At(int(order[i]))
		if ns == recording.None {
			return int64(i) * Spacing
		}
		return ns - w.origin
	}
	if n := len(order); n > 0 {
		first, last = at(0), at(n-1)
	}
	w.Raw(`{"processType":"default","processStartupTime":0,"processShutdownTime":null,"registerTime":`)
	w.Milliseconds(first)
	w.Raw(`,"unregisterTime":`)
	w.Milliseconds(last)
	w.Raw(`,"pausedRanges":[],"name":`)
	w.String(threadName(t))
	w.Raw(`,"isMainThread":` + strconv.FormatBool(t.TID == t.PID))
	if name := w.p.Process(t); name != "" {
		w.Raw(`,"processName":`)
		w.String(name)
	}
	w.Raw(`,"pid":`)
	w.String(idOr(t.PID, "unknown"))
	w.Raw(`,"tid":`)
	w.String(idOr(t.TID, "unknown"))
	w.Raw(`,"samples":{`)
	w.column("stack", len(order), func(i int) {
		_, id, _ := s.At(int(order[i]))
		w.orNull(int(id) - 1)
	})
	w.column("time", len(order), func(i int) { w.Milliseconds(at(i)) })
	unit := w.p.Event.Unit
	w.column("weight", len(order), func(i int) {
		_, _, weight := s.At(int(order[i]))
		weight = min(weight, most)
		if unit == event.Nanoseconds {
			w.Milliseconds(int64(weight))
			return
		}
		w.Uint(weight)
	})
	weightType := "samples"
	switch unit {
	case event.Nanoseconds:
		weightType = "tracing-ms"
	case event.Bytes:
		weightType = "bytes"
	}
	w.Raw(`"weightType":"` + weightType + `",`)
	w.length(len(order))
	w.Raw(`,"markers":{"data":[],"name":[],"startTime":[],"endTime":[],"phase":[],"category":[],"length":0}}`)
}

// most is the largest integer that JavaScript can tell from its neighbours.
const most = 1<<53 - 1

func threadName(t *format.Thread) string {
	if t.Name == "" {
		return t.String()
	}
	return t.Name
}

func idOr(id int64, word string) string {
	if id == recording.None {
		return word
	}
	return strconv.FormatInt(id, 10)
}

// tables are those that frames refer to.
type tables struct {
	funcOf   []int32 // by frame
	funcs    []function
	libs     []string
	libNames []int // in strings
	sources  []int // in strings
	strings  []string

	stringOf map[string]int
}

// A function is a name in a module; lib and source are -1 where they are not known.
type function struct{ name, lib, source int }

func newTables(p *format.Profile) *tables {
	t := &tables{stringOf: map[string]int{}}
	funcs, libs, sources := map[function]int32{}, map[string]int{}, map[string]int{}
	for id := 1; id <= p.Table.Frames(); id++ {
		f := p.Table.FrameAt(record.ID(id))
		fn := function{t.text(stack.Naming{}.Name(f)), -1, -1}
		if f.Module != "" {
			lib, ok := libs[f.Module]
			if !ok {
				lib = len(t.libs)
				libs[f.Module] = lib
				t.libs = append(t.libs, f.Module)
				t.libNames = append(t.libNames, t.text(f.Module[strings.LastIndexByte(f.Module, '/')+1:]))
			}
			fn.lib = lib
		}
		if f.File != "" {
			source, ok := sources[f.File]
			if !ok {
				source = len(t.sources)
				sources[f.File] = source
				t.sources = append(t.sources, t.text(f.File))
			}
			fn.source = source
		}
		n, ok := funcs[fn]
		if !ok {
			n = int32(len(t.funcs))
			funcs[fn] = n
			t.funcs = append(t.funcs, fn)
		}
		t.funcOf = append(t.funcOf, n)
	}
	return t
}

func (t *tables) text(s string) int {
	i, ok := t.stringOf[s]
	if !ok {
		i = len(t.strings)
		t.stringOf[s] = i
		t.strings = append(t.strings, s)
	}
	return i
}
