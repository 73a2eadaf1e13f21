package record

import (
	"bytes"
	stdjson "encoding/json"
	"io"
	"testing"

	"github.com/goccy/go-json"
)

const benchRecords = 100_000

// hotStream is a stream with the mix of a real one: mostly samples, then stacks and
// frames.
func hotStream() []Record {
	all := make([]Record, 0, benchRecords)
	for i := range benchRecords {
		n := int64(i)
		switch {
		case i%20 == 0:
			all = append(all, &Frame{ID: ID(i/20 + 1), Symbol: "DB::AggregatingTransform::consume(DB::Chunk)", Module: "/usr/bin/clickhouse", Kind: KindUser})
		case i%5 == 0:
			all = append(all, &Stack{ID: ID(i + 1), Frame: ID(i/20 + 1), Parent: ID(i)})
		case i%7 == 0:
			all = append(all, &Wait{TID: 4000 + n%8, StartNS: 812_000_000_000 + n*5000, DurationNS: 51_234 + n, State: "sleep", Stack: ID(i)})
		default:
			all = append(all, &Sample{Event: 1, TID: 4000 + n%8, TimeNS: 812_000_000_000 + n*5000, Weight: 5_025_125, Stack: ID(i), CPU: n % 8, PID: 4000})
		}
	}
	return all
}

func encoded(all []Record) []byte {
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, r := range all {
		w.Write(r)
	}
	w.Flush()
	return b.Bytes()
}

// report adds the figure that people ask for.
func report(b *testing.B, bytes int) {
	b.SetBytes(int64(bytes))
	b.ReportMetric(float64(b.N)*benchRecords/1e6/b.Elapsed().Seconds(), "Mrec/s")
}

func BenchmarkWrite(b *testing.B) {
	all := hotStream()
	size := len(encoded(all))
	w := NewWriter(io.Discard)
	for b.Loop() {
		for _, r := range all {
			w.Write(r)
		}
	}
	report(b, size)
}

func BenchmarkRead(b *testing.B) {
	in := encoded(hotStream())
	var f Frame
	var k Stack
	var s Sample
	var w Wait
	for b.Loop() {
		r := NewReader("bench", bytes.NewReader(in))
		n := 0
		for r.Next() {
			n++
			switch r.Type() {
			case TypeFrame:
				r.Decode(&f)
			case TypeStack:
				r.Decode(&k)
			case TypeSample:
				r.Decode(&s)
			case TypeWait:
				r.Decode(&w)
			}
		}
		if n != benchRecords {
			b.Fatal(n)
		}
	}
	report(b, len(in))
}

// Passing on is what a filter does with everything that it does not want.
func BenchmarkPassOn(b *testing.B) {
	in := encoded(hotStream())
	w := NewWriter(io.Discard)
	for b.Loop() {
		r := NewReader("bench", bytes.NewReader(in))
		for r.Next() {
			w.Raw(r.Line())
		}
	}
	report(b, len(in))
}

// The libraries, for comparison: the same records as structs with tags.
func BenchmarkReadGoccy(b *testing.B)        { benchLibrary(b, json.Unmarshal) }
func BenchmarkReadEncodingJSON(b *testing.B) { benchLibrary(b, stdjson.Unmarshal) }

func benchLibrary(b *testing.B, unmarshal func([]byte, any) error) {
	in := encoded(hotStream())
	lines := bytes.Split(bytes.TrimSpace(in), []byte("\n"))
	type record struct {
		Type       string `json:"type"`
		ID         uint32 `json:"id"`
		Symbol     string `json:"symbol"`
		Module     string `json:"module"`
		Kind       string `json:"kind"`
		Frame      uint32 `json:"frame"`
		Parent     uint32 `json:"parent"`
		Event      uint32 `json:"event"`
		TID        int64  `json:"tid"`
		TimeNS     int64  `json:"time_ns"`
		Weight     uint64 `json:"weight"`
		Stack      uint32 `json:"stack"`
		CPU        int64  `json:"cpu"`
		PID        int64  `json:"pid"`
		StartNS    int64  `json:"start_ns"`
		DurationNS int64  `json:"duration_ns"`
		State      string `json:"state"`
	}
	for b.Loop() {
		for _, l := range lines {
			var r record
			if err := unmarshal(l, &r); err != nil {
				b.Fatal(err)
			}
		}
	}
	report(b, len(in))
}

func BenchmarkDump(b *testing.B) {
	raw := bytes.Repeat([]byte("perf.data is repetitive \x00\x01\x02\x03"), 1<<16)
	var out bytes.Buffer
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			out.Reset()
			w := NewWriter(&out)
			if WriteDump(w, DumpPerfData, bytes.NewReader(raw)) != nil || w.Flush() != nil {
				b.Fatal("write failed")
			}
		}
		b.SetBytes(int64(len(raw)))
	})
	b.Run("read", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			r := NewReader("bench", bytes.NewReader(out.Bytes()))
			var d Dump
			for r.Next() {
				if !r.Decode(&d) {
					b.Fatal("no dump")
				}
				buf, _ = d.AppendTo(buf[:0])
			}
		}
		b.SetBytes(int64(len(raw)))
	})
}
