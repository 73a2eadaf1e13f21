package dwarf

import (
	"encoding/binary"
	"testing"
)

// unit5 makes a unit of DWARF 5 whose abbreviations begin at 0.
func unit5(entries ...byte) []byte {
	body := append([]byte{5, 0, 1, 8, 0, 0, 0, 0}, entries...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// TestAlt follows an inlined function into the file that dwz moved its name to.
func TestAlt(t *testing.T) {
	alt, err := New(Sections{
		Abbrev: []byte{1, tagPartialUnit, 1, 0, 0, 2, tagNamespace, 1, attrName, formStrp, 0, 0, 3, tagSubprogram, 0, attrName, formString, 0, 0, 0},
		Str:    []byte("x\x00space\x00"),
		Info: unit5(
			1,
			2, 2, 0, 0, 0,
			3, 'f', 0,
			0, 0),
		Order: binary.LittleEndian,
	})
	if err != nil {
		t.Fatal(err)
	}
	const ref = 12 + 1 + 5 // of f: behind the header, the unit and the namespace
	d, err := New(Sections{
		Abbrev: []byte{
			1, tagUnit, 1, attrLowPC, formAddr, attrHighPC, formData1, 0, 0,
			2, tagSubprogram, 1, attrName, 0xa1, 0x3e, attrLowPC, formAddr, attrHighPC, formData1, 0, 0,
			3, tagInlined, 0, attrAbstractOrigin, 0xa0, 0x3e, attrLowPC, formAddr, attrHighPC, formData1, attrCallLine, formData1, 0, 0,
			0,
		},
		Info: unit5(
			1, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x80,
			2, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x40,
			3, ref, 0, 0, 0, 0x10, 0x10, 0, 0, 0, 0, 0, 0, 0x10, 7,
			0, 0),
		Order: binary.LittleEndian,
		Alt:   alt,
	})
	if err != nil {
		t.Fatal(err)
	}
	got := d.Frames(0x1018)
	if len(got) != 2 || got[0] != (Frame{Name: "space::f", Inlined: true}) || got[1] != (Frame{Name: "x", Line: 7}) {
		t.Errorf("%+v, %v", got, d.Err())
	}
	if got := d.Frames(0x1020); len(got) != 1 || got[0].Name != "x" {
		t.Errorf("behind the inlined function: %+v", got)
	}
	if got := d.Frames(0x1080); got != nil {
		t.Errorf("behind the unit: %+v", got)
	}
}
