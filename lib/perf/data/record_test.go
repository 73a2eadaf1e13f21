package data_test

import (
	"encoding/hex"
	"reflect"
	"slices"
	"testing"

	"vperf/lib/perf/data"
	"vperf/lib/perf/data/datatest"
)

func TestRecords(t *testing.T) {
	id := make([]byte, 20)
	for i := range id {
		id[i] = byte(0xa0 + i)
	}
	each(t, func(w *datatest.Recording) {
		w.Event(data.Attr{SampleType: basic | data.SampleCPU, Flags: idAll}, 1)
		tail := func(time uint64) []byte {
			return w.Encode(0, 0, uint32(7), uint32(8), time, uint32(3), uint32(0))[8:]
		}
		w.Record(data.RecordMmap, data.MiscMmapData, uint32(7), uint32(8), uint64(0x1000), uint64(0x2000), uint64(0x3000), "/bin/a", tail(1))
		w.Record(data.RecordMmap2, 0, uint32(7), uint32(8), uint64(0x1000), uint64(0x2000), uint64(0x3000),
			uint32(8), uint32(1), uint64(99), uint64(0), uint32(5), uint32(2), "/bin/b", tail(2))
		w.Record(data.RecordMmap2, data.MiscMmapBuildID, uint32(7), uint32(8), uint64(0x1000), uint64(0x2000), uint64(0),
			uint8(20), uint8(0), uint16(0), id, uint32(1), uint32(2), "/bin/c", tail(3))
		w.Record(data.RecordComm, data.MiscCommExec, uint32(7), uint32(8), "a name", tail(4))
		w.Record(data.RecordFork, 0, uint32(70), uint32(7), uint32(80), uint32(8), uint64(5), tail(5))
		w.Record(data.RecordLost, 0, uint64(1), uint64(6000), tail(6))
		w.Record(data.RecordLostSamples, 0, uint64(7000), tail(7))
		w.Record(data.RecordKsymbol, 0, uint64(0xffff0), uint32(64), uint16(1), uint16(1), "bpf_prog_1", tail(8))
		w.Record(data.RecordSwitch, data.MiscSwitchOut|data.MiscSwitchPreempt, tail(9))
		w.Record(data.RecordSwitchCPUWide, 0, uint32(70), uint32(80), tail(10))
		w.Record(data.RecordRead, 0, uint32(7), uint32(8), uint64(1234), tail(11))
		w.Record(data.RecordCallchainDeferred, 0, uint64(5), uint64(2), uint64(0x10), uint64(0x20), tail(12))
		w.Record(200, 0, uint64(1)) // of a perf to come
		w.Record(data.RecordAuxtraceError, 0, uint64(1))
		w.Record(data.RecordTimeConv, 0, uint64(1))
	}, func(t *testing.T, r *data.Reader) {
		var got []any
		for r.Next() {
			rec := r.Record()
			ok := true
			var x any
			switch rec.Type {
			case data.RecordMmap, data.RecordMmap2:
				var m data.Mapping
				m, ok = rec.Mapping()
				x = []any{m.PID, m.TID, m.Start, m.Size, m.Offset, m.Code, hex.EncodeToString(m.BuildID), string(m.Path)}
			case data.RecordComm:
				var m data.Comm
				m, ok = rec.Comm()
				x = []any{m.PID, m.TID, m.Exec, string(m.Name)}
			case data.RecordFork:
				x, ok = rec.Task()
			case data.RecordLost, data.RecordLostSamples:
				x, ok = rec.Lost()
			case data.RecordKsymbol:
				var k data.Ksymbol
				k, ok = rec.Ksymbol()
				x = []any{k.Address, k.Size, k.Gone, string(k.Name)}
			case data.RecordSwitch, data.RecordSwitchCPUWide:
				x = rec.Switch()
			case data.RecordRead:
				var v data.Reading
				v, ok = rec.Reading(rec.Event())
				x = []any{v.PID, v.TID, rec.Word(v.Values, 0)}
			case data.RecordCallchainDeferred:
				var cookie uint64
				var chain []byte
				cookie, chain, ok = rec.Deferred()
				x = []any{cookie, rec.Word(chain, 0), rec.Word(chain, 1), len(chain)}
			default:
				x = rec.Type
			}
			if !ok {
				t.Errorf("record of type %d is too short", rec.Type)
			}
			got = append(got, x)
		}
		want := []any{
			data.RecordAuxtraceError, data.RecordTimeConv, // without a time
			[]any{int32(7), int32(8), uint64(0x1000), uint64(0x2000), uint64(0x3000), false, "", "/bin/a"},
			[]any{int32(7), int32(8), uint64(0x1000), uint64(0x2000), uint64(0x3000), true, "", "/bin/b"},
			[]any{int32(7), int32(8), uint64(0x1000), uint64(0x2000), uint64(0), false, hex.EncodeToString(id), "/bin/c"},
			[]any{int32(7), int32(8), true, "a name"},
			data.Task{PID: 70, PPID: 7, TID: 80, PTID: 8, Time: 5},
			uint64(6000), uint64(7000),
			[]any{uint64(0xffff0), uint32(64), true, "bpf_prog_1"},
			data.Switch{ID: data.ID{PID: 7, TID: 8, CPU: 3, Time: 9}, Out: true, Preempt: true},
			data.Switch{ID: data.ID{PID: 7, TID: 8, CPU: 3, Time: 10}},
			[]any{int32(7), int32(8), uint64(1234)},
			[]any{uint64(5), uint64(0x10), uint64(0x20), 16},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%v\nwant\n%v", got, want)
		}
		if n := r.Unknown(); n != 1 || r.Count(data.RecordComm) != 1 {
			t.Errorf("%d records of an unknown type, %d comms, want 1 of each", n, r.Count(data.RecordComm))
		}
	})
}

