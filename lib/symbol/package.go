package symbol

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// debugHint says how to get the names of a stripped file.
func (f *Finder) debugHint(path string) string {
	switch name := f.debianPackage(path); {
	case name == "libc6":
		return "apt install libc6-dbg"
	case name != "":
		return "apt install " + name + "-dbgsym (from Debian's debug archive, ddebs on Ubuntu)"
	}
	for _, db := range []string{"/usr/lib/sysimage/rpm", "/var/lib/rpm"} {
		if _, err := os.Stat(f.SymFS + db); err == nil && strings.HasPrefix(path, "/usr/") {
			return "dnf debuginfo-install " + path
		}
	}
	return "do not strip it, or keep its debug file next to it (objcopy --add-gnu-debuglink)"
}

// debianPackage returns the package that a file of Debian or its descendants came in, or
// "": /var/lib/dpkg/info/PACKAGE[:ARCH].list has the paths of each, one a line.
func (f *Finder) debianPackage(path string) string {
	lists, err := filepath.Glob(f.SymFS + "/var/lib/dpkg/info/*.list")
	if err != nil {
		return ""
	}
	// A package may still say /lib where a link leads to /usr/lib.
	old, _ := strings.CutPrefix(path, "/usr")
	wanted := [][]byte{[]byte("\n" + old + "\n"), []byte("\n/usr" + old + "\n")}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue
		}
		for _, w := range wanted {
			if bytes.Contains(text, w) {
				name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(list), ".list"), ":")
				return name
			}
		}
	}
	return ""
}
