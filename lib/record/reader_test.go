package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
)

// read returns the lines and the problems of a stream.
func read(t *testing.T, in io.Reader) (lines, problems []string, err error) {
	t.Helper()
	r := NewReader("in", in)
	r.Report = func(p Problem) { problems = append(problems, fmt.Sprintf("%d %s", p.Line, p.Cause)) }
	for r.Next() {
		lines = append(lines, string(r.Line()))
	}
	if r.Next() {
		t.Error("Next goes on after the end")
	}
	return lines, problems, r.Err()
}

func TestReaderPassesOnByteForByte(t *testing.T) {
	in := []string{
		`{"type":"stream","schema":1,"by":"a"}`,
		`{"type":"sample","event":1,  "odd": [1,2,{"x":"}"}] }`,
		`{"later":true,"type":"from_the_future","x":1e999}`,
		`  {"type":"rss"}`,
		"{\"type\":\"frame\",\"id\":1,\"symbol\":\"\xff\xfe raw\"}",
		`{"type":"end","by":"a","counts":{},"complete":true}`,
	}
	lines, problems, err := read(t, strings.NewReader(strings.Join(in, "\n")))
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	for _, l := range lines {
		w.Raw([]byte(l))
	}
	w.Flush()
	if got, want := out.String(), strings.Join(in, "\n")+"\n"; got != want {
		t.Errorf("passed on\n%s\nread\n%s", got, want)
	}
}

func TestReaderGoesOnBehindBadLines(t *testing.T) {
	in := "not json\n" + // 1
		"\n" + // 2: blank lines are nothing
		`{"type":"rss","pid":1,"time_ns":1,"bytes":1}` + "\n" +
		`[1]` + "\n" + // 4
		`{"no":"type"}` + "\n" + // 5
		`{"type":5}` + "\n" + // 6
		`{"type":"rss","pid":` + "\n" + // 7: cut
		"\x00\x01\x02\n" + // 8
		`{"type":"freq","time_ns":1,"cpu":0,"khz":1}`
	lines, problems, err := read(t, strings.NewReader(in))
	if err != nil || len(lines) != 2 {
		t.Fatal(err, lines)
	}
	want := []string{"1 bad_input", "4 bad_input", "5 bad_input", "6 bad_input", "7 bad_input", "8 bad_input"}
	if !slices.Equal(problems, want) {
		t.Errorf("problems %q, want %q", problems, want)
	}
}

func TestReaderReportsWhatCannotBeDecoded(t *testing.T) {
	r := NewReader("in", strings.NewReader(`{"type":"sample","event":"x"}`+"\n"+`{"type":"sample","event":7}`))
	var got []Problem
	r.Report = func(p Problem) { got = append(got, p) }
	var s Sample
	if !r.Next() || r.Decode(&s) || !r.Next() || !r.Decode(&s) || s.Event != 7 {
		t.Error("did not go on behind the bad record")
	}
	if len(got) != 1 || got[0].Line != 1 || got[0].Cause != CauseBadInput || !strings.HasPrefix(got[0].String(), "in:1: ") {
		t.Errorf("reported %v", got)
	}
}

func TestReaderNoticesCutStreams(t *testing.T) {
	stream, end := `{"type":"stream","by":"a"}`+"\n", `{"type":"end","by":"a","complete":true}`+"\n"
	failed := `{"type":"end","by":"a","complete":false,"cause":"no_samples"}` + "\n"
	for _, c := range []struct {
		in       string
		problems []string
	}{
		{stream + end, nil},
		{stream + end + stream + end, nil},
		{stream, []string{"1 truncated_input"}},
		{stream + stream + end, []string{"1 truncated_input"}},
		{stream + end + stream, []string{"3 truncated_input"}},
		{stream + failed, []string{"2 no_samples"}},
		{stream + `{"type":"rss","pid":1,"ti`, []string{"2 bad_input", "1 truncated_input"}},
		{"", nil},
		{`{"type":"rss"}`, nil}, // no stream record: nobody promised an end
	} {
		_, problems, err := read(t, strings.NewReader(c.in))
		if err != nil || !slices.Equal(problems, c.problems) {
			t.Errorf("%q: problems %q %v, want %q", c.in, problems, err, c.problems)
		}
	}
}

func TestReaderStreamOrdinal(t *testing.T) {
	r := NewReader("a", strings.NewReader("{\"type\":\"rss\"}\n{\"type\":\"stream\"}\n{\"type\":\"rss\"}\n"))
	var got []int
	for r.Next() {
		got = append(got, r.Stream())
	}
	r.Reset("b", strings.NewReader("{\"type\":\"stream\"}\n{\"type\":\"rss\"}\n"))
	for r.Next() {
		got = append(got, r.Stream())
	}
	if want := []int{0, 1, 1, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("ordinals %v, want %v", got, want)
	}
}

