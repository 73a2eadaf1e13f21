package report_test

import (
	"bytes"
	"io"
	"testing"

	"vperf/lib/record"
	"vperf/lib/report"
)

// The targets: 1,000,000 samples, 50,000 stacks and 64 threads in a second, in a page of
// 8 MB. The size is reported as a metric.
func BenchmarkReport(b *testing.B) {
	var stream bytes.Buffer
	synthetic(&stream, 1_000_000, 50_000, 64)
	b.ReportAllocs()
	for b.Loop() {
		p := report.New()
		if err := p.Read(record.NewReader("synthetic", bytes.NewReader(stream.Bytes()))); err != nil {
			b.Fatal(err)
		}
		var size counter
		if err := p.WriteHTML(&size, ""); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(size)/1e6, "MB/page")
	}
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

var _ io.Writer = (*counter)(nil)
