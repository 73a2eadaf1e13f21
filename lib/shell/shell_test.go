package shell

import (
	"os/exec"
	"strings"
	"testing"
)

var quoted = map[string]string{
	"":                   "''",
	"/usr/bin/perf_5.10": "/usr/bin/perf_5.10",
	"a b":                "'a b'",
	"a;b":                "'a;b'",
	"x$y":                "'x$y'",
	"it's $(x)":          `'it'\''s $(x)'`,
	"~":                  "'~'",
	"new\nline":          "'new\nline'",
}

func TestQuote(t *testing.T) {
	for text, want := range quoted {
		if got := Quote(text); got != want {
			t.Errorf("Quote(%q) = %s, want %s", text, got, want)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for text := range quoted {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x00") || len(text) > 1000 {
			t.Skip("no argument can hold it")
		}
		got, err := exec.Command("sh", "-c", "printf %s "+Quote(text)).Output()
		if err != nil || string(got) != text {
			t.Errorf("the shell reads %q for %q (%v)", got, text, err)
		}
	})
}
