package pprof

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"vperf/lib/event"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// The fields of a profile, by their wire type in the encoding of protocol buffers: bit n
// stands for field n. Field 13, comments, may be either.
const (
	number  = 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<12 | 1<<13 | 1<<14 | 1<<15
	message = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<11 | 1<<13

	sampleTypeField = 1
)

// Looks reports whether data that was unpacked begins like a profile: with fields that it
// has, among them a sample type, which holds two numbers.
func Looks(head []byte) bool {
	found := false
	for len(head) > 0 {
		field, wire := head[0]>>3, head[0]&7
		isNumber := wire == 0 && number>>field&1 == 1
		isMessage := wire == 2 && message>>field&1 == 1
		value, n := binary.Uvarint(head[1:])
		if !isNumber && !isMessage || n < 0 {
			return false
		}
		if n == 0 {
			break // the head ends
		}
		head = head[1+n:]
		if isNumber {
			continue
		}
		if field == sampleTypeField {
			if value > uint64(len(head)) || !isSampleType(head[:value]) {
				return false
			}
			found = true
		}
		head = head[min(value, uint64(len(head))):]
	}
	return found
}

// isSampleType reports whether a message has nothing but fields 1 and 2, both numbers.
func isSampleType(b []byte) bool {
	for rest := b; len(rest) > 0; {
		_, n := binary.Uvarint(rest[1:])
		if rest[0] != 1<<3 && rest[0] != 2<<3 || n <= 0 {
			return false
		}
		rest = rest[1+n:]
	}
	return len(b) > 0
}

// maxSize bounds what is read: a profile is decoded as a whole.
const maxSize = 1 << 30

// A Reader yields the samples of a profile. It implements [recording.Source].
type Reader struct {
	p         *profile.Profile
	value     int // index of the sample type
	count     int // index of samples/count; -1 where there is none
	scale     uint64
	event     record.Event
	addresses bool

	table     *stack.Table
	locations map[*profile.Location][]record.ID // frames, leaf first
	next      int
	sample    recording.Sample
	n         uint64
	tally     recording.Tally
	scratch   []int32
	budget    int // frames that the stacks may still have
	err       error
}

// errFrames ends reading where a few bytes stand for so many frames that they would take
// hours: a location may have any number of lines, and a stack the same location any number
// of times.
var errFrames = errors.New("the stacks have more frames than a profile of this size can have")

// An EventError says that a profile has no such sample type.
type EventError struct{ Types []string }

func (e *EventError) Error() string {
	return "the profile has no such sample type, but " + strings.Join(e.Types, ", ")
}

// NewReader reads a profile that was unpacked. wanted chooses the sample type; if it is nil
// the one that the profile names as its default is taken, else the last, as `go tool pprof`
// does it. addresses keeps the addresses of frames.
func NewReader(in io.Reader, wanted func(sampleType string) bool, addresses bool) (*Reader, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("larger than %d MiB", maxSize>>20)
	}
	p, err := profile.ParseUncompressed(data)
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		return nil, fmt.Errorf("not a whole pprof profile: %w", err)
	}
	if len(p.SampleType) == 0 {
		return nil, errors.New("a pprof profile without sample types")
	}
	r := &Reader{p: p, addresses: addresses, count: -1, budget: 1<<16 + 8*len(data), table: stack.NewTable(), locations: map[*profile.Location][]record.ID{}}
	if r.value = choose(p, wanted); r.value < 0 {
		e := &EventError{}
		for _, t := range p.SampleType {
			e.Types = append(e.Types, t.Type)
		}
		return nil, e
	}
	r.count = slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == samplesType && t.Unit == countUnit })
	r.event, r.scale = eventOf(p.SampleType[r.value])
	return r, nil
}

func choose(p *profile.Profile, wanted func(string) bool) int {
	last := len(p.SampleType) - 1
	switch {
	case wanted != nil:
		return slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return wanted(t.Type) })
	case p.DefaultSampleType == "":
		return last
	}
	if i := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == p.DefaultSampleType }); i >= 0 {
		return i
	}
	return last
}

// eventOf returns the event that a sample type is, and what its values have to be
// multiplied by to be in the event's unit. Of time it is taken that it was spent on a CPU,
// unless its name says that it was waited.
func eventOf(t *profile.ValueType) (record.Event, uint64) {
	e := record.Event{Name: t.Type, Unit: cmp.Or(t.Unit, countUnit), Kind: record.KindCounter}
	scale := map[string]uint64{"nanoseconds": 1, "ns": 1, "microseconds": 1e3, "us": 1e3, "milliseconds": 1e6, "ms": 1e6, "seconds": 1e9, "s": 1e9}[t.Unit]
	if scale > 0 {
		e.Unit = event.Nanoseconds
	}
	known, ok := event.Lookup(t.Type)
	switch {
	case ok:
		e.Kind = known.Kind
	case scale > 0 && t.Type != "delay", t.Type == samplesType:
		e.Kind = record.KindCPU
	}
	return e, max(scale, 1)
}

