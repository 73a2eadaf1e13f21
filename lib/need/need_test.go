package need

import (
	"fmt"
	"testing"
)

// outcome is a test that ends as a test does, and remembers why.
type outcome struct {
	testing.TB
}

func (o *outcome) Helper() {}

func (o *outcome) Skipf(format string, a ...any) { panic("skip: " + fmt.Sprintf(format, a...)) }

func (o *outcome) Fatalf(format string, a ...any) { panic("fail: " + fmt.Sprintf(format, a...)) }

func TestMissing(t *testing.T) {
	for value, want := range map[string]string{
		"":     "skip: SKIPPED, needs perf",
		"full": "fail: MISSING, needs perf",
	} {
		t.Setenv("VPERF_TEST", value)
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("VPERF_TEST=%s: %v, want %s", value, got, want)
				}
			}()
			Missing(&outcome{}, "needs %s", "perf")
		}()
	}
}
