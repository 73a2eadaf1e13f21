package perftest

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed standin.sh
var standIn string

// StandIn writes a shell script into dir that answers like perf on a machine which is not
// at hand, and returns its path, "dir/perf". The machines:
//
//	amd        a PMU with six counters, two events unmapped and one that counts 0
//	hybrid     an Intel part with two core types
//	busy       a PMU whose counters are all held by others
//	countonly  a PMU that counts but does not interrupt
//	vm         no PMU, as root
//	vm-user    no PMU, as a user at perf_event_paranoid 2
//	eacces     perf_event_open refused by perf_event_paranoid
//	eperm      perf_event_open refused by seccomp
//	wrapper    the script of a distribution, without a perf for this kernel
//	hang       nothing but --version ever ends
//	garbage    output that is not perf's
func StandIn(t testing.TB, dir, machine string) string {
	t.Helper()
	path := filepath.Join(dir, "perf")
	script := strings.Replace(standIn, "@MACHINE@", machine, 1)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
