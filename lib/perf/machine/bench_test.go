package machine_test

import (
	"bytes"
	"testing"

	"vperf/lib/perf/data"
	"vperf/lib/perf/machine"
)

// Half a thousand stacks of 20 frames, over and over, from two CPUs.
func BenchmarkSource(b *testing.B) {
	w := newWriter(deep | data.SamplePeriod)
	w.mmap(1, 0x10000, 1<<30, 0, "/a")
	chain := make([]uint64, 20)
	const samples = 50_000
	for i := range uint64(samples) {
		for j := range chain {
			chain[j] = 0x10000 + 0x1000*(i*i%509) + 0x100*uint64(j)
		}
		w.Record(data.RecordSample, user, chain[0], uint32(1), uint32(1), i+i%1000*3, uint64(1000), uint64(len(chain)), chain)
		if i%5000 == 4999 {
			w.Record(68, 0) // FINISHED_ROUND
		}
	}
	file := w.File()
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		r, err := data.NewReader(bytes.NewReader(file))
		if err != nil {
			b.Fatal(err)
		}
		src := machine.NewSource(r, machine.Options{Open: fake})
		n := 0
		for src.Next() {
			n++
		}
		if n != samples {
			b.Fatal(n)
		}
		r.Close()
	}
	b.ReportMetric(float64(samples*b.N)/b.Elapsed().Seconds(), "samples/s")
}
