package pprof

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"vperf/lib/event"
	"vperf/lib/format"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// Names of labels, as perf_to_profile gives them to what it makes of perf.data; "thread" is
// the name of a thread and "comm" that of its process.
const (
	labelThread = "thread"
	labelComm   = "comm"
	labelTID    = "tid"
	labelPID    = "pid"
)

// The sample type that counts samples.
const (
	samplesType = "samples"
	countUnit   = "count"
)

// Write writes a profile, which must not be Timed. It has the sample type samples/count,
// and behind it that of the event in its own unit, unless that would be the same number
// again. Sums are cut at the largest that the format holds, 2^63-1.
//
// A function and those inlined into it are one location. The time is that of the first
// sample if the clock of the recording tells the time of day; the duration is from the
// first to the last sample.
func Write(out io.Writer, p *format.Profile) error {
	e := encoder{p: p, mappings: map[string]*profile.Mapping{}, functions: map[functionKey]*profile.Function{}, locations: map[string]*profile.Location{}}
	e.out.SampleType = []*profile.ValueType{{Type: samplesType, Unit: countUnit}}
	weighed := slices.ContainsFunc(p.Sums, func(s format.Sum) bool { return s.N != s.Weight })
	if weighed {
		e.out.SampleType = append(e.out.SampleType, &profile.ValueType{Type: p.Event.Name, Unit: unit(p.Event.Unit)})
		e.out.DefaultSampleType = p.Event.Name
	}
	const year2001 = 1e18 // a clock that counts from boot has not come there
	if p.First > year2001 {
		e.out.TimeNanos = p.First
	}
	if p.First != recording.None {
		e.out.DurationNanos = p.Last - p.First
	}
	e.out.Comments = append([]string{"event " + p.Event.Name}, p.Args...)
	if p.By != "" {
		e.out.Comments = append([]string{p.By}, e.out.Comments...)
	}
	e.mapAll()
	for _, s := range p.Sums {
		sample := &profile.Sample{Location: e.stack(s.Stack), Value: []int64{clamp(s.N)}}
		if weighed {
			sample.Value = append(sample.Value, clamp(s.Weight))
		}
		e.label(sample, p.Threads[s.Thread])
		e.out.Sample = append(e.out.Sample, sample)
	}
	return e.out.Write(out)
}

func unit(of string) string {
	switch of {
	case event.Nanoseconds:
		return "nanoseconds"
	case "":
		return countUnit
	}
	return of
}

func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

type functionKey struct{ name, system, file string }

type encoder struct {
	p         *format.Profile
	out       profile.Profile
	mappings  map[string]*profile.Mapping
	functions map[functionKey]*profile.Function
	locations map[string]*profile.Location // by the ids of its frames
	frames    []record.ID                  // scratch
	key       []byte                       // scratch
}

// stack returns the locations of a stack, leaf first.
func (e *encoder) stack(id record.ID) []*profile.Location {
	var list []*profile.Location
	e.frames = e.frames[:0]
	for ; id != 0; id = e.p.Table.Parent(id) {
		f := e.p.Table.Leaf(id)
		e.frames = append(e.frames, f.ID)
		if !f.Inlined || e.p.Table.Parent(id) == 0 {
			list = append(list, e.location(e.frames))
			e.frames = e.frames[:0]
		}
	}
	return list
}

// location returns that of inlined frames and of the function that holds them, innermost
// first.
func (e *encoder) location(frames []record.ID) *profile.Location {
	e.key = e.key[:0]
	for _, id := range frames {
		e.key = binary.AppendUvarint(e.key, uint64(id))
	}
	if l, ok := e.locations[string(e.key)]; ok {
		return l
	}
	holder := e.p.Table.FrameAt(frames[len(frames)-1])
	l := &profile.Location{ID: uint64(len(e.out.Location) + 1), Mapping: e.mapping(holder.Module)}
	if address, err := strconv.ParseUint(holder.Address, 0, 64); err == nil {
		l.Address = address
	}
	for _, id := range frames {
		f := e.p.Table.FrameAt(id)
		l.Line = append(l.Line, profile.Line{Function: e.function(f), Line: int64(f.Line)})
		if m := l.Mapping; m != nil {
			m.HasFunctions = true
			m.HasFilenames = m.HasFilenames || f.File != ""
			m.HasLineNumbers = m.HasLineNumbers || f.Line > 0
			m.HasInlineFrames = m.HasInlineFrames || f.Inlined
		}
	}
	e.locations[string(e.key)] = l
	e.out.Location = append(e.out.Location, l)
	return l
}

// mapAll makes the mappings. The tools take the first for the program: libraries come behind
// what is none, and the kernel is last.
func (e *encoder) mapAll() {
	const program, library, kernel = 0, 1, 2
	rank := func(f *record.Frame) int {
		switch {
		case f.Kind == record.KindKernel:
			return kernel
		case strings.Contains(f.Module, ".so") || strings.HasPrefix(f.Module, "["):
			return library
		}
		return program
	}
	for r := program; r <= kernel; r++ {
		for id := 1; id <= e.p.Table.Frames(); id++ {
			if f := e.p.Table.FrameAt(record.ID(id)); rank(f) == r {
				e.mapping(f.Module)
			}
		}
	}
}

func (e *encoder) mapping(module string) *profile.Mapping {
	if module == "" {
		return nil
	}
	m, ok := e.mappings[module]
	if !ok {
		m = &profile.Mapping{ID: uint64(len(e.out.Mapping) + 1), File: module, BuildID: e.p.BuildIDs[module]}
		e.mappings[module] = m
		e.out.Mapping = append(e.out.Mapping, m)
	}
	return m
}

// function returns that of a frame. A name that stands for what is not resolved is no name
// of the system.
func (e *encoder) function(f *record.Frame) *profile.Function {
	key := functionKey{stack.Naming{}.Name(f), f.Symbol, f.File}
	fn, ok := e.functions[key]
	if !ok {
		fn = &profile.Function{ID: uint64(len(e.out.Function) + 1), Name: key.name, SystemName: key.system, Filename: key.file}
		e.functions[key] = fn
		e.out.Function = append(e.out.Function, fn)
	}
	return fn
}

func (e *encoder) label(s *profile.Sample, t *format.Thread) {
	for key, text := range map[string]string{labelThread: t.Name, labelComm: e.p.Process(t)} {
		if text != "" {
			if s.Label == nil {
				s.Label = map[string][]string{}
			}
			s.Label[key] = []string{text}
		}
	}
	for key, id := range map[string]int64{labelTID: t.TID, labelPID: t.PID} {
		if id != recording.None {
			if s.NumLabel == nil {
				s.NumLabel = map[string][]int64{}
			}
			s.NumLabel[key] = []int64{id}
		}
	}
}
