package perf

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"vperf/lib/shell"
)

// NotFound is the error of [Find]: there is no perf, or what is called perf does not work.
type NotFound struct {
	Path   string   // the file that does not work; empty when there is none
	Script bool     // Path is a script
	Reason string   // one sentence, without period
	Usable []string // ELF files elsewhere on this machine that answer, newest first

	install string // the command that helps where no other perf is usable
}

// forgetPERF helps where the environment variable names a file that is no perf.
const forgetPERF = "unset PERF"

// Error returns the reason.
func (e *NotFound) Error() string { return e.Reason }

// Hint returns a command that helps, as [NotFound.Fix], introduced by a few words.
func (e *NotFound) Hint() string {
	if len(e.Usable) > 0 {
		return "another perf works here, one of a different version usually does: " + e.Fix()
	}
	if e.install == "" {
		return "install the perf package of your distribution"
	}
	if e.install == forgetPERF {
		return "perf may be there under its own name: " + e.install
	}
	return "install it: " + e.install
}

// Fix returns the command to paste: the choice of a perf that is there already, else the
// installation of one; empty on an unknown distribution.
func (e *NotFound) Fix() string {
	if len(e.Usable) > 0 {
		return "export PERF=" + shell.Quote(e.Usable[0])
	}
	return e.install
}

// toolPatterns is where distributions put the perf of a certain kernel. The order matters
// only between files of the same version.
var toolPatterns = []string{
	"usr/lib/linux-tools/*/perf",
	"usr/lib/linux-tools-*/perf",
	"usr/bin/perf_*",
}

// usable returns the ELF files that answer as perf, newest first.
func (f finder) usable(ctx context.Context) []string {
	var found []string
	seen := make(map[string]bool) // usr/lib/linux-tools/* is mostly links to usr/lib/linux-tools-*
	for _, candidate := range f.candidates() {
		real, err := filepath.EvalSymlinks(candidate)
		if err != nil || seen[real] {
			continue
		}
		seen[real] = true
		if kind, err := kindOf(real); err != nil || kind != kindELF {
			continue
		}
		if _, err := ask(ctx, candidate); err == nil {
			found = append(found, candidate)
		}
	}
	return found
}

// candidates returns the files that are called like a perf, newest first by their path.
func (f finder) candidates() []string {
	var found []string
	for _, pattern := range toolPatterns {
		matches, _ := filepath.Glob(filepath.Join(f.root, pattern)) // only a bad pattern fails
		found = append(found, matches...)
	}
	slices.SortStableFunc(found, func(a, b string) int { return -compareVersions(a, b) })
	return found
}

// wrapped returns the ELF file behind a wrapper script: that of the running kernel, as the
// scripts look for it. The answer must be the script's own, or it is another file.
func (f finder) wrapped(ctx context.Context, version string) string {
	base, _, _ := strings.Cut(f.kernel, "-") // 6.8.0
	abi := f.kernel                          // 6.8.0-40, without the flavour
	if parts := strings.SplitN(f.kernel, "-", 3); len(parts) == 3 {
		abi = parts[0] + "-" + parts[1]
	}
	short := base // 6.8
	if parts := strings.SplitN(base, ".", 3); len(parts) == 3 {
		short = parts[0] + "." + parts[1]
	}
	for _, path := range []string{
		"usr/lib/linux-tools/" + f.kernel + "/perf",
		"usr/lib/linux-tools-" + abi + "/perf",
		"usr/bin/perf_" + abi,
		"usr/bin/perf_" + base,
		"usr/bin/perf_" + short,
	} {
		path, err := filepath.EvalSymlinks(filepath.Join(f.root, path))
		if err != nil {
			continue
		}
		if kind, err := kindOf(path); err != nil || kind != kindELF {
			continue
		}
		if answer, err := ask(ctx, path); err == nil && answer == version {
			return path
		}
	}
	return ""
}

// compareVersions orders by the numbers in the two strings, as they come: 6.10 is above
// 6.8, and 5.15.0-91 above 5.15.0. It returns -1, 0 or 1.
func compareVersions(a, b string) int { return slices.Compare(numbers(a), numbers(b)) }

func numbers(text string) []int {
	var found []int
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(field); err == nil {
			found = append(found, n)
		}
	}
	return found
}

func without(paths []string, path string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return p == path })
}

// installCommand returns how this distribution installs perf, or "".
func (f finder) installCommand() string {
	release, err := os.ReadFile(filepath.Join(f.root, "etc/os-release"))
	if err != nil {
		return ""
	}
	var id, like string
	for line := range strings.Lines(string(release)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch value = strings.Trim(value, `"'`); name {
		case "ID":
			id = value
		case "ID_LIKE":
			like = value
		}
	}
	for _, name := range append([]string{id}, strings.Fields(like)...) {
		switch name {
		case "ubuntu":
			return "sudo apt-get install linux-tools-common linux-tools-generic"
		case "debian":
			return "sudo apt-get install linux-perf"
		case "fedora", "rhel", "centos", "amzn":
			return "sudo dnf install perf"
		case "arch":
			return "sudo pacman -S perf"
		case "suse", "opensuse":
			return "sudo zypper install perf"
		case "alpine":
			return "sudo apk add perf"
		}
	}
	return ""
}
