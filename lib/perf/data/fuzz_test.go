package data_test

import (
	"bytes"
	"io"
	"testing"

	"vperf/lib/perf/data"
	"vperf/lib/perf/data/datatest"
)

// No input makes the reader panic or loop, and it yields no more than there is.
func FuzzReader(f *testing.F) {
	for _, big := range []bool{false, true} {
		w := &datatest.Recording{Big: big}
		w.Event(data.Attr{Type: 2, Config: 1, SampleType: basic | data.SampleIdentifier | data.SampleCallchain | data.SampleRaw | data.SampleRead, ReadFormat: 0xf, Flags: idAll}, 1, 2)
		w.Event(data.Attr{Type: 1, SampleType: basic | data.SampleIdentifier | data.SampleBranchStack | data.SampleRegsUser | data.SampleStackUser, RegsUser: 7, Flags: idAll}, 3)
		w.Feature(3, datatest.Text("host"))
		w.Feature(12, uint32(1), uint32(64), make([]byte, 64), uint32(1), datatest.Text("x"), uint64(1))
		w.Feature(1, []byte("\x17\x08\x44tracing0.6\x00"), uint8(0), uint8(8), uint32(4096), []byte("header_page\x00"), uint64(0), []byte("header_event\x00"), uint64(0),
			uint32(0), uint32(1), []byte("sys\x00"), uint32(1), uint64(60), []byte("name: n\nID: 1\nformat:\n\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->a\n"))
		sample(w, 5)
		w.Record(data.RecordComm, 0, uint32(1), uint32(1), "c", uint32(7), uint32(8), uint64(9), uint64(1))
		w.Record(data.RecordMmap2, data.MiscMmapBuildID, uint32(7), uint32(8), uint64(0x1000), uint64(0x2000), uint64(0), make([]byte, 24), uint32(1), uint32(2), "/bin/c", uint64(1))
		w.Record(finish, 0)
		f.Add(w.File())
		f.Add(w.Pipe())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, in := range []io.Reader{bytes.NewReader(b), datatest.Reader(b)} {
			r, err := data.NewReader(in)
			if err != nil {
				continue
			}
			n := 0
			var s data.Sample
			for r.Next() {
				n++
				rec := r.Record()
				rec.ID()
				rec.Mapping()
				rec.Comm()
				rec.Task()
				rec.Ksymbol()
				rec.Deferred()
				if e := rec.Event(); e != nil {
					rec.Reading(e)
					if rec.Sample(e, &s) {
						rec.Values(e, s.Values, func(data.Value) {})
						if format := r.Format(e); format != nil {
							rec.AppendPayload(nil, format, s.Raw)
						}
					}
				}
			}
			if r.Count(81)+r.Count(83) == 0 && n > len(b)/8 {
				t.Errorf("%d records in %d bytes", n, len(b))
			}
			r.Close()
		}
	})
}
