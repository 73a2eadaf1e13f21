// Package need is for tests that need more of a machine than Go.
package need

import (
	"os"
	"testing"
)

// Missing skips a test because something that `make test` installs, such as perf or node, is
// not there or does not work. What was not tested must not look tested: under `make test`,
// which sets VPERF_TEST=full, the test fails instead.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("VPERF_TEST") == "full" {
		t.Fatalf("MISSING, "+format, args...)
	}
	t.Skipf("SKIPPED, "+format, args...)
}
