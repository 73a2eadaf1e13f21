package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"vperf/lib/perf"
)

// needPerf returns the perf of this machine, and keeps other tests that record out until t
// ends, with the lock of lib/internal/perftest, which only lib may import. Without a perf
// it skips the test.
func needPerf(t *testing.T) *perf.Perf {
	t.Helper()
	p, err := perf.Find(t.Context())
	if err != nil {
		t.Skipf("SKIPPED, needs perf: %v", err)
	}
	name := filepath.Join(os.TempDir(), fmt.Sprintf("vperf-test-%d.lock", os.Getuid()))
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return p
}
