package script

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
)

func FuzzReader(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/input*")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(text, false)
		}
	}
	f.Add([]byte("a 1 1.5: 1 c: \n\t0 f->g (/tmp/perf-1.map)\n  x.c:1\n\n"), true)
	f.Add([]byte("a 1 0.1: PERF_RECORD_FORK(1:2):(1:1)\na 2 0.2: c: \na 2 0.2: PERF_RECORD_SWITCH OUT preempt\na 2 0.3: PERF_RECORD_COMM exec: a:b:1/2\n"), false)
	f.Add([]byte("a 1 0.0: PERF_RECORD_LOST lost 1\n\t0\n a 1 1.1: x: 0123456789abcdef y (z)\n"), true)
	f.Fuzz(func(t *testing.T, text []byte, addresses bool) {
		r := NewReader(iotest.HalfReader(strings.NewReader(string(text))))
		r.Addresses = addresses
		place := int64(0)
		r.OnTask(func(e *recording.TaskEvent) {
			if e.Place < place || e.TID < 0 || e.TimeNS < 0 || e.Kind > recording.TaskExit || !utf8.ValidString(e.Comm) {
				t.Fatalf("%+v after line %d", e, place)
			}
			place = e.Place
		})
		n := uint64(0)
		for r.Next() {
			n++
			s := r.Sample()
			if s.Place < place {
				t.Fatalf("sample of line %d after a record of line %d", s.Place, place)
			}
			place = s.Place
			if s.Stack == 0 {
				continue
			}
			if len(r.Stack(s.Stack)) == 0 || len(r.Stack(s.Stack)) > len(text)+1 {
				t.Fatal("stack of impossible size")
			}
			for _, i := range r.Stack(s.Stack) {
				f := r.Frame(i)
				if f.ID != record.ID(i) || !utf8.ValidString(f.Symbol) || !utf8.ValidString(f.Module) {
					t.Fatalf("frame %d: %+v", i, f)
				}
			}
			if !utf8.ValidString(s.Comm) || !utf8.ValidString(s.Event) || s.Event == "" || s.TimeNS < recording.None || s.TID < recording.None {
				t.Fatalf("sample %+v", s)
			}
		}
		if r.Tally().Samples != n || r.Tally().N(recording.Cut) > 1 {
			t.Fatalf("%d samples, tally %+v", n, r.Tally())
		}
	})
}

// TestBoundaries reads every case byte by byte: what is in the buffer must not matter.
func TestBoundaries(t *testing.T) {
	files, _ := filepath.Glob("testdata/*/input*")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		whole, slow := NewReader(strings.NewReader(string(text))), NewReader(iotest.OneByteReader(strings.NewReader(string(text))))
		a, b := gather(t, whole), gather(t, slow)
		if fmt.Sprint(a) != fmt.Sprint(b) || fmt.Sprint(whole.Tally()) != fmt.Sprint(slow.Tally()) || whole.Err() != slow.Err() {
			t.Errorf("%s: differs when read byte by byte", file)
		}
	}
}

// TestMemoForgets reads more distinct lines than the memo keeps.
func TestMemoForgets(t *testing.T) {
	m := newLineMemo()
	for i := range 3 * 4096 {
		text := fmt.Appendf(nil, "line %d\n", i)
		n, h := m.find(text)
		if n != 0 {
			t.Fatalf("line %d was there", i)
		}
		n = m.add(memoLine{text: text, hash: h, frame: int32(i)})
		if again, _ := m.find(text); again != n || m.lines[n].frame != int32(i) {
			t.Fatalf("line %d is not found again", i)
		}
	}
	m.reset()
	if n, _ := m.find([]byte("line 1\n")); n != 0 || m.full() {
		t.Error("reset forgot nothing")
	}
}

func TestDeepStackAndLongLine(t *testing.T) {
	var b strings.Builder
	const depth = 20000
	b.WriteString("deep 9 71.000000: 1000 cycles: \n")
	for i := depth; i > 0; i-- {
		fmt.Fprintf(&b, "\t%16x f%d+0x4 (/opt/deep)\n", 4198400+i*16, i)
	}
	long := strings.Repeat("x", 3<<20)
	fmt.Fprintf(&b, "\t%16x %s+0x4 (/opt/deep)\n\n", 1, long)
	got, _ := gatherText(t, b.String())
	if len(got) != 1 || len(got[0].frames) != depth+1 || got[0].frames[depth].Symbol != long || got[0].frames[0].Symbol != "f20000" {
		t.Errorf("%d samples", len(got))
	}
}
