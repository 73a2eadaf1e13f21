package report_test

import (
	"strings"
	"testing"

	"vperf/lib/record"
	"vperf/lib/report"
)

func TestReadFolded(t *testing.T) {
	tests := []struct {
		name, input, want string
		bad               int
	}{
		{"a parent's own weight", "root 75\nroot;child 25\nroot;child;leaf 5\nother 0\n", "root  75 105\nchild  25 30\nleaf  5 5\n", 0},
		{"blanks in names, CRLF, no newline at the end", "a b;c d(int, char) 3\r\na b 4", "a b  4 7\nc d(int, char)  3 3\n", 0},
		{"suffixes", "m;sys_[k] 1\nm;f_[i] 2\nm;g_[j] 4\nm;h_[x] 8\n", "h_[x]  8 8\ng [jit] 4 4\nf  2 2\nsys  1 1\nm  0 15\n", 0},
		{"unknown and empty frames", "a;[unknown] 1\n;;a; 2\n;; 4\n", "[no stack]  4 4\na  2 3\n[unknown]  1 1\n", 0},
		{"comments and bad lines", "# a comment\nno number\nx 1.5\ny -1\n 7\na 9\n", "a  9 9\n", 4},
		{"php", "{closure};{main} 3\n", "{main}  3 3\n{closure}  0 3\n", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := report.New()
			bad := 0
			err := p.ReadFolded("in", strings.NewReader(test.input), func(record.Problem) { bad++ })
			if err != nil || bad != test.bad {
				t.Errorf("error %v, %d bad lines, want %d", err, bad, test.bad)
			}
			if got := hotspots(p); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

func TestLooksFolded(t *testing.T) {
	for head, want := range map[string]bool{
		"a;b 1\n":             true,
		"{closure};b 1\n":     true,
		"\n\n a 1":            true,
		`{"type":"stream"}`:   false,
		"\n" + `{"type":"x"}`: false,
		"":                    false,
		"\n\n":                false,
	} {
		if got := report.LooksFolded([]byte(head)); got != want {
			t.Errorf("LooksFolded(%q) = %t", head, got)
		}
	}
}

func FuzzReadFolded(f *testing.F) {
	for _, s := range []string{"a;b 1\n", ";; 1", "a_[k] 99999999999999999999\n", "\xff\xfe;\x00 1\n", "a 1\n\n#\n 1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := report.New()
		if err := p.ReadFolded("fuzz", strings.NewReader(text), func(record.Problem) {}); err != nil {
			return // a broken compressed part
		}
		if !p.Empty() {
			block(t, html(t, p, ""))
		}
	})
}
