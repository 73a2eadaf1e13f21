package symbol

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"testing"
)

// jitdump writes a file as a JIT compiler does.
type jitdump struct {
	binary.AppendByteOrder
	b []byte
}

func newJitdump(o binary.AppendByteOrder) *jitdump {
	d := &jitdump{AppendByteOrder: o}
	d.b = o.AppendUint32(d.b, 0x4a695444)
	for _, v := range []uint32{1, 40, 62, 0, 77, 0, 0, 0, 0} {
		d.b = o.AppendUint32(d.b, v)
	}
	return d
}

func (d *jitdump) record(kind uint32, rest []byte, numbers ...uint64) {
	d.b = d.AppendUint32(d.b, kind)
	d.b = d.AppendUint32(d.b, uint32(16+8+8*len(numbers)+len(rest)))
	d.b = append(d.b, make([]byte, 8+8)...) // time; process and thread
	for _, v := range numbers {
		d.b = d.AppendUint64(d.b, v)
	}
	d.b = append(d.b, rest...)
}

func (d *jitdump) load(name string, addr, size, code uint64) {
	d.record(jitLoad, append([]byte(name+"\x00"), make([]byte, size)...), addr, addr, size, code)
}

func TestJitdump(t *testing.T) {
	for _, o := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		d := newJitdump(o)
		d.load("first", 0x1000, 0x100, 1)
		d.record(2, make([]byte, 100)) // lines
		d.load("large", 0x20000, 0x12000, 2)
		d.record(jitMove, nil, 0x5000, 0x1000, 0x5000, 0x100, 1)
		d.load("second", 0x1080, 0x10, 3)
		whole := len(d.b)
		d.load("cut", 0x9000, 0x100, 4)
		for _, end := range []int{whole, len(d.b) - 1, len(d.b) - 0x100 - 4} {
			x, err := parseJitdump(bytes.NewReader(d.b[:end]))
			if err != nil {
				t.Fatal(err)
			}
			for addr, want := range map[uint64]string{
				0x1000: "first", 0x107f: "first", 0x1080: "second", 0x1090: "first", 0x1100: "",
				0x31fff: "large", 0x32000: "", 0x5000: "first", 0x5100: "", 0x9000: "",
			} {
				if got := nameAt(x, addr); got != want {
					t.Errorf("%v, %d bytes: 0x%x: %q, want %q", o, end, addr, got, want)
				}
			}
		}
	}
	for _, bad := range []string{"", "1000 10 a\n", "DTiJ", "DTiJ" + string(make([]byte, 100))} {
		if _, err := parseJitdump(bytes.NewReader([]byte(bad))); err == nil {
			t.Errorf("%q was taken for a jitdump file", bad)
		}
	}
}

func TestJitdumpFound(t *testing.T) {
	const pid = 1 << 30
	f := &Finder{Home: t.TempDir()}
	d := newJitdump(binary.LittleEndian)
	d.load("java.lang.String.hashCode", 0x1000, 0x100, 1)
	write(t, fmt.Sprintf("%s/.debug/jit/java-jit-1/jit-%d.dump", f.Home, pid), string(d.b))
	table := f.Open(Module{Path: fmt.Sprintf("/tmp/perf-%d.map", pid), Kind: JIT, PID: pid})
	if s, ok := table.Symbol(0x1010); !ok || s.Name != "java.lang.String.hashCode" {
		t.Errorf("%+v, %v, %+v", s, ok, table.Problem())
	}
	if _, err := os.Stat(fmt.Sprintf("/tmp/perf-%d.map", pid)); err == nil {
		t.Error("there is such a map")
	}
}

func FuzzJitdump(f *testing.F) {
	d := newJitdump(binary.LittleEndian)
	d.load("a", 0x1000, 0x10, 1)
	d.record(jitMove, nil, 0x5000, 0x1000, 0x5000, 0x10, 1)
	f.Add(d.b)
	f.Fuzz(func(t *testing.T, data []byte) {
		if x, err := parseJitdump(bytes.NewReader(data)); err == nil {
			checkIndex(t, x)
		}
	})
}
