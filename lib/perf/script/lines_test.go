package script

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
)

func TestHeads(t *testing.T) {
	const none = recording.None
	for _, c := range []struct {
		line string
		want recording.Sample
	}{
		{"app 7/8 [012] 1.000000001: 5 cycles:u: ", recording.Sample{Comm: "app", PID: 7, TID: 8, CPU: 12, TimeNS: 1_000_000_001, Weight: 5, Event: "cycles:u"}},
		{"app 8 1.5: cycles: ", recording.Sample{Comm: "app", PID: none, TID: 8, CPU: none, TimeNS: 1_500_000_000, Weight: 1, NoPeriod: true, Event: "cycles"}},
		{"  leading 8 1.5: cycles:", recording.Sample{Comm: "leading", PID: none, TID: 8, CPU: none, TimeNS: 1_500_000_000, Weight: 1, NoPeriod: true, Event: "cycles"}},
		{"# hash 8 1.5: cycles:", recording.Sample{Comm: "# hash", PID: none, TID: 8, CPU: none, TimeNS: 1_500_000_000, Weight: 1, NoPeriod: true, Event: "cycles"}},
		{":-1 -1/-1 1.5: 2 cycles:", recording.Sample{Comm: ":-1", PID: none, TID: none, CPU: none, TimeNS: 1_500_000_000, Weight: 2, Event: "cycles"}},
		{":8 8/8 1.5: 2 cycles:", recording.Sample{Comm: ":8", PID: 8, TID: 8, CPU: none, TimeNS: 1_500_000_000, Weight: 2, Event: "cycles"}},
		{"7/8 1.123456789: 1 cycles:u: ", recording.Sample{PID: 7, TID: 8, CPU: none, TimeNS: 1_123_456_789, Weight: 1, Event: "cycles:u"}},
		{"app 8 [001] U     1.5: 3 cycles: ", recording.Sample{Comm: "app", PID: none, TID: 8, CPU: 1, TimeNS: 1_500_000_000, Weight: 3, Event: "cycles"}},
		{"app\t7/8\t\t[000] 0.5:\t\t\t1 cpu_clock:", recording.Sample{Comm: "app", PID: 7, TID: 8, CPU: 0, TimeNS: 500_000_000, Weight: 1, Event: "cpu_clock"}},
		{"tomcat 20117 cycles: ", recording.Sample{Comm: "tomcat", PID: none, TID: 20117, CPU: none, TimeNS: none, Weight: 1, NoPeriod: true, Event: "cycles"}},
		{"tomcat 20117 250000 cycles:u: ", recording.Sample{Comm: "tomcat", PID: none, TID: 20117, CPU: none, TimeNS: none, Weight: 250000, Event: "cycles:u"}},
		{"tomcat 20117 [003] 250000 cycles:u: ", recording.Sample{Comm: "tomcat", PID: none, TID: 20117, CPU: 3, TimeNS: none, Weight: 250000, Event: "cycles:u"}},
		{"x: y 4201 cycles: ", recording.Sample{Comm: "x: y", PID: none, TID: 4201, CPU: none, TimeNS: none, Weight: 1, NoPeriod: true, Event: "cycles"}},
		{"1.5: cycles: ", recording.Sample{PID: none, TID: none, CPU: none, TimeNS: 1_500_000_000, Weight: 1, NoPeriod: true, Event: "cycles"}},
		{"app 8 1.5: 18446744073709551600 cycles: ", recording.Sample{Comm: "app", PID: none, TID: 8, CPU: none, TimeNS: 1_500_000_000, Weight: 18446744073709551600, Event: "cycles"}},
		{"t\xff 8 1.5: cycles:", recording.Sample{Comm: "t\ufffd", PID: none, TID: 8, CPU: none, TimeNS: 1_500_000_000, Weight: 1, NoPeriod: true, Event: "cycles"}},
	} {
		got, _ := gatherText(t, c.line+"\n\n")
		c.want.Place = 1
		if len(got) != 1 {
			t.Errorf("%q: %d samples", c.line, len(got))
			continue
		}
		if g := got[0]; fmt.Sprint(g.Sample) != fmt.Sprint(c.want) || g.frames != nil {
			t.Errorf("%q:\n got %+v\nwant %+v", c.line, g.Sample, c.want)
		}
	}
}

func TestNoHeads(t *testing.T) {
	for _, line := range []string{
		"Warning:",
		"Processed 1500 events and lost 3 chunks!",
		"[ perf record: Captured and wrote 0.078 MB perf.data (474 samples) ]",
		"failed to read 5 foo: bar",
		"app 8 1.5: no event here",
		"app 8 1.5: : ",
		"app 8 99999999999.5: cycles: ",
		"kernel: [ 12.500000] usb 1-1: new device",
		"1.5: 2.5: ",
	} {
		got, r := gatherText(t, line+"\n\n")
		if len(got) != 0 || r.Tally().N(recording.Foreign) != 1 {
			t.Errorf("%q: %d samples, %v", line, len(got), r.Tally().Counts)
		}
	}
}

