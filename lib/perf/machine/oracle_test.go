package machine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vperf/lib/perf"
	"vperf/lib/perf/data"
	"vperf/lib/perf/data/datatest"
	"vperf/lib/perf/machine"
	"vperf/lib/perf/perftest"
	"vperf/lib/perf/recording"
	"vperf/lib/perf/script"
	"vperf/lib/record"
	"vperf/lib/symbol"
)

// A flat sample has its frames with it.
type flat struct {
	recording.Sample
	payload string
	frames  []record.Frame
}

func (f *flat) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q pid %d tid %d cpu %d time %d weight %d %q", f.Event, f.Comm, f.PID, f.TID, f.CPU, f.TimeNS, f.Weight, f.payload)
	for _, x := range f.frames {
		fmt.Fprintf(&b, "\n\t%s %q %q %s", x.Address, x.Symbol, x.Module, x.Kind)
	}
	return b.String()
}

func all(src recording.Source) (list []flat) {
	for src.Next() {
		s := flat{Sample: *src.Sample()}
		s.payload, s.Payload, s.Place = string(s.Payload), nil, 0
		for _, i := range src.Stack(s.Stack) {
			f := *src.Frame(i)
			f.ID = 0
			s.frames = append(s.frames, f)
		}
		s.Stack = 0
		list = append(list, s)
	}
	return list
}

// native reads a recording with this package. What it says is wrong with the recording is
// logged.
func native(t testing.TB, path string, open func(symbol.Module) machine.Names) (list []flat, r *data.Reader) {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	r, err = data.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	src := machine.NewSource(r, machine.Options{Open: open, Addresses: true})
	list = all(src)
	if r.Fault() != nil {
		t.Log(r.Fault())
	}
	if src.Err() != nil {
		t.Fatal(src.Err())
	}
	return list, r
}

// oracle reads it with perf script.
func oracle(t testing.TB, p *perf.Perf, path string, events []*data.Event, args ...string) []flat {
	t.Helper()
	fields := "comm,tid,pid,event,ip,sym,dso,period"
	has := func(bit data.SampleType) bool {
		for _, e := range events {
			if e.SampleType&bit == 0 {
				return false
			}
		}
		return true
	}
	if has(data.SampleTime) {
		fields += ",time"
	}
	if has(data.SampleCPU) {
		fields += ",cpu"
	}
	for _, e := range events {
		if e.Type == data.TypeTracepoint {
			fields += ",trace"
			break
		}
	}
	args = append([]string{"script", "-f", "--no-inline", "--ns", "-i", path, "-F", fields}, args...)
	cmd := p.Command(context.Background(), args...)
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		t.Logf("%v: %v\n%s", cmd, err, messages.String())
	}
	r := script.NewReader(strings.NewReader(string(out)))
	r.Addresses = true
	return all(r)
}

// difference says in which way a sample differs from perf's, empty where it does not.
func difference(a, b *flat) string {
	const perfDepth = 127 // frames that perf script prints at most
	if len(b.frames) == perfDepth && len(a.frames) > perfDepth {
		a.frames = a.frames[:perfDepth]
	}
	switch {
	case a.Event != b.Event:
		return "event"
	case a.Comm != b.Comm:
		return "comm"
	case a.PID != b.PID || a.TID != b.TID:
		return "thread"
	case a.TimeNS != b.TimeNS:
		return "time"
	case a.CPU != b.CPU && b.CPU != recording.None:
		return "cpu"
	case a.Weight != b.Weight:
		return "weight"
	case len(a.frames) > 0 && len(b.frames) == 0:
		return "lack of frames" // a wild frame pointer looked like a context, for which perf gives up the chain
	case len(a.frames) != len(b.frames):
		return "frames"
	case a.payload != b.payload:
		return "payload"
	}
	for i := range a.frames {
		x, y := a.frames[i], b.frames[i]
		switch {
		case x.Module != y.Module && !sameModule(x.Module, y.Module):
			return "module"
		case x.Symbol != y.Symbol:
			return "symbol"
		case x.Kind != y.Kind && x.Module != "": // perf does not say where an address without module was
			return "kind"
		case x.Address != y.Address && len(a.frames) > 1:
			// Of a sample without a chain perf prints the address, and not its offset.
			return "address"
		}
	}
	return ""
}

