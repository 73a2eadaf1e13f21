package data_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"vperf/lib/perf/data"
	"vperf/lib/perf/data/datatest"
)

const (
	basic  = data.SampleIP | data.SampleTID | data.SampleTime | data.SamplePeriod
	idAll  = data.FlagSampleIDAll
	oneCPU = 4 // any
	finish = 68
)

// each runs a test on a recording in both byte orders, as a file and as a pipe.
func each(t *testing.T, make func(*datatest.Recording), test func(*testing.T, *data.Reader)) {
	t.Helper()
	for _, big := range []bool{false, true} {
		for _, pipe := range []bool{false, true} {
			t.Run(fmt.Sprintf("big=%v,pipe=%v", big, pipe), func(t *testing.T) {
				w := &datatest.Recording{Big: big}
				make(w)
				test(t, open(t, w, pipe))
			})
		}
	}
}

func open(t *testing.T, w *datatest.Recording, pipe bool) *data.Reader {
	t.Helper()
	var in io.Reader = bytes.NewReader(w.File())
	if pipe {
		in = datatest.Reader(w.Pipe())
	}
	r, err := data.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// list reads all records as "type/time".
func list(r *data.Reader) (all []string) {
	for r.Next() {
		rec := r.Record()
		time := "-"
		if rec.Time != data.NoTime {
			time = fmt.Sprint(rec.Time)
		}
		all = append(all, fmt.Sprintf("%d/%s", rec.Type, time))
	}
	return all
}

func sample(w *datatest.Recording, time uint64) {
	w.Record(data.RecordSample, data.ModeUser, uint64(0x1000), uint32(7), uint32(8), time, uint64(99))
}

func TestOrder(t *testing.T) {
	each(t, func(w *datatest.Recording) {
		w.Event(data.Attr{SampleType: basic, Flags: idAll}, 1)
		comm := func(time uint64) {
			w.Record(data.RecordComm, 0, uint32(7), uint32(8), "name", uint32(7), uint32(8), time)
		}
		sample(w, 20)
		sample(w, 40)
		comm(10)
		comm(0) // made up by perf record: has no time, and comes at once
		w.Record(finish, 0)
		sample(w, 30)
		sample(w, 40)
		comm(40)
		w.Record(finish, 0) // what the first round had is complete
		sample(w, 5)        // late: perf takes it all the same
		sample(w, 50)
	}, func(t *testing.T, r *data.Reader) {
		want := []string{"3/-", "3/10", "9/20", "9/30", "9/40", "9/40", "3/40", "9/5", "9/50"}
		if got := list(r); !slices.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		if r.Fault() != nil || r.Err() != nil {
			t.Error(r.Fault(), r.Err())
		}
	})
}

func TestWithoutTimes(t *testing.T) {
	each(t, func(w *datatest.Recording) {
		w.Event(data.Attr{SampleType: data.SampleIP})
		for _, ip := range []uint64{3, 1, 2} {
			w.Record(data.RecordSample, 0, ip)
		}
	}, func(t *testing.T, r *data.Reader) {
		var s data.Sample
		for _, want := range []uint64{3, 1, 2} {
			if !r.Next() || !r.Record().Sample(r.Record().Event(), &s) || s.IP != want || s.PID != -1 || s.CPU != -1 || s.Time != data.NoTime {
				t.Fatalf("%+v, want the address %d", s, want)
			}
		}
	})
}

// Every part of a sample, in the order of the kernel.
func TestSample(t *testing.T) {
	all := data.SampleWeight<<1 - 1 | data.SampleDataSrc | data.SampleIdentifier | data.SampleTransaction | data.SampleRegsIntr |
		data.SamplePhysAddr | data.SampleAux | data.SampleCgroup | data.SampleDataPageSize | data.SampleCodePageSize
	for _, last := range []data.SampleType{data.SampleWeight, data.SampleWeightStruct} {
		each(t, func(w *datatest.Recording) {
			w.Event(data.Attr{
				SampleType: all&^data.SampleWeight | last, ReadFormat: data.ReadGroup | data.ReadID | data.ReadTotalTimeEnabled | data.ReadLost,
				BranchSampleType: 1<<17 | 1<<19, RegsUser: 5, RegsIntr: 2,
			}, 77)
			w.Record(data.RecordSample, data.ModeUser,
				uint64(77), uint64(0x1000), uint32(7), uint32(8), uint64(123), uint64(0xadd), uint64(77), uint64(88), uint32(3), uint32(0),
				uint64(1009),
				uint64(2), uint64(500), uint64(11), uint64(77), uint64(1), uint64(12), uint64(78), uint64(2), // group of two
				uint64(3), data.ContextUser, uint64(0x1000), uint64(0x2000),
				uint32(4), []byte("raw!"),
				uint64(2), uint64(9), []uint64{1, 2, 3, 4, 5, 6}, []uint64{21, 22}, // branches, index in front, counters behind
				uint64(2), []uint64{100, 102},
				uint64(16), []byte("stack...no more."), uint64(8),
				uint64(30), uint64(31), uint64(32),
				uint64(1), uint64(101),
				uint64(33), uint64(34), uint64(35), uint64(36),
				uint64(8), []byte("auxiliar"))
		}, func(t *testing.T, r *data.Reader) {
			if !r.Next() {
				t.Fatal(r.Fault())
			}
			rec := r.Record()
			var s data.Sample
			if !rec.Sample(rec.Event(), &s) {
				t.Fatal("the sample is too short")
			}
			words := func(b []byte) (list []uint64) {
				for i := range data.Words(b) {
					list = append(list, rec.Word(b, i))
				}
				return list
			}
			for _, c := range []struct {
				name      string
				got, want any
			}{
				{"ip", s.IP, uint64(0x1000)},
				{"pid", s.PID, int32(7)},
				{"tid", s.TID, int32(8)},
				{"cpu", s.CPU, int32(3)},
				{"time", s.Time, uint64(123)},
				{"addr", s.Addr, uint64(0xadd)},
				{"id", s.ID, uint64(77)},
				{"stream", s.StreamID, uint64(88)},
				{"period", s.Period, uint64(1009)},
				{"chain", words(s.Chain), []uint64{data.ContextUser, 0x1000, 0x2000}},
				{"raw", string(s.Raw), "raw!"},
				{"branches", words(s.Branches), []uint64{1, 2, 3, 4, 5, 6}},
				{"user regs", words(s.UserRegs), []uint64{100, 102}},
				{"stack", string(s.UserStack), "stack..."},
				{"weight", s.Weight, uint64(30)},
				{"data src", s.DataSrc, uint64(31)},
				{"transaction", s.Transaction, uint64(32)},
				{"intr regs", words(s.IntrRegs), []uint64{101}},
				{"phys", s.PhysAddr, uint64(33)},
				{"cgroup", s.Cgroup, uint64(34)},
				{"data page", s.DataPageSize, uint64(35)},
				{"code page", s.CodePageSize, uint64(36)},
				{"aux", string(s.Aux), "auxiliar"},
			} {
				if !reflect.DeepEqual(c.got, c.want) {
					t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
				}
			}
			var values []data.Value
			enabled, _ := rec.Values(rec.Event(), s.Values, func(v data.Value) { values = append(values, v) })
			if want := []data.Value{{11, 77, 1}, {12, 78, 2}}; enabled != 500 || !slices.Equal(values, want) {
				t.Errorf("enabled %d, values %v, want 500, %v", enabled, values, want)
			}
		})
	}
}

// A sample that is cut anywhere is none, and never more than that.
func TestShortSample(t *testing.T) {
	w := &datatest.Recording{}
	types := basic | data.SampleCallchain | data.SampleRaw | data.SampleStackUser
	w.Event(data.Attr{SampleType: types})
	whole := w.Encode(data.RecordSample, 0, uint64(1), uint64(2), uint64(3), uint64(4),
		uint64(1), uint64(5), uint32(4), []byte("raw!"), uint64(8), uint64(6), uint64(8))
	for n := 8; n < len(whole); n++ {
		w := &datatest.Recording{}
		w.Event(data.Attr{SampleType: types})
		w.Record(data.RecordSample, 0, whole[8:n])
		r := open(t, w, false)
		var s data.Sample
		if !r.Next() {
			t.Fatal(n, "no record")
		}
		if r.Record().Sample(r.Record().Event(), &s) {
			t.Errorf("a sample of %d bytes of %d was taken", n, len(whole))
		}
	}
}

func TestEventsByID(t *testing.T) {
	for _, types := range []data.SampleType{
		basic | data.SampleID | data.SampleCPU | data.SampleStreamID,
		basic | data.SampleIdentifier,
	} {
		each(t, func(w *datatest.Recording) {
			w.Event(data.Attr{Type: data.TypeHardware, SampleType: types, Flags: idAll | data.FlagExcludeGuest}, 10, 11)
			w.Event(data.Attr{Type: data.TypeSoftware, SampleType: types, Flags: idAll | data.FlagExcludeGuest}, 20)
			for _, id := range []uint64{11, 20, 0, 99} {
				if types&data.SampleIdentifier != 0 {
					w.Record(data.RecordSample, 0, id, uint64(1), uint32(7), uint32(8), uint64(5), uint64(1))
					w.Record(data.RecordLost, 0, uint64(0), uint64(1), uint32(7), uint32(8), uint64(5), id)
				} else {
					w.Record(data.RecordSample, 0, uint64(1), uint32(7), uint32(8), uint64(5), id, uint64(0), uint32(oneCPU), uint32(0), uint64(1))
					w.Record(data.RecordLost, 0, uint64(0), uint64(1), uint32(7), uint32(8), uint64(5), id, uint64(0), uint32(oneCPU), uint32(0))
				}
			}
		}, func(t *testing.T, r *data.Reader) {
			var got []string
			for r.Next() {
				name := "none"
				if e := r.Record().Event(); e != nil {
					name = e.Name
				}
				got = append(got, name)
				if id := r.Record().ID(); r.Record().Type == data.RecordLost && name != "none" &&
					(id.PID != 7 || id.TID != 8 || id.Time != 5 || (types&data.SampleCPU != 0) != (id.CPU == oneCPU)) {
					t.Errorf("%+v", id)
				}
			}
			slices.Sort(got)
			want := []string{"cpu-clock", "cpu-clock", "cycles", "cycles", "cycles", "cycles", "none", "none"}
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestAttrSizes(t *testing.T) {
	for _, size := range []int{64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 200} {
		for _, pipe := range []bool{false, true} {
			w := &datatest.Recording{AttrSize: size}
			w.Event(data.Attr{Type: 1, Config: 2, SamplePeriod: 3, SampleType: basic, BranchSampleType: 4, ClockID: 5, RegsIntr: 6, SigData: 7, Config3: 8}, 1, 2)
			sample(w, 1)
			r := open(t, w, pipe)
			if got := list(r); len(got) != 1 {
				t.Errorf("size %d: records %v", size, got)
			}
			if len(r.Events()) != 1 {
				t.Fatalf("size %d: %d events", size, len(r.Events()))
			}
			e := r.Events()[0]
			for _, f := range []struct {
				name      string
				until     int
				got, want uint64
			}{
				{"period", 64, e.SamplePeriod, 3},
				{"branches", 80, e.BranchSampleType, 4},
				{"clock", 96, uint64(e.ClockID), 5},
				{"regs", 104, e.RegsIntr, 6},
				{"sig", 128, e.SigData, 7},
				{"config3", 136, e.Config3, 8},
				{"rest", 137, uint64(len(e.Rest)), uint64(size - 136)},
			} {
				want := f.want
				if size < f.until {
					want = 0
				}
				if f.got != want {
					t.Errorf("size %d: %s is %d, want %d", size, f.name, f.got, want)
				}
			}
			if !slices.Equal(e.IDs, []uint64{1, 2}) {
				t.Errorf("size %d: ids %v", size, e.IDs)
			}
		}
	}
}

// zstdRecords compresses records as perf does: one stream, flushed at the end of each.
func zstdRecords(t *testing.T, parts ...[]byte) (out [][]byte) {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		z.Write(p)
		z.Flush()
		out = append(out, bytes.Clone(b.Bytes()))
		b.Reset()
	}
	return out
}

func TestCompressed(t *testing.T) {
	for _, second := range []bool{false, true} {
		each(t, func(w *datatest.Recording) {
			w.Event(data.Attr{SampleType: basic, Flags: idAll}, 1)
			var plain []byte
			for i := range uint64(1000) {
				plain = append(plain, w.Encode(data.RecordSample, 0, uint64(0x1000), uint32(7), uint32(8), 1000-i, uint64(99))...)
			}
			// Cut in the middle of a record: its end comes with the next one.
			for i, p := range zstdRecords(t, plain[:777], plain[777:20000], plain[20000:]) {
				if second {
					w.Record(83, 0, uint64(len(p)), p, make([]byte, (8-len(p)%8)%8))
				} else {
					w.Record(81, 0, p)
				}
				if i == 1 {
					w.Record(finish, 0)
				}
			}
			sample(w, 2000)
		}, func(t *testing.T, r *data.Reader) {
			n, last := 0, uint64(0)
			for r.Next() {
				if rec := r.Record(); rec.Time < last || rec.Type != data.RecordSample {
					t.Fatalf("type %d, time %d behind %d", rec.Type, rec.Time, last)
				}
				last = r.Record().Time
				n++
			}
			if n != 1001 || r.Fault() != nil {
				t.Errorf("%d records, want 1001; fault: %v", n, r.Fault())
			}
		})
	}
}

func TestFaults(t *testing.T) {
	build := func(tail []byte) *datatest.Recording {
		w := &datatest.Recording{}
		w.Event(data.Attr{SampleType: basic, Flags: idAll}, 1)
		sample(w, 2)
		sample(w, 1)
		w.Raw(tail)
		return w
	}
	bad := &datatest.Recording{}
	for _, c := range []struct {
		name string
		tail []byte
		want string
	}{
		{"a size of 0", make([]byte, 16), "a record of 0 bytes"},
		{"a size of 7", bad.Encode(9, 0)[:6:6], "ends inside a record"},
		{"half a record", bad.Encode(9, 0, "0123456789abcdef")[:12], "ends inside a record"},
		{"broken zstd", bad.Encode(81, 0, "this is no zstd stream"), "cannot be decompressed"},
		{"zstd in pieces", bad.Encode(83, 0, uint64(500), "short"), "shorter than its data"},
		{"a trace that is cut", bad.Encode(71, 0, uint64(1<<50), uint64(0)), "inside a hardware trace"},
		{"tracepoints that are cut", bad.Encode(66, 0, uint32(1<<31), uint32(0)), "inside the descriptions"},
	} {
		for _, pipe := range []bool{false, true} {
			r := open(t, build(c.tail), pipe)
			got := list(r)
			if len(got) != 2 || got[0] != "9/1" {
				t.Errorf("%s: %v, want both samples in their order", c.name, got)
			}
			if f := r.Fault(); f == nil || !strings.Contains(f.Text, c.want) || f.Place == 0 {
				t.Errorf("%s: fault %v, want %q", c.name, f, c.want)
			}
		}
	}
}

// perf record was killed: the size of the data is 0, and there are no features.
func TestKilled(t *testing.T) {
	w := &datatest.Recording{}
	w.Event(data.Attr{SampleType: basic}, 1)
	sample(w, 2)
	sample(w, 1)
	b := w.File()
	clear(b[48:56])
	r, err := data.NewReader(bytes.NewReader(b[:len(b)-3]))
	if err != nil {
		t.Fatal(err)
	}
	if got := list(r); !slices.Equal(got, []string{"9/2"}) {
		t.Error(got)
	}
	if f := r.Fault(); f == nil || !strings.Contains(f.Text, "did not end") {
		t.Error(f)
	}
}

func TestNotARecording(t *testing.T) {
	file := (&datatest.Recording{}).File()
	for _, c := range []struct {
		name string
		in   io.Reader
		want error
	}{
		{"empty", strings.NewReader(""), data.ErrFormat},
		{"text", strings.NewReader("perf 1/1 1.0: cycles:\n"), data.ErrFormat},
		{"half a header", bytes.NewReader(file[:50]), data.ErrFormat},
		{"a file through a pipe", datatest.Reader(file), data.ErrNotSeekable},
	} {
		if _, err := data.NewReader(c.in); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// A header may claim anything.
func TestHostileHeader(t *testing.T) {
	w := &datatest.Recording{}
	w.Event(data.Attr{SampleType: basic}, 1)
	sample(w, 1)
	w.Feature(3, datatest.Text("host"))
	b := w.File()
	for at := 8; at < 104; at += 8 {
		for _, v := range []byte{0xff, 0x7f, 0x01} {
			c := bytes.Clone(b)
			for i := range 8 {
				c[at+i] = v
			}
			if r, err := data.NewReader(bytes.NewReader(c)); err == nil {
				list(r)
			}
		}
	}
}
