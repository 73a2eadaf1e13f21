package folded

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"vperf/lib/perf/recording"
	"vperf/lib/stack"
)

func reader(text string) *Reader { return NewReader(bufio.NewReaderSize(strings.NewReader(text), 64)) }

func lines(r *Reader) (list []string) {
	for r.Next() {
		s := r.Sample()
		var names []string
		for _, i := range r.Stack(s.Stack) {
			names = append([]string{stack.Naming{Mark: true}.Name(r.Frame(i))}, names...)
		}
		list = append(list, fmt.Sprintf("%s %d", strings.Join(names, ";"), r.Count()))
	}
	return list
}

func TestReader(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "main;f 12\nmain;g 3\n", "main;f 12, main;g 3"},
		{"no newline at the end, CRLF, tabs", "main;f 12\r\nmain;g\t3", "main;f 12, main;g 3"},
		{"suffixes", "a;k_[k];i_[i];j_[j];_[k];[unknown]_[k] 1\n", "a;k_[k];i_[i];j_[j];_[k];[unknown]_[k] 1"},
		{"names with blanks and numbers", "pool 1;operator new(unsigned long);f 2 3\na 1\n", "pool 1;operator new(unsigned long);f 2 3, a 1"},
		{"empty frames, comments, empty lines, no weight", "# made by x\n\na;;b 1\n;c 2\nd 0\n", "a;b 1, c 2"},
		{"only separators", ";; 4\n", " 4"},
		{"the largest number", "a 18446744073709551615\n", "a 18446744073709551615"},
		{"a long line", strings.Repeat("f;", 100) + "g 1\n", strings.Repeat("f;", 100) + "g 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reader(c.text)
			if got := strings.Join(lines(r), ", "); got != c.want || r.Err() != nil {
				t.Errorf("got  %s\nwant %s (%v)", got, c.want, r.Err())
			}
			if len(r.Tally().Counts) > 0 {
				t.Errorf("%+v", r.Tally())
			}
		})
	}
}

// TestBadLines counts what is no stack, and says where the first was.
func TestBadLines(t *testing.T) {
	r := reader("main;f 12\nmain;g\nmain;h 1.5\nmain;i -1\n 7\nmain;k 18446744073709551616\nmain;l 2\n")
	if got := strings.Join(lines(r), ", "); got != "main;f 12, main;l 2" {
		t.Errorf("got %s", got)
	}
	c := r.Tally().Counts
	if len(c) != 1 || c[0].Reason != recording.BadLine || c[0].N != 5 || c[0].Place != 2 || c[0].Text != "main;g" {
		t.Errorf("%+v", c)
	}
	if s := r.Tally(); s.Samples != 14 || s.Deep != 14 {
		t.Errorf("%+v", s)
	}
}

// TestColumns refuses what compares two profiles, and nothing else.
func TestColumns(t *testing.T) {
	for text, want := range map[string]bool{
		"a;b 1 2\na;c 3 4\n": true, "# x\na;b 1 2 3\n\na;c\t3\t4": true,
		"a;b 1 2\na;c 3\n": false, "a;b 1\n": false, "": false, "a;b 1 2\na;c 3 4\na;cut": true,
	} {
		r := reader(text)
		n := len(lines(r))
		if got := errors.Is(r.Err(), ErrColumns); got != want || want && n > 0 {
			t.Errorf("%q: %v, %d samples", text, r.Err(), n)
		}
	}
}

func TestLooks(t *testing.T) {
	for text, want := range map[string]bool{
		"main;f 12\n": true, "main 12\n": true, "# comment\n\nmain;f 12\n": true, "a;b 1 2\n": true, "java;Lorg/x:::y_[j] 5\r\n": true,
		"a;operator: x;b 12\n": true, "main;" + strings.Repeat("f;", 9): true, "{closure};f 3\n": true,
		"app 9/10 [001] 1.000000: 10 cycles: \n":                                            false,
		"app 9/10 1.000000: sched:sched_switch: a;b next_prio=120 next_pid=12 state 5\n":    false,
		"app 9/10 10 cycles: 12\n":                                                          false,
		"# ========\n# captured on: x\n# hostname : y\n#\napp 9/10 1.000000: 10 cycles: \n": false,
		"no number\n": false, "a;b c\n": false, "12\n": false, "main": false, "": false, "#\n": false,
	} {
		if got := Looks([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// FuzzReader checks that no line is lost: it is a sample, or counted.
func FuzzReader(f *testing.F) {
	f.Add([]byte("main;f_[k] 12\nmain;[unknown] 3\nbad\n# x\n;;1 2"))
	f.Fuzz(func(t *testing.T, data []byte) {
		Looks(data)
		r := NewReader(bufio.NewReaderSize(bytes.NewReader(data), 64))
		samples := uint64(0)
		var total uint64
		for r.Next() {
			samples++
			total = stack.Plus(total, r.Count())
			for _, i := range r.Stack(r.Sample().Stack) {
				_ = r.Frame(i).Symbol
			}
		}
		if r.Err() != nil {
			return
		}
		if total != r.Tally().Samples {
			t.Errorf("%d samples, tally says %d", total, r.Tally().Samples)
		}
		want := uint64(0)
		for line := range bytes.Lines(data) {
			line = bytes.TrimSpace(line)
			_, n, ok := cutNumber(line)
			if len(line) > 0 && line[0] != '#' && (!ok || n > 0 || !bytes.ContainsAny(line, " \t")) {
				want++
			}
		}
		if got := samples + r.Tally().N(recording.BadLine); got > want || got+uint64(bytes.Count(data, []byte("0"))) < want {
			t.Errorf("%d lines came out or were counted, want %d", got, want)
		}
	})
}
