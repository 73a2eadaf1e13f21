package report_test

import (
	"fmt"
	"io"
	"math/rand/v2"

	"vperf/lib/record"
)

// synthetic writes the stream of a run of one second per 64,000 samples: threads that call
// through stacks of up to 60 frames, most of them rare.
func synthetic(out io.Writer, samples, stacks, threads int) {
	rnd := rand.New(rand.NewPCG(1, 2))
	w := record.NewWriter(out)
	w.Begin(record.Stream{By: "synthetic 1", Profile: "p", Clock: "monotonic"})
	w.Write(&record.Meta{Host: &record.Host{NCPU: threads}})
	w.Write(&record.Event{ID: 1, Name: "cycles", Unit: "cycles", Kind: record.KindCPU})
	for t := range threads {
		w.Write(&record.Thread{TID: int64(1000 + t), PID: record.Int(1000), Name: fmt.Sprintf("worker-%d", t%8)})
	}
	in := record.NewInterner(w)
	modules := []string{"/usr/bin/app", "/usr/lib/libc.so.6", "/usr/lib/libstore.so", "/usr/lib/libjson.so", "[kernel.kallsyms]"}
	frames := make([]record.ID, 8000)
	for i := range frames {
		m := modules[i%len(modules)]
		kind := record.KindUser
		if m[0] == '[' {
			kind = record.KindKernel
		}
		frames[i] = in.Frame(record.Frame{
			Symbol: fmt.Sprintf("ns%d::Type<%d>::method_%d(int, std::string const&)", i%37, i%11, i),
			Module: m, Kind: kind,
		})
	}
	leaves := make([]record.ID, 0, stacks)
	var paths [][]record.ID
	for len(leaves) < stacks {
		var path []record.ID
		if n := len(paths); n > 0 && rnd.IntN(20) > 0 { // most stacks leave another one near its leaf
			other := paths[rnd.IntN(n)]
			path = append(path, other[:max(1, len(other)-rnd.IntN(5))]...)
		}
		for want := min(60, max(len(path)+1+rnd.IntN(4), 4)); len(path) < want; {
			path = append(path, frames[rnd.IntN(len(frames))])
		}
		var s record.ID
		for _, f := range path {
			s = in.Stack(s, f)
		}
		paths = append(paths, path)
		leaves = append(leaves, s)
	}
	t := int64(1_000_000_000_000)
	for i := range samples {
		t += 1 + rnd.Int64N(31_000)
		at := int(float64(stacks) * rnd.Float64() * rnd.Float64() * rnd.Float64())
		w.Write(&record.Sample{
			Event: 1, TID: int64(1000 + i%threads), TimeNS: t,
			Weight: 4_000_000 + rnd.Uint64N(200_000), Stack: leaves[at], CPU: int64(i % threads), PID: 1000,
		})
	}
	w.Write(&record.Counter{Event: "task-clock", Scope: "all", Value: record.Float(float64(t-1_000_000_000_000) * float64(threads) / 2), Unit: "ns", Quality: record.Count})
	w.End("")
	w.Flush()
}
