package record

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func TestWriterBracketsAndCounts(t *testing.T) {
	var b strings.Builder
	w := NewWriter(&b)
	w.Begin(Stream{By: "a 1"})
	in := NewInterner(w)
	root := in.Stack(0, in.Frame(Frame{Symbol: "main", ID: 99}))
	leaf := in.Stack(root, in.Frame(Frame{Symbol: "f"}))
	if again := in.Stack(in.Stack(0, in.Frame(Frame{Symbol: "main"})), in.Frame(Frame{Symbol: "f"})); again != leaf {
		t.Errorf("the same stack has ids %d and %d", leaf, again)
	}
	w.Write(&Sample{Event: 1, TID: None, TimeNS: None, Weight: 1, Stack: leaf, CPU: None, PID: None})
	w.End("")
	w.Begin(Stream{By: "b 1"})
	w.End(CauseNoSamples)
	w.Flush()
	const want = `{"type":"stream","schema":1,"by":"a 1"}
{"type":"frame","id":1,"symbol":"main"}
{"type":"stack","id":1,"frame":1}
{"type":"frame","id":2,"symbol":"f"}
{"type":"stack","id":2,"frame":2,"parent":1}
{"type":"sample","event":1,"weight":1,"stack":2}
{"type":"end","by":"a 1","counts":{"frame":2,"sample":1,"stack":2},"complete":true}
{"type":"stream","schema":1,"by":"b 1"}
{"type":"end","by":"b 1","counts":{},"complete":false,"cause":"no_samples"}
`
	if b.String() != want {
		t.Errorf("wrote\n%s\nwant\n%s", b.String(), want)
	}
}

func TestWriterDrops(t *testing.T) {
	var b strings.Builder
	w := NewWriter(&b)
	if err := w.Drop(TypeDump, TypeRSS); err != nil {
		t.Fatal(err)
	}
	for _, t := range []Type{TypeStream, TypeEnd, TypeNotice, Unknown} {
		if w.Drop(t) == nil {
			panic(t.String() + " was dropped")
		}
	}
	w.Raw([]byte(`{"type":"dump","of":"x"}`))
	w.Raw([]byte(`{ "of":"x", "type":"dump"}`))
	w.Raw([]byte(`{"type":"freq"}`))
	w.Write(&RSS{})
	w.Flush()
	if b.String() != "{\"type\":\"freq\"}\n" {
		t.Errorf("wrote %q", b.String())
	}
}

// failing fails after n bytes.
type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWriterErrorIsSticky(t *testing.T) {
	w := NewWriter(&failing{1 << 20})
	line := bytes.Repeat([]byte("x"), 1000)
	for range 10_000 {
		w.Raw(line)
	}
	if err := w.Flush(); err == nil || err.Error() != "disk full" {
		t.Errorf("Flush = %v", err)
	}
	if err := w.Write(&RSS{}); err == nil {
		t.Error("Write after a failure succeeded")
	}
}

func TestWriterSurvivesWhatJSONCannotSay(t *testing.T) {
	var b strings.Builder
	w := NewWriter(&b)
	if w.Write(&Metric{Name: "x", Value: Float(math.NaN())}) == nil {
		t.Error("a NaN was written")
	}
	w.Write(&RSS{PID: 1})
	w.Flush()
	if b.String() != "{\"type\":\"rss\",\"pid\":1,\"time_ns\":0,\"bytes\":0}\n" {
		t.Errorf("wrote %q", b.String())
	}
}

func TestDumpGivesBackEveryByte(t *testing.T) {
	for _, c := range []struct {
		of, raw string
		text    bool
	}{
		{DumpPerfStat, "", true},
		{DumpPerfStat, "1,,cycles\n", true},
		{DumpPerfStat, "\xff", false},
		{DumpPerfData, "PERFILE2", false},
		{DumpPerfData, strings.Repeat("\x00\x01abc", 1<<20), false},
		{DumpPerfScript, "x" + strings.Repeat("é", 1<<20), true}, // a chunk ends inside a character
	} {
		var b bytes.Buffer
		w := NewWriter(&b)
		if err := WriteDump(w, c.of, strings.NewReader(c.raw)); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		r := NewReader("in", &b)
		var got []byte
		var d Dump
		for seq := 0; r.Next(); seq++ {
			if !r.Decode(&d) || d.Of != c.of || d.Seq != seq || c.text != (d.Encoding == "") {
				t.Fatalf("%.20q: chunk %d is %v %v %q", c.raw, seq, d.Of, d.Seq, d.Encoding)
			}
			var err error
			if got, err = d.AppendTo(got); err != nil {
				t.Fatal(err)
			}
		}
		if string(got) != c.raw {
			t.Errorf("%.20q (%d bytes) came back as %.20q (%d bytes)", c.raw, len(c.raw), got, len(got))
		}
	}
}

func TestDumpThatCannotBeRead(t *testing.T) {
	for _, d := range []Dump{
		{Encoding: "rot13", Data: "x"}, {Encoding: EncodingZstd, Data: "*"}, {Encoding: EncodingZstd, Data: "AAAA"}, {Data: "x"},
	} {
		if _, err := d.AppendTo(nil); err == nil {
			t.Errorf("%+v was read", d)
		}
	}
	if err := WriteDump(NewWriter(io.Discard), DumpPerfData, io.MultiReader(strings.NewReader("x"), &broken{})); err == nil {
		t.Error("a read error was lost")
	}
}

type broken struct{}

func (*broken) Read([]byte) (int, error) { return 0, errors.New("broken") }
