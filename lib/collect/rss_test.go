package collect

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

func TestResidentPages(t *testing.T) {
	for _, test := range []struct {
		statm string
		pages int64
		ok    bool
	}{
		{"1234 567 89 1 0 2 0\n", 567, true},
		{"1234 0 0 1 0 2 0\n", 0, true}, // swapped out: a reading all the same
		{"0 0 0 0 0 0 0\n", 0, false},   // a zombie
		{"1234", 0, false},
		{"1234 x 1", 0, false},
		{"", 0, false},
	} {
		if pages, ok := residentPages([]byte(test.statm)); pages != test.pages || ok != test.ok {
			t.Errorf("%q: %d, %v", test.statm, pages, ok)
		}
	}
}

func FuzzResidentPages(f *testing.F) {
	f.Add([]byte("1234 567 89 1 0 2 0\n"))
	f.Add([]byte("0 0"))
	f.Fuzz(func(t *testing.T, statm []byte) {
		if pages, ok := residentPages(statm); !ok && pages != 0 {
			t.Errorf("%d pages of %q", pages, statm)
		}
	})
}

// A list of children that is longer than one read is read to its end, and no pid is torn.
func TestManyChildren(t *testing.T) {
	s := newRSS(os.Getpid())
	s.buf = make([]byte, 16)
	path := filepath.Join(t.TempDir(), "children")
	text := ""
	for pid := range 50 {
		text += strconv.Itoa(4100000+pid) + " "
		s.known[4100000+pid] = true // else it would be looked for
	}
	child := exec.Command("sleep", "10")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	if err := os.WriteFile(path, []byte(text+strconv.Itoa(child.Process.Pid)+" "), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s.addAll(file)
	if len(s.procs) != 2 || s.procs[1].pid != child.Process.Pid {
		t.Errorf("%d processes", len(s.procs))
	}
}

func BenchmarkRSS(b *testing.B) {
	s := newRSS(os.Getpid())
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			s.read(s.procs[0])
			s.readings = s.readings[:0]
		}
	})
	for _, children := range []int{0, 20} {
		for range children {
			cmd := exec.Command("sleep", "60")
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		}
		b.Run("find", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for i := 0; i < len(s.procs); i++ {
					s.find(s.procs[i])
				}
			}
		})
	}
}