// sameModule reports whether a path is that of a kernel module whose name has a dash: perf
// does not find these among the build-ids.
func sameModule(path, name string) bool {
	base, _, ok := strings.Cut(filepath.Base(path), ".ko")
	return ok && name == "["+strings.ReplaceAll(base, "-", "_")+"]"
}

// compare fails if samples differ from perf's in a way that is not allowed for.
func compare(t *testing.T, got, want []flat, allowed map[string]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d samples, perf has %d", len(got), len(want))
	}
	differ := map[string]int{}
	for i := range min(len(got), len(want)) {
		d := difference(&got[i], &want[i])
		if d == "" {
			continue
		}
		if differ[d]++; float64(differ[d]) > allowed[d]*float64(len(want)) {
			t.Errorf("sample %d differs in its %s:\ngot  %v\nperf %v", i, d, &got[i], &want[i])
			return
		}
	}
	t.Logf("%d samples, %v of them differ from perf's", len(got), differ)
}

// Recordings of other machines, from perf 3.2 to 6.16. This machine's files must not name
// anything in them.
func TestCorpus(t *testing.T) {
	const corpus = "../../../../shared/corpus/perfdata"
	files, _ := filepath.Glob(corpus + "/*/*")
	if files == nil {
		t.Skipf("SKIPPED, needs %s", corpus)
	}
	p := perftest.NeedPerf(t)
	empty := t.TempDir()
	nothing := func(symbol.Module) machine.Names { return new(symbol.Table) }
	for _, path := range files {
		head := make([]byte, 16)
		if f, err := os.Open(path); err == nil {
			f.Read(head)
			f.Close()
		}
		if magic := string(head[:8]); magic != "PERFILE2" && magic != "2ELIFREP" {
			continue
		}
		t.Run(strings.TrimPrefix(path, corpus+"/"), func(t *testing.T) {
			got, r := native(t, path, nothing)
			if machine.NeedsUnwinding(r.Events()) {
				t.Skip("SKIPPED, its stacks need unwinding")
			}
			want := oracle(t, p, path, r.Events(), "--kallsyms=/dev/null", "--symfs="+empty)
			switch name := filepath.Base(path); {
			case want == nil && len(got) > 0: // what perf 6.1 is too old for
				t.Logf("%d samples, and perf cannot read it", len(got))
				return
			case got == nil && !strings.Contains(name, "corrupted"):
				t.Error("no samples")
			}
			compare(t, got, want, nil)
		})
	}
}

// burnEnv makes the test binary a program to profile.
const burnEnv = "VP_MACHINE_TEST_BURN"

func init() {
	if os.Getenv(burnEnv) == "" {
		return
	}
	end := time.Now().Add(200 * time.Millisecond)
	var wg sync.WaitGroup
	for depth := range 3 {
		wg.Go(func() {
			runtime.LockOSThread()
			for x := uint64(1); time.Now().Before(end); x = burn(x, depth*7) {
				time.Sleep(time.Millisecond)
			}
		})
	}
	wg.Wait()
	os.Exit(0)
}

//go:noinline
func burn(x uint64, depth int) uint64 {
	if depth > 0 {
		return burn(x, depth-1) + 1
	}
	for range 2000000 {
		x = x*0x9e3779b97f4a7c15 ^ x>>31
	}
	return x
}

