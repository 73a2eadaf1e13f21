package host

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// A tree is the root of a file system that holds /proc and /sys: the machine's own, or a
// test's. Paths are written without the leading slash.
type tree struct{ fs.FS }

// here is this machine.
var here = tree{os.DirFS("/")}

// text returns the contents of a file without the blanks around it, and whether it could be read.
func (t tree) text(path string) (string, bool) {
	data, err := fs.ReadFile(t.FS, path)
	if err != nil {
		return "", false
	}
	return strings.Trim(string(data), " \t\r\n\x00"), true
}

// word is text for files where an unreadable one and an empty one mean the same.
func (t tree) word(path string) string {
	text, _ := t.text(path)
	return text
}

// number returns the integer that a file holds.
func (t tree) number(path string) (int64, bool) {
	text, ok := t.text(path)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

func (t tree) exists(path string) bool {
	_, err := fs.Stat(t.FS, path)
	return err == nil
}

// maxCPUs bounds what a list may name: the kernel's own limit is 8192.
const maxCPUs = 1 << 16

// parseList expands the kernel's lists of CPUs and nodes: "0-3,8,10-11". What is not a
// list gives none.
func parseList(list string) []int {
	var found []int
	for field := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		low, high, isRange := strings.Cut(field, "-")
		first, err := strconv.Atoi(low)
		if err != nil || first < 0 {
			return nil
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(high); err != nil {
				return nil
			}
		}
		if last < first || last >= maxCPUs || len(found) > maxCPUs {
			return nil
		}
		for n := first; n <= last; n++ {
			found = append(found, n)
		}
	}
	return found
}
