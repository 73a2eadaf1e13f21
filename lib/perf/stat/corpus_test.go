package stat

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files that people's perf wrote, from 4.x to 6.12: how many counts and lines of
// something else each holds, counted by hand. They lie beside the project and not in it.
func TestCorpus(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "shared", "corpus", "stat")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no corpus: %s is not there", dir)
	}
	want := map[string][2]int{
		"lkml/broken_trailing_comma_6.12-rc.json": {1, 0},
		"lkml/hybrid_default_6.5.json":            {12, 0},
		"lkml/hybrid_user_notcounted_6.x.csv":     {12, 0},
		"lkml/interval_hybrid.csv":                {7, 0},
		"lkml/interval_persocket_bug.csv":         {3, 0},
		"lkml/metric_only_none.json":              {0, 0},
		"lkml/percore_amd_multiplex_5.19.json":    {4, 0},
		"lkml/persocket_4.x-5.x.csv":              {8, 0},
		"lkml/spr_default_6.5.csv":                {8, 0},
		"lkml/topdown_group_notcounted_5.x.csv":   {6, 0},
		"lkml/uncore_metric_M_6.0.json":           {2, 0},
		"lkml/user_json_early.csv":                {4, 0},
		"local61/all.csv":                         {8, 0},
		"local61/cgroup.csv":                      {1, 0},
		"local61/default.csv":                     {8, 0},
		"local61/default.json":                    {8, 0},
		"local61/default.txt":                     {0, 12},
		"local61/interval.csv":                    {6, 0},
		"local61/interval.json":                   {6, 0},
		"local61/noaggr.csv":                      {16, 0},
		"local61/noaggr.json":                     {16, 0},
		"local61/percore.csv":                     {16, 0},
		"local61/percore.json":                    {16, 0},
		"local61/pernode.csv":                     {8, 0},
		"local61/persocket.csv":                   {8, 0},
		"local61/persocket.json":                  {8, 0},
		"local61/perthread.csv":                   {20, 0},
		"local61/perthread.json":                  {15, 0},
		"local61/repeat3.csv":                     {8, 0},
		"local61/semicolon.csv":                   {3, 0},
		"wild/sortnetsat_u_stat.txt":              {0, 9},
		"wild/zen4_pianoroom_stat.txt":            {0, 13},
	}
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		counts, r, _ := readFile(t, path)
		got := [2]int{len(counts), r.bad}
		if numbers, ok := want[filepath.ToSlash(name)]; ok {
			seen++
			if got != numbers {
				t.Errorf("%s: counts, other lines: got %v, want %v", name, got, numbers)
			}
		} else {
			t.Logf("%s: %v, not counted by hand", name, got)
		}
		for _, c := range counts {
			checkPrinted(t, name, c, counts)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen != len(want) {
		t.Errorf("%d of %d files are there", seen, len(want))
	}
}

// checkPrinted recomputes what perf printed behind a count, where it is a ratio of two counts
// of one scope and interval.
func checkPrinted(t *testing.T, file string, c Count, all []Count) {
	denominator := ""
	factor := 1.0
	switch c.Printed.Name {
	case "insn per cycle":
		denominator = "cycles"
	case "of all branches":
		denominator, factor = "branches", 100
	case "frontend cycles idle", "backend cycles idle":
		denominator, factor = "cycles", 100
	default:
		return
	}
	if !c.Known() {
		return
	}
	if file == "lkml/hybrid_default_6.5.json" && strings.HasPrefix(c.Event, "cpu_atom/") {
		return // that perf divided by the count of the other kind of core: 38790161 / 18685492 = 2.075951
	}
	for _, d := range all {
		if d.Scope != c.Scope || d.TimeNS != c.TimeNS || !d.Known() || !sameEvent(d.Event, c.Event, denominator) {
			continue
		}
		got := factor * c.Value / d.Value
		if math.Abs(got-c.Printed.Value) > 0.006 {
			t.Errorf("%s:%d: %v %s, perf says %v", file, c.Line, got, c.Printed.Name, c.Printed.Value)
		}
		return
	}
}

// sameEvent reports whether name is the event want, spelled as in event: with its PMU and modifiers.
func sameEvent(name, event, want string) bool {
	if i := strings.IndexByte(event, '/'); i >= 0 {
		j := strings.LastIndexByte(event, '/')
		return name == event[:i+1]+want+event[j:]
	}
	_, modifiers, _ := strings.Cut(event, ":")
	return name == strings.TrimSuffix(want+":"+modifiers, ":")
}