// Recordings of this machine, with its files.
func TestFresh(t *testing.T) {
	p := perftest.NeedPerf(t)
	const forks = "for i in 1 2 3 4 5 6; do ls -R /usr/lib > /dev/null; (true; true); done; exec ls /"
	for _, c := range []struct {
		name    string
		args    []string
		command []string
	}{
		{"threads", []string{"-g", "-e", "cpu-clock"}, nil},
		{"fork and exec", []string{"-g", "-e", "cpu-clock"}, []string{"sh", "-c", forks}},
		{"whole system", []string{"-g", "-a", "-e", "cpu-clock"}, []string{"sh", "-c", forks}},
		{"no stacks", []string{"-e", "cpu-clock", "--sample-cpu"}, nil},
		{"several events", []string{"-g", "-e", "cpu-clock", "-e", "page-faults/period=1/", "-e", "context-switches/period=1/"}, nil},
		{"period", []string{"-g", "-c", "1000000", "-e", "task-clock:u"}, nil},
		{"group", []string{"-g", "-e", "{cpu-clock,page-faults}:S", "--no-inherit"}, []string{"ls", "-R", "/usr/lib"}},
		{"compressed", []string{"-g", "-z", "-e", "cpu-clock"}, nil},
		{"pipe", []string{"-g", "-e", "cpu-clock", "-o", "-"}, nil},
		{"compressed pipe", []string{"-g", "-z", "-e", "cpu-clock", "-o", "-"}, []string{"sh", "-c", forks + " > /dev/null"}},
		{"switches", []string{"-g", "--switch-events", "-e", "cpu-clock"}, nil},
		{"tracepoints", []string{"-g", "-e", "sched:sched_switch", "-e", "sched:sched_process_exec", "-e", "sched:sched_wakeup"}, []string{"sh", "-c", forks}},
		{"build-ids", []string{"-g", "--buildid-mmap", "-e", "cpu-clock"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "perf.data")
			args := slices.Concat([]string{"record", "-F", "999"}, c.args)
			if !slices.Contains(args, "-a") {
				args = append(args, "--no-bpf-event") // a second faster
			}
			if slices.Contains(args, "-c") {
				args = slices.Delete(args, 1, 3)
			}
			pipe := slices.Contains(args, "-")
			if !pipe {
				args = append(args, "-o", path)
			}
			if c.command == nil {
				c.command = []string{os.Args[0]}
			}
			cmd := p.Command(context.Background(), append(append(args, "--"), c.command...)...)
			var messages strings.Builder
			cmd.Stderr = &messages
			cmd.Env = append(os.Environ(), burnEnv+"=1")
			out, err := cmd.Output()
			if err != nil {
				t.Skipf("SKIPPED, perf record does not work here: %v\n%s", err, messages.String())
			}
			if pipe {
				if err := os.WriteFile(path, out, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var finder symbol.Finder
			got, r := native(t, path, func(m symbol.Module) machine.Names { return finder.Open(m) })
			if len(got) < 20 {
				t.Errorf("%d samples\n%s", len(got), messages.String())
			}
			// Stubs of IFUNC symbols have names here, and none in perf.
			compare(t, got, oracle(t, p, path, r.Events()), map[string]float64{"symbol": 0.01, "lack of frames": 0.01})
		})
	}
}

// Recordings that no machine here makes, written by the tests and read by both.
func TestSynthetic(t *testing.T) {
	p := perftest.NeedPerf(t)
	const every = data.SampleIP | data.SampleTID | data.SampleTime | data.SampleAddr | data.SampleStreamID | data.SampleCPU |
		data.SamplePeriod | data.SampleCallchain | data.SampleRegsUser | data.SampleWeight | data.SampleDataSrc | data.SampleTransaction |
		data.SamplePhysAddr | data.SampleCgroup | data.SampleDataPageSize | data.SampleCodePageSize | data.SampleIdentifier
	for _, big := range []bool{false, true} {
		for _, pipe := range []bool{false, true} {
			if big && pipe {
				continue // perf 6.1 takes such a pid for the tid
			}
			t.Run(fmt.Sprintf("big=%v,pipe=%v", big, pipe), func(t *testing.T) {
				w := &writer{}
				w.Big, w.AttrSize = big, 128
				w.Event(data.Attr{Type: data.TypeHardware, SampleType: every, Flags: data.FlagSampleIDAll | data.FlagExcludeGuest | 3<<15, RegsUser: 3}, 10, 11)
				w.Event(data.Attr{Type: data.TypeHWCache, Config: 0x10000, SampleType: every, Flags: data.FlagSampleIDAll | data.FlagExcludeKernel | data.FlagExcludeHV, RegsUser: 3}, 20)
				w.Feature(3, datatest.Text("far"))
				w.Feature(6, datatest.Text("x86_64"))
				id := func(pid, tid uint32, event uint64) []byte {
					w.time += 10
					return w.Encode(0, 0, pid, tid, w.time, uint64(0), uint32(1), uint32(0), event)[8:]
				}
				sample := func(event uint64, tid uint32, mode uint16, back uint64, chain ...uint64) {
					w.time += 10
					w.Record(data.RecordSample, mode, event, chain[len(chain)-1], uint32(50), tid, w.time-back, uint64(0xadd), uint64(0), uint32(1), uint32(0),
						1000+w.time, uint64(len(chain)), chain, uint64(2), uint64(5), uint64(6), uint64(7), uint64(0x5080021), uint64(9), uint64(10), uint64(11), uint64(4096), uint64(4096))
				}
				kernel := uint64(0xffffffff81000000)
				w.Record(data.RecordMmap, data.ModeKernel, uint32(0xffffffff), uint32(0), kernel, uint64(0x100000), kernel, "[kernel.kallsyms]_text", id(0, 0, 0))
				w.Record(data.RecordMmap, data.ModeKernel, uint32(0xffffffff), uint32(0), kernel+1<<30, uint64(0x1000), uint64(0), "[some_module]", id(0, 0, 0))
				w.Record(data.RecordComm, 0, uint32(50), uint32(50), "first", id(50, 50, 10))
				w.Record(data.RecordMmap2, user, uint32(50), uint32(50), uint64(0x10000), uint64(0x4000), uint64(0x1000),
					uint32(8), uint32(1), uint64(99), uint64(0), uint32(5), uint32(2), "/app/one", id(50, 50, 10))
				w.Record(data.RecordMmap2, user|data.MiscMmapBuildID, uint32(50), uint32(50), uint64(0x11000), uint64(0x1000), uint64(0x7000),
					uint8(20), uint8(0), uint16(0), make([]byte, 20), uint32(5), uint32(2), "/app/two", id(50, 50, 10))
				code := uint32(5)
				if big {
					code = 5<<24 | 5 // perf 6.1 does not turn these bytes round
				}
				w.Record(data.RecordMmap2, user, uint32(50), uint32(50), uint64(0x20000), uint64(0x1000), uint64(0),
					uint32(0), uint32(0), uint64(0), uint64(0), code, uint32(2), "//anon", id(50, 50, 10))
				w.Record(data.RecordFork, 0, uint32(50), uint32(50), uint32(51), uint32(50), w.time, id(50, 50, 10))
				program := uint64(0xffffffffc2000000)
				if !big { // nor these
					w.Record(data.RecordKsymbol, 0, program, uint32(0x100), uint16(1), uint16(0), "bpf_prog_1", id(0, 0, 0))
				}
				sample(10, 50, user, 0, data.ContextUser, 0x10010, 0x11010, 0x12010, 0x20010, 0x30000)
				sample(20, 51, user, 45, data.ContextUser, 0x10010)
				w.Record(68, 0)
				sample(11, 51, data.ModeKernel, 0, data.ContextKernel, kernel+0x10, kernel+1<<30+0x10, program+8, data.ContextUser, 0x13fff, 0x14000)
				w.Record(data.RecordComm, data.MiscCommExec, uint32(50), uint32(51), "second", id(50, 51, 20))
				sample(20, 51, user, 0, data.ContextUser, 0x10010)
				sample(10, 50, user, 25, data.ContextUser, 0x10010, 0)
				w.Record(data.RecordExit, 0, uint32(50), uint32(50), uint32(51), uint32(50), w.time, id(50, 51, 10))
				w.Record(68, 0)
				sample(10, 50, user, 0, 0x10010)

				path := filepath.Join(t.TempDir(), "perf.data")
				b := w.File()
				if pipe {
					b = w.Pipe()
				}
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				got, r := native(t, path, func(symbol.Module) machine.Names { return new(symbol.Table) })
				if len(got) != 6 {
					t.Errorf("%d samples, want 6", len(got))
				}
				compare(t, got, oracle(t, p, path, r.Events(), "--kallsyms=/dev/null", "--symfs="+t.TempDir()), nil)
			})
		}
	}
}