// A stream that is in the input several times counts once, whatever was dropped from which
// copy, and if one was cut.
func TestReaderRepeats(t *testing.T) {
	const (
		open   = `{"type":"stream","by":"vp-fold","profile":"p"}` + "\n"
		other  = `{"type":"stream","by":"vp-fold","profile":"q"}` + "\n"
		nobody = `{"type":"stream","by":"vp-fold"}` + "\n"
		frame  = `{"type":"frame","id":1}` + "\n"
		sample = `{"type":"sample","event":1}` + "\n"
		end    = `{"type":"end","complete":true}` + "\n"
	)
	for _, c := range []struct{ name, in, fresh string }{
		{"twice", open + frame + sample + end + open + frame + sample + end, "stream1 frame1 sample1 end1"},
		{"dropped first", open + frame + end + open + frame + sample + end, "stream1 frame1 end1 sample1"},
		{"dropped second", open + frame + sample + end + open + end, "stream1 frame1 sample1 end1"},
		{"cut first", open + frame + sample + open + frame + sample + sample + end, "stream1 frame1 sample1 sample1 end1"},
		{"cut second", open + frame + sample + sample + end + open + frame + sample, "stream1 frame1 sample1 sample1 end1"},
		{"of two profiles", open + sample + end + other + sample + end, "stream1 sample1 end1 stream2 sample2 end2"},
		{"of no profile", nobody + sample + end + nobody + sample + end, "stream1 sample1 end1 stream2 sample2 end2"},
		{"interleaved", open + sample + end + other + sample + end + open + sample + sample + end, "stream1 sample1 end1 stream2 sample2 end2 sample1"},
	} {
		r := NewReader("in", strings.NewReader(c.in))
		var fresh []string
		for r.Next() {
			if !r.Repeat() {
				fresh = append(fresh, fmt.Sprintf("%v%d", r.Type(), r.Stream()))
			}
		}
		r.Reset("again", strings.NewReader(c.in))
		for r.Next() {
			if !r.Repeat() && c.name != "of no profile" {
				t.Errorf("%s: a %v record is new in the second file", c.name, r.Type())
			}
		}
		if got := strings.Join(fresh, " "); got != c.fresh {
			t.Errorf("%s: new are %s, want %s", c.name, got, c.fresh)
		}
	}
}

func TestReaderRefusesEndlessLines(t *testing.T) {
	defer func(n int) { maxLine = n }(maxLine)
	maxLine = 1 << 20
	r := NewReader("in", io.MultiReader(strings.NewReader("{\"type\":\"rss\"}\n"), endless{}))
	n := 0
	for r.Next() {
		n++
	}
	if n != 1 || r.Err() == nil || !strings.Contains(r.Err().Error(), "line 2") {
		t.Errorf("%d records, %v", n, r.Err())
	}
	if cap(r.buf) > 3*maxLine {
		t.Errorf("%d MB were read", cap(r.buf)>>20)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestReaderLinesOfAnyLength(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 256<<10 - 60, 256 << 10, 256<<10 + 1, 5 << 20} {
		long := `{"type":"dump","of":"perf-stat","seq":0,"text":"` + strings.Repeat("x", n) + `"}`
		for _, tail := range []string{"", "\n", "\n{\"type\":\"rss\"}"} {
			lines, problems, err := read(t, iotest.HalfReader(strings.NewReader(long+tail)))
			if err != nil || len(problems) > 0 || lines[0] != long || len(lines) != 1+strings.Count(tail, "r") {
				t.Errorf("a line of %d bytes and %q: %d lines, %v %v", len(long), tail, len(lines), problems, err)
			}
		}
	}
}

// Writing two streams and reading their concatenation gives both, whatever each is
// compressed with, however small the pieces are that arrive, with and without the last
// newline.
func TestConcatenationsReadAsAll(t *testing.T) {
	plain := func(s string) []byte { return []byte(s) }
	zst := func(s string) []byte {
		var b bytes.Buffer
		z, _ := zstd.NewWriter(&b)
		io.WriteString(z, s)
		z.Close()
		return b.Bytes()
	}
	bare := func(s string) []byte { // one frame without checksum and content size
		z, _ := zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithSingleSegment(false))
		return z.EncodeAll([]byte(s), nil)
	}
	gz := func(s string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, s)
		z.Close()
		return b.Bytes()
	}
	skippable := func(s string) []byte {
		return append([]byte{0x51, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', '\n'}, zst(s)...)
	}
	packers := []func(string) []byte{plain, zst, gz, bare, skippable}
	const one = "{\"type\":\"stream\",\"by\":\"a\"}\n{\"type\":\"rss\",\"pid\":1}\n{\"type\":\"end\",\"by\":\"a\",\"complete\":true}"
	for i := range packers {
		for j := range packers {
			for k := range packers {
				for _, newline := range []string{"\n", ""} {
					in := slices.Concat(packers[i](one+newline), packers[j](strings.Repeat(one+"\n", 3)), packers[k](one+newline))
					for name, r := range map[string]io.Reader{
						"whole": bytes.NewReader(in), "bytewise": iotest.OneByteReader(bytes.NewReader(in)), "with EOF": iotest.DataErrReader(bytes.NewReader(in)),
					} {
						lines, problems, err := read(t, r)
						if err != nil || len(problems) > 0 || strings.Join(lines, "\n") != strings.TrimSuffix(strings.Repeat(one+"\n", 5), "\n") {
							t.Fatalf("packers %d %d %d, newline %q, %s: %d lines %v %v", i, j, k, newline, name, len(lines), problems, err)
						}
					}
				}
			}
		}
	}
}

func TestPackedInputThatIsCutOrCorrupt(t *testing.T) {
	var b bytes.Buffer
	z, _ := zstd.NewWriter(&b)
	for i := range 5000 {
		fmt.Fprintf(z, "{\"type\":\"rss\",\"pid\":%d,\"time_ns\":%d,\"bytes\":1}\n", i*7919%1000, i)
		if i%1000 == 0 {
			z.Flush()
		}
	}
	z.Close()
	whole := b.Bytes()
	lines, _, err := read(t, bytes.NewReader(whole[:len(whole)/2]))
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(lines) == 0 || !strings.Contains(err.Error(), "cut") {
		t.Errorf("cut: %d lines, %v", len(lines), err)
	}
	broken := slices.Clone(whole)
	broken[len(broken)/2] ^= 0xff
	if _, _, err = read(t, bytes.NewReader(broken)); err == nil || !strings.Contains(err.Error(), "corrupt") && !strings.Contains(err.Error(), "cut") {
		t.Errorf("corrupt: %v", err)
	}
}

// What looks like compressed data in the middle of something else is not touched.
func TestDecompressorLeavesOtherBytesAlone(t *testing.T) {
	for _, in := range []string{
		"", "\n", "(", "\n(", "}(", "\n(\xb5/", "}\x1f\x8b", "a(\xb5/\xfd b", "a\x1f\x8b\x08b",
		"PERFILE2\x68\x00\x00\x00\n(\xb5/\xfd}\x1f\x8b\x08",
		strings.Repeat("x", 256<<10) + "\n(",
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "bytewise": iotest.OneByteReader(strings.NewReader(in))} {
			got, err := io.ReadAll(NewDecompressor(r))
			if err != nil || string(got) != in {
				t.Errorf("%.40q %s: %.40q %v", in, name, got, err)
			}
		}
	}
}

