package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"vperf/lib/perf/data"
	"vperf/lib/perf/data/datatest"
	"vperf/lib/record"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"vp-fold": main})
}

// stackCopies makes a perf.data file with copies of stacks, which goes through perf. Its
// header says that it holds so many bytes of records.
func stackCopies(size uint64) []byte {
	var w datatest.Recording
	w.Event(data.Attr{SampleType: data.SampleIP | data.SampleStackUser})
	w.Raw(make([]byte, 8))
	b := w.File()
	binary.LittleEndian.PutUint64(b[48:], size)
	return b
}

// burst makes a recording of a big-endian machine: three samples of 1000 ns, one of them
// with another name, and a fourth that is lost. JIT code has names in a map of its own.
func burst() *datatest.Recording {
	w := &datatest.Recording{Big: true}
	w.Event(data.Attr{
		Type: data.TypeSoftware, Flags: data.FlagSampleIDAll | data.FlagExcludeGuest | data.FlagUseClockID, ClockID: 1,
		SampleType: data.SampleIP | data.SampleTID | data.SampleTime | data.SamplePeriod | data.SampleCallchain,
	}, 1)
	w.Feature(3, datatest.Text("far"))
	w.Feature(5, datatest.Text("6.1.0"))
	id := func(time uint64) []byte { return w.Encode(0, 0, uint32(77), uint32(78), time)[8:] }
	sample := func(time uint64) {
		w.Record(data.RecordSample, data.ModeUser, uint64(0x10010), uint32(77), uint32(78), time, uint64(1000),
			uint64(3), data.ContextUser, uint64(0x10010), uint64(0x10110))
	}
	sample(40)
	sample(30)
	w.Record(data.RecordComm, 0, uint32(77), uint32(78), "app", id(10))
	w.Record(data.RecordComm, 0, uint32(77), uint32(78), "worker", id(35))
	w.Record(data.RecordMmap, 0, uint32(77), uint32(77), uint64(0x10000), uint64(0x1000), uint64(0), "//anon", id(20))
	sample(41)
	w.Record(data.RecordLost, 0, uint64(1), uint64(1), id(42))
	return w
}

// oddBurst makes a recording of which one sample is shorter than its event demands.
func oddBurst() []byte {
	w := burst()
	w.Record(data.RecordSample, data.ModeUser, uint64(0x10010), uint32(77), uint32(78), uint64(50))
	return w.File()
}

// writeDump writes a record stream that carries a perf.data file.
func writeDump(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	w := record.NewWriter(file)
	w.Begin(record.Stream{By: "vp-collect 1", Profile: "p", Clock: "monotonic"})
	if err := record.WriteDump(w, record.DumpPerfData, bytes.NewReader(stackCopies(8))); err != nil {
		return err
	}
	w.End("")
	return w.Flush()
}

func TestScripts(t *testing.T) {
	cases, err := filepath.Abs("../../lib/perf/script/testdata")
	if err != nil {
		t.Fatal(err)
	}
	fold, err := exec.LookPath("vp-fold")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("CASES", cases)
			env.Setenv("FOLD", fold)
			env.Setenv("PERF", "")
			env.Setenv("TMPDIR", filepath.Join(env.WorkDir, "tmp"))
			w := burst()
			cut := w.File()
			for name, b := range map[string][]byte{
				"data": stackCopies(8), "unfinished": stackCopies(0),
				"burst": w.File(), "burst.pipe": w.Pipe(), "burst.cut": cut[:len(cut)-300], "burst.odd": oddBurst(),
			} {
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), b, 0o644); err != nil {
					return err
				}
			}
			if err := writeDump(filepath.Join(env.WorkDir, "dump.ndjson")); err != nil {
				return err
			}
			return os.Mkdir(filepath.Join(env.WorkDir, "tmp"), 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// status N COMMAND: exec, with an exit status of N.
			"status": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				got := 0
				var exit *exec.ExitError
				if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
					got = exit.ExitCode()
				} else {
					ts.Check(err)
				}
				if got != want {
					ts.Fatalf("exit status %d, want %d", got, want)
				}
			},
		},
	})
}
