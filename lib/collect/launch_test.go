package collect

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, mode := range map[string]os.FileMode{"a/tool": 0o755, "b/tool": 0o755, "a/data": 0o644, "b/data": 0o755, "a/only": 0o644, "here": 0o755} {
		os.MkdirAll(filepath.Dir(name), 0o755)
		if err := os.WriteFile(name, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+"/a:"+dir+"/nosuch:"+dir+"/b:"+dir+"/here")
	for _, test := range []struct {
		name, path string
		status     int
	}{
		{"tool", dir + "/a/tool", 0},
		{"data", dir + "/b/data", 0}, // one that cannot be executed is passed over
		{"only", "", statusNotExecutable},
		{"none", "", statusNotFound},
		{"here", "", statusNotFound}, // not in PATH
		{"./here", "./here", 0},
		{"a/only", "", statusNotExecutable},
		{"./a", "", statusNotExecutable},
		{"./here/x", "", statusNotFound},
		{"", "", statusNotFound},
	} {
		path, err := lookPath(test.name)
		var start *StartError
		if errors.As(err, &start) {
			if start.Status != test.status {
				t.Errorf("%q: status %d, want %d: %v", test.name, start.Status, test.status, err)
			}
		} else if err != nil || test.status != 0 || path != test.path {
			t.Errorf("%q: %q, %v", test.name, path, err)
		}
	}
	t.Setenv("PATH", ":"+dir+"/a") // an empty entry is the working directory
	if path, err := lookPath("here"); path != "./here" || err != nil {
		t.Errorf("empty entry: %q, %v", path, err)
	}
}
