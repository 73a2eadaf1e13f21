// Package perftest serves tests that run the real perf.
package perftest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"vperf/lib/need"
	"vperf/lib/perf"
)

// Lock keeps every other test that calls Lock out, in whatever process it runs, until t
// ends: recordings that run at the same time multiplex each other's counters.
func Lock(t testing.TB) {
	t.Helper()
	// The name has to be known to all, so the file is only used where it is ours: a plain
	// file of this user's, not a link to something else.
	name := filepath.Join(os.TempDir(), fmt.Sprintf("vperf-test-%d.lock", os.Getuid()))
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		t.Fatalf("lock of the perf tests: %v", err)
	}
	t.Cleanup(func() { file.Close() }) // which unlocks
	info, err := file.Stat()
	if err != nil {
		t.Fatalf("lock of the perf tests: %v", err)
	}
	if stat := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() || int(stat.Uid) != os.Getuid() {
		t.Fatalf("lock of the perf tests: %s is not a file of this user", name)
	}
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX)
		if err == nil {
			return
		}
		if !errors.Is(err, unix.EINTR) {
			t.Fatalf("lock of the perf tests: %v", err)
		}
	}
}

// NeedPerf returns the perf of this machine and takes [Lock]; without a perf
// the test ends, see [need.Missing].
func NeedPerf(t testing.TB) *perf.Perf {
	t.Helper()
	p, err := perf.Find(t.Context())
	if err != nil {
		need.Missing(t, "needs perf: %v", err)
	}
	Lock(t)
	return p
}