func TestFeatures(t *testing.T) {
	each(t, func(w *datatest.Recording) {
		w.Event(data.Attr{Type: 1, SampleType: basic, Flags: data.FlagUseClockID, ClockID: 1}, 1)
		w.Event(data.Attr{Type: 0, SampleType: basic, Flags: data.FlagExcludeKernel | data.FlagExcludeHV | 2<<15}, 2)
		id := w.Encode(0, 0, []byte("0123456789abcdefghij"), uint8(20), uint8(0), uint16(0))[8:]
		w.Feature(2, w.Encode(67, data.ModeKernel, uint32(0xffffffff), id, "[kernel.kallsyms]"),
			w.Encode(67, data.ModeUser|1<<15, uint32(7), id[:20], uint8(4), []byte{0, 0, 0}, "/bin/a"))
		w.Feature(3, datatest.Text("host"))
		w.Feature(4, datatest.Text("6.18"))
		w.Feature(5, datatest.Text("6.1.1"))
		w.Feature(6, datatest.Text("x86_64"))
		w.Feature(7, uint32(16), uint32(12))
		w.Feature(8, datatest.Text("AMD EPYC"))
		w.Feature(9, datatest.Text("AuthenticAMD,25,17,1"))
		w.Feature(10, uint64(4096))
		w.Feature(11, uint32(2), datatest.Text("perf"), datatest.Text("record"))
		w.Feature(12, uint32(1), uint32(64), make([]byte, 64), uint32(1), datatest.Text("cpu-clock/freq=99/"), uint64(1))
		w.Feature(16, uint32(1), uint32(4), datatest.Text("cpu"))
		w.Feature(21, uint64(100), uint64(200))
		w.Feature(23, uint64(1))
		w.Feature(29, uint32(1), uint32(1), uint64(5000), uint64(6000))
		w.Feature(99, uint64(1))
		sample(w, 1)
	}, func(t *testing.T, r *data.Reader) { // nothing was read but the header
		id := hex.EncodeToString([]byte("0123456789abcdefghij"))
		want := data.Info{
			Hostname: "host", Release: "6.18", Version: "6.1.1", Arch: "x86_64", CPU: "AMD EPYC", CPUID: "AuthenticAMD,25,17,1",
			CPUs: 12, AllCPUs: 16, MemoryKiB: 4096, Command: []string{"perf", "record"}, PMUs: map[uint32]string{4: "cpu"},
			Clock: &data.Clock{ID: 1, Resolution: 1, WallNS: 5000, TimeNS: 6000}, FirstSample: 100, LastSample: 200,
			BuildIDs: map[string]data.BuildID{"[kernel.kallsyms]": {id, true}, "/bin/a": {id[:8], false}},
		}
		if got := *r.Info(); !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%+v\nwant\n%+v", got, want)
		}
		var names []string
		for _, e := range r.Events() {
			names = append(names, e.Name)
		}
		if want := []string{"cpu-clock/freq=99/", "cycles:upp"}; !slices.Equal(names, want) {
			t.Errorf("names %q, want %q", names, want)
		}
	})
}

func TestPipeRecords(t *testing.T) {
	each(t, func(w *datatest.Recording) {
		w.Event(data.Attr{SampleType: basic}, 5)
		w.Record(78, 0, uint64(2), uint64(5), "cpu/event=1,name=x/")
		w.Record(67, data.ModeUser, uint32(7), []byte("0123456789abcdefghij"), uint32(0), "/bin/a")
		w.Record(71, 0, uint64(16), uint64(0)) // a hardware trace, and its data
		w.Raw(make([]byte, 16))
		w.Record(data.RecordLost, 0, uint64(1), uint64(2)) // has no time
		sample(w, 1)
	}, func(t *testing.T, r *data.Reader) {
		if got := list(r); !slices.Equal(got, []string{"2/-", "9/1"}) {
			t.Error(got)
		}
		if name := r.Events()[0].Name; name != "cpu/event=1,name=x/" {
			t.Error(name)
		}
		if id := r.Info().BuildIDs["/bin/a"]; id.ID != hex.EncodeToString([]byte("0123456789abcdefghij")) || id.Kernel {
			t.Error(id)
		}
	})
}