// Event describes the event of the samples, which is the sample type.
func (r *Reader) Event() record.Event { return r.event }

// BuildID returns the build id of a module, empty where it is not known.
func (r *Reader) BuildID(module string) string {
	for _, m := range r.p.Mapping {
		if m.File == module && m.BuildID != "" {
			return m.BuildID
		}
	}
	return ""
}

// Next advances to the next sample that weighs something.
func (r *Reader) Next() bool {
	for r.err == nil && r.next < len(r.p.Sample) {
		s := r.p.Sample[r.next]
		r.next++
		value := s.Value[r.value]
		if value < 0 {
			r.tally.Add(recording.BadValue, 1, int64(r.next), strconv.FormatInt(value, 10))
			continue
		}
		if value == 0 && (r.count < 0 || s.Value[r.count] <= 0) {
			continue
		}
		r.n = 1
		if r.count >= 0 {
			r.n = uint64(max(s.Value[r.count], 1))
		}
		r.sample = recording.Sample{
			Event: r.event.Name, Comm: textOf(s, labelThread, labelComm), PID: numberOf(s, labelPID), TID: numberOf(s, labelTID),
			CPU: recording.None, TimeNS: recording.None, Weight: times(uint64(value), r.scale), Stack: r.stack(s.Location), Place: int64(r.next),
		}
		if r.budget < 0 {
			r.err = errFrames
			return false
		}
		r.tally.Samples = stack.Plus(r.tally.Samples, r.n)
		if len(s.Location) > 1 {
			r.tally.Deep = stack.Plus(r.tally.Deep, r.n)
		}
		return true
	}
	return false
}

func times(n, scale uint64) uint64 {
	if n > 1<<63/scale {
		return 1 << 63
	}
	return n * scale
}

func textOf(s *profile.Sample, keys ...string) string {
	for _, key := range keys {
		if v := s.Label[key]; len(v) > 0 && v[0] != "" {
			return v[0]
		}
	}
	return ""
}

func numberOf(s *profile.Sample, key string) int64 {
	if v := s.NumLabel[key]; len(v) > 0 && v[0] >= 0 {
		return v[0]
	}
	return recording.None
}

// stack interns a stack whose locations are given leaf first.
func (r *Reader) stack(locations []*profile.Location) int {
	id := record.ID(0)
	for i := len(locations) - 1; i >= 0; i-- {
		frames := r.location(locations[i])
		if r.budget -= len(frames); r.budget < 0 {
			break
		}
		for j := len(frames) - 1; j >= 0; j-- {
			id = r.table.Stack(id, frames[j])
		}
	}
	return int(id)
}

func (r *Reader) location(l *profile.Location) []record.ID {
	if l == nil {
		return nil
	}
	if frames, ok := r.locations[l]; ok {
		return frames
	}
	base := record.Frame{Kind: record.KindUnknown}
	if l.Mapping != nil {
		base.Module = l.Mapping.File
	}
	if base.Module != "" || len(l.Line) > 0 {
		base.Kind = kindOf(base.Module)
	}
	if r.addresses && l.Address != 0 {
		base.Address = fmt.Sprintf("0x%x", l.Address)
	}
	var frames []record.ID
	for i, line := range l.Line {
		f := base
		f.Inlined = i < len(l.Line)-1
		f.Line = int(line.Line)
		if fn := line.Function; fn != nil {
			f.Symbol, f.File = fn.Name, fn.Filename
			if fn.SystemName == "" && strings.HasPrefix(f.Symbol, "[") && f.Symbol == (stack.Naming{}).Name(&base) {
				f.Symbol = "" // the name that Write gives to what has none
			}
		}
		frames = append(frames, r.table.Frame(f))
	}
	if frames == nil {
		frames = []record.ID{r.table.Frame(base)}
	}
	r.locations[l] = frames
	return frames
}

// kindOf tells kernel code by the name of its module, as perf writes it: "[kernel.kallsyms]",
// "[nf_conntrack]", or the file of a module.
func kindOf(module string) record.FrameKind {
	switch module {
	case "[vdso]", "[vsyscall]", "[heap]", "[stack]", "[anon]", "[jit]":
		return record.KindUser
	}
	if strings.HasPrefix(module, "[") || path.Base(module) == "vmlinux" || strings.HasSuffix(module, ".ko") {
		return record.KindKernel
	}
	return record.KindUser
}

// Sample returns the sample that Next went to.
func (r *Reader) Sample() *recording.Sample { return &r.sample }

// Count returns how many samples it stands for.
func (r *Reader) Count() uint64 { return r.n }

// Stack implements [recording.Source].
func (r *Reader) Stack(i int) []int32 {
	r.scratch = r.table.Path(r.scratch[:0], record.ID(i))
	return r.scratch
}

// Frame implements [recording.Source].
func (r *Reader) Frame(i int32) *record.Frame { return r.table.FrameAt(record.ID(i)) }

// Tally implements [recording.Source].
func (r *Reader) Tally() *recording.Tally { return &r.tally }

// Err implements [recording.Source].
func (r *Reader) Err() error { return r.err }
