// Package speedscope writes profiles for https://www.speedscope.app, in the format whose
// schema is https://www.speedscope.app/file-format-schema.json (described by
// src/lib/file-format-spec.ts of github.com/jlfwong/speedscope): frames that all profiles
// share, and a profile of type "sampled" for each thread, whose samples are lists of
// frames, root first, in the order of their times.
package speedscope

import (
	"cmp"
	"io"
	"slices"

	"vperf/lib/event"
	"vperf/lib/format"
	"vperf/lib/format/internal/jsonout"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// Schema is what the file says it follows.
const Schema = "https://www.speedscope.app/file-format-schema.json"

// most is the largest integer that JavaScript can tell from its neighbours.
const most = 1<<53 - 1

// Write writes a profile, which must be Timed. The busiest thread is the one that is shown
// first. Weights and their sums are cut at 2^53, which is more than 100 days in
// nanoseconds.
func Write(out io.Writer, p *format.Profile) error {
	w := jsonout.New(out)
	w.Raw(`{"$schema":`)
	w.String(Schema)
	w.Raw(`,"shared":{"frames":`)
	number, frames := functions(p.Table)
	w.Array(len(frames), func(i int) {
		f := frames[i]
		w.Raw(`{"name":`)
		w.String(f.name)
		if f.file != "" {
			w.Raw(`,"file":`)
			w.String(f.file)
		}
		w.Raw("}")
	})
	w.Raw(`},"profiles":`)

	busiest, best := 0, uint64(0)
	var frameIDs []uint32
	w.Array(len(p.Threads), func(i int) {
		t := p.Threads[i]
		order, total := t.Series.Order(), uint64(0)
		for _, at := range order {
			_, _, weight := t.Series.At(int(at))
			total = min(stack.Plus(total, weight), most)
		}
		if total > best {
			busiest, best = i, total
		}
		w.Raw(`{"type":"sampled","name":`)
		w.String(t.String())
		w.Raw(`,"unit":"` + unit(p.Event.Unit) + `","startValue":0,"endValue":`)
		w.Uint(total)
		w.Raw(`,"samples":`)
		w.Array(len(order), func(i int) {
			_, id, _ := t.Series.At(int(order[i]))
			frameIDs = frameIDs[:0]
			for s := record.ID(id); s != 0; s = p.Table.Parent(s) {
				frameIDs = append(frameIDs, number[p.Table.Leaf(s).ID])
			}
			slices.Reverse(frameIDs)
			w.Array(len(frameIDs), func(i int) { w.Uint(uint64(frameIDs[i])) })
		})
		w.Raw(`,"weights":`)
		w.Array(len(order), func(i int) {
			_, _, weight := t.Series.At(int(order[i]))
			w.Uint(min(weight, most))
		})
		w.Raw("}")
	})
	w.Raw(`,"name":`)
	w.String(p.Event.Name)
	w.Raw(`,"activeProfileIndex":`)
	w.Int(int64(busiest))
	if p.By != "" {
		w.Raw(`,"exporter":`)
		w.String(p.By)
	}
	w.Raw("}\n")
	return w.Flush()
}

// A function is what a frame is to speedscope, which adds up what has the same name and
// file. The file is the source file where it is known, else the module. A line stays out:
// ours are those of the samples, and would take functions apart.
type function struct{ name, file string }

// functions numbers the frames of a table; the index is the frame's id.
func functions(t *stack.Table) (number []uint32, frames []function) {
	number = make([]uint32, t.Frames()+1)
	seen := map[function]uint32{}
	for id := 1; id <= t.Frames(); id++ {
		f := t.FrameAt(record.ID(id))
		fn := function{stack.Naming{}.Name(f), cmp.Or(f.File, f.Module)}
		n, ok := seen[fn]
		if !ok {
			n = uint32(len(frames))
			seen[fn] = n
			frames = append(frames, fn)
		}
		number[id] = n
	}
	return number, frames
}

func unit(of string) string {
	switch of {
	case event.Nanoseconds:
		return "nanoseconds"
	case event.Bytes:
		return "bytes"
	}
	return "none"
}
