package main

import (
	"bytes"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"vperf/lib/perf/script"
	"vperf/lib/stack"
)

// corpus returns a directory beside the project that holds what other people recorded. It
// is not a part of the project, for its licences differ.
func corpus(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", filepath.FromSlash(name))
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("SKIPPED, needs ../shared/%s beside the project: %v", name, err)
	}
	return dir
}

// folded folds a text as the command does, and returns weights by line.
func foldedLines(t *testing.T, text []byte, o *options) map[string]uint64 {
	t.Helper()
	sink := newFileSink(o, fileFormats["folded"], catalogue{})
	r := script.NewReader(bytes.NewReader(text))
	r.Addresses = o.naming.Addresses
	f := newFolder(o, sink, noRun)
	f.fold(r)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if n := f.out + f.allDropped(); n != f.in {
		t.Errorf("%d samples in, but %d out or dropped", f.in, n)
	}
	e, _ := sink.choose()
	if e == nil {
		return nil
	}
	var out bytes.Buffer
	if err := sink.format.write(&out, sink, e); err != nil {
		t.Fatal(err)
	}
	return parseFolded(t, out.Bytes())
}

func parseFolded(t *testing.T, text []byte) map[string]uint64 {
	t.Helper()
	lines := map[string]uint64{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		i := strings.LastIndexByte(line, ' ')
		if i < 0 {
			continue
		}
		n, err := strconv.ParseUint(line[i+1:], 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines[line[:i]] += n
	}
	return lines
}

// shorten does to lines what the collapsers of FlameGraph and inferno do to names and
// vp-fold does not: see the documentation of lib/perf/script.
func shorten(lines map[string]uint64, shortName func(comm, name string) string) map[string]uint64 {
	short := map[string]uint64{}
	for line, n := range lines {
		elements := strings.Split(line, ";")
		comm := elements[0]
		kept := []string{strings.ReplaceAll(comm, " ", "_")}
		for _, e := range elements[1:] {
			mark := ""
			for _, m := range []string{"_[k]", "_[j]", "_[i]"} {
				if cut, ok := strings.CutSuffix(e, m); ok {
					e, mark = cut, m
				}
			}
			if strings.HasPrefix(e, "(") || e == "[no stack]" {
				continue
			}
			kept = append(kept, shortName(comm, e)+mark)
		}
		short[strings.Join(kept, ";")] += n
	}
	return short
}

var goMethod = regexp.MustCompile(`\.\(.*\)\.`)

// perlName cuts parameters and quotes from names.
func perlName(comm, name string) string {
	if !goMethod.MatchString(name) {
		for i := 0; i < len(name); i++ {
			if name[i] == '(' && !strings.HasPrefix(name[i:], "(anonymous namespace)") {
				name = name[:i]
				break
			}
		}
	}
	name = strings.NewReplacer(`"`, "", "'", "").Replace(name)
	if comm == "java" && strings.Contains(name, "/") {
		name = strings.TrimPrefix(name, "L")
	}
	return name
}

var (
	rustHash  = regexp.MustCompile(`::h[0-9a-f]{16}$`)
	rustParts = strings.NewReplacer("$LT$", "<", "$GT$", ">", "$u7b$", "{", "$u7d$", "}", "$u20$", " ",
		"$RF$", "&", "$BP$", "*", "$C$", ",", "$u5b$", "[", "$u5d$", "]", "$LP$", "(", "$RP$", ")", "$u27$", "'", "..", "::")
)

// infernoName repairs half-demangled Rust names and cuts parameters outside of brackets.
func infernoName(_, name string) string {
	if rustHash.MatchString(name) {
		name = rustParts.Replace(strings.TrimPrefix(rustHash.ReplaceAllString(name, ""), "_"))
	}
	depth, dot := 0, -1
	for i := range len(name) {
		switch name[i] {
		case '<', '{', '[':
			depth++
		case '>', '}', ']', ')':
			depth--
		case '.':
			dot = i
		case '(':
			if depth == 0 && dot != i-1 && !strings.HasPrefix(name[i:], "(anonymous namespace)") {
				return name[:i]
			}
			depth++
		}
	}
	return name
}

func sum(lines map[string]uint64) (total uint64) {
	for _, n := range lines {
		total += n
	}
	return total
}

func difference(got, want map[string]uint64) (diff []string) {
	for line, n := range got {
		if want[line] != n {
			diff = append(diff, "have "+strconv.FormatUint(n, 10)+" "+line)
		}
	}
	for line, n := range want {
		if got[line] != n {
			diff = append(diff, "want "+strconv.FormatUint(n, 10)+" "+line)
		}
	}
	return diff
}

// TestAgainstCollapsers compares folded text with what the authors of the other collapsers
// keep as their results.
func TestAgainstCollapsers(t *testing.T) {
	dir := filepath.Join(corpus(t, "corpus/script"))
	results, _ := filepath.Glob(filepath.Join(dir, "results/*/*.txt"))
	wild, _ := filepath.Glob(filepath.Join(dir, "wild/*.folded"))
	if len(results) == 0 || len(wild) == 0 {
		t.Fatal("no results")
	}
	match := 0
	for _, result := range append(results, wild...) {
		name := strings.TrimSuffix(filepath.Base(result), filepath.Ext(result))
		tool := filepath.Base(filepath.Dir(result))
		base, opt, _ := strings.Cut(name, "-collapsed")
		opt = strings.TrimPrefix(opt, "-")
		text := findText(dir, tool, base)
		if text == nil {
			continue
		}
		t.Run(tool+"/"+name, func(t *testing.T) {
			o := &options{to: math.MaxInt64, root: "comm"}
			switch opt {
			case "pid", "tid":
				o.root = "thread"
			case "kernel", "jit", "all", "addrs":
				o.naming = stack.Naming{Mark: opt != "addrs", Addresses: opt == "addrs"}
			}
			shortName := perlName
			if tool == "inferno" {
				shortName = infernoName
			} else if !bytes.HasSuffix(text, []byte("\n\n")) {
				// The script loses the last sample if no blank line follows it.
				text = text[:bytes.LastIndex(text, []byte("\n\n"))+2]
			}
			first := script.NewReader(bytes.NewReader(text))
			if first.Next() {
				o.event = first.Sample().Event
			}
			if name == "tgl_5.4_dwarf" {
				o.samples = true // made by a script that counted
			}
			data, err := os.ReadFile(result)
			if err != nil {
				t.Fatal(err)
			}
			want := corrected(tool+"/"+base, parseFolded(t, data))
			got := shorten(foldedLines(t, text, o), shortName)
			got, want = alike(got, opt), alike(want, opt)
			diff := difference(got, want)
			if len(diff) > 0 {
				t.Errorf("%d lines differ of %d; total %d, want %d:\n%s", len(diff), len(want), sum(got), sum(want), strings.Join(diff[:min(len(diff), 6)], "\n"))
				return
			}
			match++
		})
	}
	t.Logf("%d results are the same line by line", match)
}

// corrected changes results in what is wrong about them.
func corrected(name string, lines map[string]uint64) map[string]uint64 {
	switch name {
	case "flamegraph/perf-vertx-stacks-01":
		// A frame without symbol, "7f1e2215d058  (/lib/x86_64-linux-gnu/libc-2.15.so)", is
		// a blank element there.
		for line, n := range maps.Clone(lines) {
			if whole, ok := strings.CutSuffix(line, "; "); ok {
				delete(lines, line)
				lines[whole+";[libc-2.15.so]"] = n
			}
		}
	case "inferno/single-line-stacks":
		delete(lines, "false;_dl_start") // of the other event
	}
	return lines
}

// alike removes what one option of the others does and ours does not do apart.
func alike(lines map[string]uint64, opt string) map[string]uint64 {
	keep := map[string]string{"kernel": "_[k]", "jit": "_[j]", "all": "_[k] _[j] _[i]"}[opt]
	out := map[string]uint64{}
	for line, n := range lines {
		elements := strings.Split(line, ";")
		for i, e := range elements {
			for _, m := range []string{"_[k]", "_[j]", "_[i]"} {
				if cut, ok := strings.CutSuffix(e, m); ok && !strings.Contains(keep, m) {
					elements[i] = cut
				}
			}
		}
		if opt == "pid" { // ours names the thread as well
			if i := strings.LastIndexByte(elements[0], '/'); i >= 0 {
				elements[0] = elements[0][:i]
			}
		}
		if strings.HasPrefix(elements[len(elements)-1], "[libc-2.15.so <") {
			elements[len(elements)-1] = "[libc-2.15.so]" // see corrected
		}
		out[strings.Join(elements, ";")] += n
	}
	return out
}

func findText(dir, tool, base string) []byte {
	for _, sub := range []string{tool, "flamegraph", "inferno"} {
		if text, err := os.ReadFile(filepath.Join(dir, sub, base+".txt")); err == nil {
			return text
		}
	}
	return nil
}
