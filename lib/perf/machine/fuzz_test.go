package machine_test

import (
	"bytes"
	"testing"

	"vperf/lib/perf/data"
	"vperf/lib/perf/machine"
	"vperf/lib/perf/recording"
)

// Whatever a recording says, its samples are those that the tally has.
func FuzzSource(f *testing.F) {
	w := newWriter(deep)
	w.Feature(2, w.Encode(67, data.ModeKernel, uint32(0xffffffff), []byte("01234567890123456789"), uint32(20), "[kernel.kallsyms]"))
	w.kernelMap(0xffffffff81000000, 0x100000, "[kernel.kallsyms]_text")
	w.kernelMap(0xffffffffc0000000, 0x1000, "/lib/modules/6.1/net/nf-conntrack.ko.xz")
	w.comm(1, 1, "app", data.MiscCommExec)
	w.mmap(1, 0x10000, 0x2000, 0, "/a")
	w.mmap(1, 0x11000, 0x3000, 0, "//anon")
	w.fork(2, 2, 1, 1, 0)
	w.fork(2, 3, 2, 2, 0)
	w.Record(data.RecordKsymbol, 0, uint64(0xffffffffc0100000), uint32(0x100), uint16(1), uint16(0), "bpf_prog_1", w.id(0, 0))
	w.Record(data.RecordSwitch, data.MiscSwitchOut, w.id(1, 2))
	w.sample(2, 3, data.ModeKernel, 0xffffffff81000010, data.ContextKernel, 0xffffffff81000010, data.ContextUser, 0x10010, 0x11090)
	w.sample(2, 3, data.ModeKernel, 0, data.ContextKernel, 0xffffffffc0000010, data.ContextUserDeferred, 5)
	w.Record(data.RecordCallchainDeferred, 0, uint64(5), uint64(1), uint64(0x10010), w.id(2, 3))
	w.Record(data.RecordExit, 0, uint32(2), uint32(1), uint32(3), uint32(1), uint64(1), w.id(2, 3))
	f.Add(w.File())
	f.Add(w.Pipe())

	group := &writer{}
	group.Event(data.Attr{SampleType: plain | data.SampleRead | data.SampleBranchStack, ReadFormat: data.ReadGroup | data.ReadID, BranchSampleType: data.BranchCallStack, Flags: data.FlagInherit}, 1, 2)
	group.Record(data.RecordSample, user, uint64(0x10), uint32(1), uint32(1), uint64(1), uint64(2), uint64(7), uint64(1), uint64(8), uint64(2), uint64(1), []uint64{1, 2, 3})
	f.Add(group.File())

	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := data.NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		defer r.Close()
		src := machine.NewSource(r, machine.Options{Open: fake, Inlined: true, Addresses: true})
		src.OnTask(func(*recording.TaskEvent) {})
		n := uint64(0)
		for src.Next() {
			n++
			for _, i := range src.Stack(src.Sample().Stack) {
				_ = src.Frame(i).Symbol
			}
		}
		if n != src.Tally().Samples {
			t.Errorf("%d samples, the tally has %d", n, src.Tally().Samples)
		}
	})
}
