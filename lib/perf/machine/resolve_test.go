package machine_test

import (
	"testing"

	"vperf/lib/perf/data"
	"vperf/lib/perf/machine"
)

func TestInlined(t *testing.T) {
	for _, inlined := range []bool{false, true} {
		w := newWriter(deep)
		w.mmap(1, 0x10000, 0x1000, 0, "/a")
		w.sample(1, 1, user, 0x10090, 0x10090, 0x10110)
		expect := ":1: inner middle /a+0 /a+100"
		if !inlined {
			expect = ":1: /a+0 /a+100"
		}
		want(t, lines(w.source(t, machine.Options{Inlined: inlined})), expect)
	}
}

// A caller is where a call returns to: what was inlined there is told by the byte before. Where
// the thread was, in user mode and in the kernel, is told by the address itself.
func TestInlinedCallers(t *testing.T) {
	for _, test := range []struct {
		chain  []uint64
		expect string
	}{
		{[]uint64{0x10080, 0x10110}, ":1: inner middle /a+0 /a+100"}, // the leaf, at the first byte of inner
		{[]uint64{0x10010, 0x10180}, ":1: /a+0 /a+100"},              // the call was before inner
		{[]uint64{0x10010, 0x10181}, ":1: /a+0 inner middle /a+100"}, // the call was in inner
		{[]uint64{0x10010, 0x10100}, ":1: /a+0 /a+100"},              // behind a call that never returns is another function
		{[]uint64{data.ContextUser, 0x10080}, ":1: inner middle /a+0"},
	} {
		w := newWriter(deep)
		w.mmap(1, 0x10000, 0x1000, 0, "/a")
		w.sample(1, 1, user, test.chain[0], test.chain...)
		want(t, lines(w.source(t, machine.Options{Inlined: true})), test.expect)
	}
}

func TestLBR(t *testing.T) {
	w := &writer{}
	w.Event(data.Attr{SampleType: deep | data.SampleBranchStack, BranchSampleType: data.BranchCallStack}, 1)
	w.mmap(1, 0x10000, 0x1000, 0, "/a")
	w.Record(data.RecordSample, user, uint64(0x10010), uint32(1), uint32(1), uint64(99),
		uint64(2), data.ContextUser, uint64(0x10010),
		uint64(2), []uint64{0x10110, 0x10020, 0, 0x10210, 0x10100, 0})
	want(t, lines(w.source(t, machine.Options{})), ":1: /a+0 /a+100 /a+200")
}
