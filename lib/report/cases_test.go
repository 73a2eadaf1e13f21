package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"vperf/lib/record"
	"vperf/lib/report"
)

// The folded stacks that broke other tools stand beside the project, not in it.
func openCase(t *testing.T, name string) (folded *os.File, expected map[string]any) {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "cases", name)
	f, err := os.Open(filepath.Join(dir, "input.folded"))
	if err != nil {
		t.Skipf("case %s is not here: %v", name, err)
	}
	t.Cleanup(func() { f.Close() })
	text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	return f, expected
}

func TestCaseEscape(t *testing.T) {
	folded, expected := openCase(t, "HTML-001")
	p := report.New()
	if err := p.ReadFolded("case", folded, func(q record.Problem) { t.Error(q) }); err != nil {
		t.Fatal(err)
	}
	head, _ := block(t, html(t, p, ""))
	names := head["functions"].([]any)
	for _, want := range expected["names_after_parsing_the_page_data"].([]any) {
		if !slices.Contains(names, want) {
			t.Errorf("no function %q in %q", want, names)
		}
	}
}