func TestLosses(t *testing.T) {
	for line, want := range map[string]recording.Count{
		"Processed 1500 events and lost 3 chunks!":          {Reason: recording.LostChunks, N: 3},
		"Processed 2000 samples and lost 12.50%!":           {Reason: recording.Lost, N: 250},
		"Processed 2000 samples and lost  0.07%!":           {Reason: recording.Lost, N: 1},
		"Processed 2000 samples and lost 101%!":             {},
		"Processed x events and lost y chunks!":             {},
		"Processed 2000 samples":                            {},
		"app says: Processed 1500 events and lost 3 chunks": {},
	} {
		var tally recording.Tally
		ok := CountLoss(&tally, []byte(line), 1)
		if ok != (want.N > 0) || ok && (tally.Counts[0].N != want.N || tally.Counts[0].Reason != want.Reason) {
			t.Errorf("%q: %v %+v", line, ok, tally.Counts)
		}
	}
}

func TestOneLineFrames(t *testing.T) {
	for _, c := range []struct{ line, symbol, module, payload string }{
		{"  ls 9 1.5: 1 cycles:  ffffffff9b201293 [unknown] ([unknown])", "", "", ""},
		{
			"  ls 9 1.5: 636 cpu/mem-loads/pp:     7ffe7a3307d8        68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A                7     7f56ff584f80 f (/lib/ld.so)",
			"f", "/lib/ld.so", "7ffe7a3307d8        68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A                7",
		},
		{
			"7/9 1.5:                            1   branches:uH:   tr strt                             0 [unknown] (foo.so) =>           404bf2 runtime.chanrecv+0x372 (foo.so)",
			"", "foo.so", "  tr strt",
		},
		{"7/9 1.5: 1 branches:uH:   jcc                            404c03 recv+0x383 (foo.so) =>           404c0d recv+0x38d (foo.so)", "recv", "foo.so", "  jcc"},
		{" Ded 9 1.5:  instructions:uH:          1085b67a 0x1085ab3a/0x1085b598/P/-/-/0/  0x110c5520/0x1085ab36/P/-/-/0/", "", "", ""},
		{
			" fio 9 [021] 1.5:          1    block:block_rq_issue: 259,76 R 4096 () 57622160 + 8 [fio] ffffffff8beead90 blk_mq_start ([kernel.kallsyms])",
			"blk_mq_start", "[kernel.kallsyms]", "259,76 R 4096 () 57622160 + 8 [fio]",
		},
	} {
		got, r := gatherText(t, c.line+"\n"+c.line+"\n")
		if len(got) != 2 || len(got[1].frames) != 1 || len(r.Tally().Counts) != 0 {
			t.Errorf("%q: %v %v", c.line, got, r.Tally().Counts)
			continue
		}
		if f := got[1].frames[0]; f.Symbol != c.symbol || f.Module != c.module || strings.TrimSpace(got[1].trace) != strings.TrimSpace(c.payload) {
			t.Errorf("%q: %+v %q", c.line, f, got[1].trace)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		module  string
		address uint64
		want    record.FrameKind
	}{
		{"[kernel.kallsyms]", 0xffffffff81000000, record.KindKernel},
		{"[guest.kernel.kallsyms]", 0, record.KindKernel},
		{"[nf_tables]", 0xffffffffc0000000, record.KindKernel},
		{"/lib/modules/4.1.0/build/vmlinux", 0x414b3b, record.KindKernel},
		{"/usr/lib/debug/boot/vmlinux-6.1", 0x414b3b, record.KindKernel},
		{"/lib/modules/6.1/kernel/fs/ext4.ko.xz", 0x14, record.KindKernel},
		{"bpf_prog_6deef7357e7b4530", 0xffffffffc0001000, record.KindKernel},
		{"[vdso]", 0x7ffe00000a10, record.KindUser},
		{"[vsyscall]", 0xffffffffff600000, record.KindUser},
		{"[heap]", 0x1000, record.KindUser},
		{"//anon", 0x1000, record.KindUser},
		{"/opt/app (deleted)", 0x1000, record.KindUser},
		{"", 0xffffffff81000000, record.KindKernel},
		{"", 0x7f0000000000, record.KindUnknown},
		{"", 0xfffd8118e8240489, record.KindUnknown},
	} {
		if got := kindOf(c.module, c.address); got != c.want {
			t.Errorf("kindOf(%q, %#x) = %q, want %q", c.module, c.address, got, c.want)
		}
	}
}

func TestFrameLines(t *testing.T) {
	for _, c := range []struct {
		line           string
		symbol, module string
		inlined, whole bool
		address        uint64
		notAFrameAtAll bool
	}{
		{line: "\t401136 f+0x26 (/opt/a b (c) (deleted))", symbol: "f", module: "/opt/a b (c) (deleted)", whole: true, address: 0x401136},
		{line: "\t401136 f (/opt/app+0x1136)", symbol: "f", module: "/opt/app", whole: true, address: 0x401136},
		{line: "\t401136 f (x) (inlined)", symbol: "f (x)", inlined: true, whole: true, address: 0x401136},
		{line: "\t401136 [unknown] ([unknown])", whole: true, address: 0x401136},
		{line: "\t401136 (/opt/app)", module: "/opt/app", whole: true, address: 0x401136},
		{line: "\t401136", address: 0x401136},
		{line: "\t401136 operator()(int)", symbol: "operator()(int)", address: 0x401136},
		{line: "\t401136 f (/opt/odd) name)", symbol: "f", module: "/opt/odd) name", whole: true, address: 0x401136},
		{line: "\tffffffffffffffff f (a)", symbol: "f", module: "a", whole: true, address: math.MaxUint64},
		{line: "\t0 a+0x (b)", symbol: "a+0x", module: "b", whole: true},
		{line: "\t0 +0x1 (b)", module: "b", whole: true},
		{line: "401136 f (a)", notAFrameAtAll: true},
		{line: "\t10000000000000000 f (a)", notAFrameAtAll: true},
		{line: "\taddress symbol (module)", notAFrameAtAll: true},
		{line: "\t40x f (a)", notAFrameAtAll: true},
		{line: "\t", notAFrameAtAll: true},
		{line: "", notAFrameAtAll: true},
	} {
		f, ok := parseFrame([]byte(c.line))
		if ok == c.notAFrameAtAll {
			t.Errorf("%q: frame %v", c.line, ok)
			continue
		}
		if ok && (string(f.symbol) != c.symbol || string(f.module) != c.module || f.inlined != c.inlined || f.whole != c.whole || f.address != c.address) {
			t.Errorf("%q: %q %q inlined %v whole %v %#x", c.line, f.symbol, f.module, f.inlined, f.whole, f.address)
		}
	}
}

func TestCallChains(t *testing.T) {
	for _, c := range []struct {
		symbol, module string
		want           int
	}{
		{"A::a->B::b->C::c", "/tmp/perf-7.map", 3},
		{"A::a", "/tmp/perf-7.map", 0},
		{"ptr<T>::operator->", "/opt/app", 0},
		{"ptr<T>::operator->", "/tmp/perf-7.map", 0},
		{"a->b", "/tmp/perf-x.map", 0},
		{"a->b", "/tmp/perf-.map", 0},
	} {
		if got := callChain(c.symbol, c.module); len(got) != c.want {
			t.Errorf("callChain(%q, %q) = %q", c.symbol, c.module, got)
		}
	}
}

// TestHostileLines has lines on which careless scanning takes quadratic time: minutes, where
// this takes milliseconds.
func TestHostileLines(t *testing.T) {
	const size = 1 << 20
	for _, part := range []string{"1.5:x ", "a:", "1.5: ", "x: ", "ffffffffffffffff ", "a 1 ", "(", ")", " (", "->", "[001] ", "+0x1", "  ", "|OP  |"} {
		long := strings.Repeat(part, size/len(part))
		for _, text := range []string{
			long + "\n", long + " 9 1.5: 1 c:u: \n", "a 9 1.5: 1 c:u: " + long + ")\n", "a 9 1.5: 1 c:step: " + long + ")\n",
			"a 9 1.5: 1 c: \n\t 401136 " + long + "\n\n", "a 9 1.5: 1 c: \n\t 401136 x->" + long + " (/tmp/perf-1.map)\n\n", "a 9 1.5: 1 c: \n" + long,
		} {
			gather(t, NewReader(strings.NewReader(text)))
		}
	}
	sources := "a 9 1.5: 1 c: \n" + strings.Repeat("\t          401136 f (a)\n  x.c:1\n", 1<<17)
	gather(t, NewReader(strings.NewReader(sources)))
}

func TestSourceLines(t *testing.T) {
	const text = "app 9 1.500000: 10 cycles: \n" +
		"\t          401136 inl+0x26\n  a b.h:7 (inlined)\n" +
		"\t          401136 work+0x26 (/opt/app)\n  main.c:12 (discriminator 3)\n" +
		"\t          401196 main+0x16 (/opt/app)\n  ??:0\n" +
		"\t           2724a start+0x7a (/lib/libc.so.6)\n  libc.so.6[2724a]\n\n"
	got, r := gatherText(t, text+text)
	want := []record.Frame{
		{Symbol: "inl", File: "a b.h", Line: 7, Inlined: true},
		{Symbol: "work", Module: "/opt/app", Kind: record.KindUser, File: "main.c", Line: 12},
		{Symbol: "main", Module: "/opt/app", Kind: record.KindUser},
		{Symbol: "start", Module: "/lib/libc.so.6", Kind: record.KindUser},
	}
	if len(got) != 2 || got[0].Stack != got[1].Stack || len(got[1].frames) != len(want) || len(r.Tally().Counts) != 0 {
		t.Fatalf("%+v %v", got, r.Tally().Counts)
	}
	for i, f := range got[1].frames {
		f.ID = 0
		if f != want[i] {
			t.Errorf("frame %d: %+v, want %+v", i, f, want[i])
		}
	}
}
