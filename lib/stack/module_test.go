package stack

import "testing"

func TestModuleName(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/lib/libc.so.6":  "libc.so.6",
		"/lib/x.so (deleted)": "x.so",
		"app":                 "app",
		"[kernel.kallsyms]":   "[kernel.kallsyms]",
		"[anon:/dev/shm/a]":   "[anon:/dev/shm/a]",
		"//anon":              "anon",
		"/":                   "/",
		"dir/":                "dir/",
		"":                    "",
	} {
		if got := ModuleName(path); got != want {
			t.Errorf("ModuleName(%q) = %q, want %q", path, got, want)
		}
	}
}