func TestReadErrorIsKept(t *testing.T) {
	boom := errors.New("boom")
	lines, _, err := read(t, io.MultiReader(strings.NewReader("{\"type\":\"rss\"}\n{\"type\":\"rss\"}"), iotest.ErrReader(boom)))
	if !errors.Is(err, boom) || len(lines) != 2 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func FuzzReader(f *testing.F) {
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, r := range everyRecord() {
		w.Write(r)
	}
	w.Flush()
	f.Add(b.Bytes())
	f.Add([]byte("{\"type\":\"rss\"}(\xb5/\xfd\x04\x00\x01\x00\x00"))
	f.Add([]byte(`{"type":"stream"}{"type":"end"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader("fuzz", bytes.NewReader(in))
		var out bytes.Buffer
		w := NewWriter(&out)
		n := 0
		for r.Next() {
			n++
			if bytes.IndexByte(r.Line(), '\n') >= 0 {
				t.Fatal("a line with a newline")
			}
			w.Raw(r.Line())
			for _, v := range everyRecord() {
				if v.Type() == r.Type() {
					r.Decode(v)
				}
			}
		}
		w.Flush()
		again := NewReader("again", &out)
		for again.Next() {
			n--
		}
		if n != 0 && r.Err() == nil {
			t.Fatalf("passing on changed the number of records by %d", n)
		}
	})
}

// The hand parsers and the library must never disagree about a line that both read.
func FuzzHotRecords(f *testing.F) {
	for _, r := range everyRecord() {
		line, _ := r.appendTo(nil)
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var a, b Sample
		errA, errB := a.parse(line), b.parseOdd(line)
		if errA == nil && (errB != nil || a != b) {
			t.Errorf("%q: by hand %+v, by library %+v %v", line, a, b, errB)
		}
		var fa, fb Frame
		errA, errB = fa.parse(line), fb.parseOdd(line)
		if errA == nil && (errB != nil || fa != fb) {
			t.Errorf("%q: by hand %+v, by library %+v %v", line, fa, fb, errB)
		}
		if errA == nil {
			out, _ := fa.appendTo(nil)
			var again Frame
			if err := again.parse(out); err != nil || again != fa {
				t.Errorf("%q written as %q reads as %+v %v", line, out, again, err)
			}
		}
	})
}
