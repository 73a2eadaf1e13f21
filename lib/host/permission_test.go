package host

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"vperf/lib/perf"
	"vperf/lib/record"
)

// dockerDefault is the capabilities that docker leaves to a container's root.
const dockerDefault = 0xa80425fb

// situation is an entry of testdata/permissions.json: who wants what of which kernel.
type situation struct {
	N           int
	Flavour     string
	Paranoid    *string
	UID         int
	Caps        json.RawMessage // a list of names, or "all", or "docker default"
	Want        string
	Kernel      string
	Lockdown    string
	Seccomp     int
	TracefsMode string `json:"tracefs_mode"`
	Answer      string // what it begins with, and words that must be in the reason
	Reason      []string
	Cause       record.Cause
}

func (s situation) permissions(t *testing.T) permissions {
	t.Helper()
	p := permissions{
		flavour:  s.Flavour,
		kernel:   s.Kernel,
		seccomp:  s.Seccomp == 2,
		lockdown: parseLockdown(s.Lockdown),
		tracefs:  "/sys/kernel/tracing",
	}
	if s.Flavour == "mainline" || s.Flavour == "any" {
		p.flavour = ""
	}
	if p.kernel == "" {
		p.kernel = "6.8.0"
	}
	if s.TracefsMode != "" && s.UID != 0 {
		p.tracefs = ""
	}
	if s.Paranoid != nil {
		level, err := strconv.Atoi(strings.TrimSpace(*s.Paranoid))
		if err != nil {
			t.Fatal(err)
		}
		p.paranoid = &level
	}
	var names []string
	switch caps := string(s.Caps); caps {
	case `"all"`:
		p.caps = 1<<41 - 1
	case `"docker default"`:
		p.caps = dockerDefault
	default:
		if err := json.Unmarshal(s.Caps, &names); err != nil {
			t.Fatal(err)
		}
	}
	for number, name := range capabilityNames {
		for _, wanted := range names {
			if name == wanted {
				p.caps |= 1 << number
			}
		}
	}
	return p
}

// use finds what the words want.
func (s situation) use(t *testing.T) use {
	t.Helper()
	switch want := s.Want; {
	case strings.Contains(want, "user code"), want == "anything":
		return useUser
	case strings.Contains(want, "kernel"):
		return useKernel
	case want == "-a":
		return useSystem
	case strings.Contains(want, "tracepoint"):
		return useTracepoint
	}
	t.Fatalf("no use is called %q", s.Want)
	return 0
}

func readSituations(t *testing.T, path string) []situation {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("SKIPPED, needs %s", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	var situations []situation
	if err := json.Unmarshal(text, &situations); err != nil {
		t.Fatal(err)
	}
	if len(situations) == 0 {
		t.Fatal("no situations")
	}
	return situations
}

func TestPredict(t *testing.T) {
	for _, s := range readSituations(t, "testdata/permissions.json") {
		t.Run(fmt.Sprint(s.N), func(t *testing.T) {
			got, cause, why := s.permissions(t).predict(s.use(t))
			if string(got) != s.Answer || cause != s.Cause {
				t.Errorf("%s: got %s (%s): %s; want %s (%s)", s.Want, got, cause, why, s.Answer, s.Cause)
			}
			for _, words := range s.Reason {
				if !strings.Contains(why, words) {
					t.Errorf("%s: reason %q lacks %q", s.Want, why, words)
				}
			}
		})
	}
}

// The table that testdata/permissions.json was made from, where it is present.
func TestPredictCases(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "cases", "DOC-001")
	situations := readSituations(t, filepath.Join(dir, "input.json"))
	text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]string
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	for _, s := range situations {
		want, _, _ := strings.Cut(expected[fmt.Sprint(s.N)], ":")
		want, _, _ = strings.Cut(want, ",")
		want, _, _ = strings.Cut(want, " ")
		if got, _, why := s.permissions(t).predict(s.use(t)); string(got) != want {
			t.Errorf("%d: %s: got %s: %s; want %s", s.N, s.Want, got, why, expected[fmt.Sprint(s.N)])
		}
	}
}

func TestReadPermissions(t *testing.T) {
	here, _ := machine(t, "testdata/permissions.txtar")
	got := here.permissions(nil)
	if got.paranoid == nil || *got.paranoid != -1 {
		t.Errorf("paranoid %v", got.paranoid)
	}
	if !got.seccomp || !got.namespace || got.lockdown != "integrity" || got.flavour != "ubuntu" || got.tracefs != "/sys/kernel/debug/tracing" || got.own != dockerDefault {
		t.Errorf("got %+v", got)
	}
	if got.privileged() {
		t.Error("capabilities of a user namespace count")
	}
	if point := here.mountPoint("tracefs"); point != "/sys/kernel/debug/tracing" {
		t.Errorf("tracefs is mounted at %q", point)
	}
}

func TestNamespace(t *testing.T) {
	level := 2
	p := permissions{paranoid: &level, kernel: "6.8.0", caps: 1<<41 - 1, namespace: true, tracefs: "/x"}
	if got, _, why := p.predict(useKernel); got != no || !strings.Contains(why, "user namespace") {
		t.Errorf("got %s: %s", got, why)
	}
}

func TestFixes(t *testing.T) {
	if got, want := paranoidFix(1), "sudo sysctl -w kernel.perf_event_paranoid=1 && echo kernel.perf_event_paranoid=1 | sudo tee /etc/sysctl.d/99-perf.conf"; got != want {
		t.Errorf("got %s", got)
	}
	for _, test := range []struct {
		kernel string
		perf   *perf.Perf
		want   string
	}{
		{"6.8.0", &perf.Perf{Path: "/usr/bin/perf", ELF: "/usr/lib/linux-tools-6.8.0-40/perf", Script: true}, "sudo setcap cap_perfmon,cap_sys_ptrace,cap_dac_read_search=ep /usr/lib/linux-tools-6.8.0-40/perf"},
		{"5.4.0", &perf.Perf{Path: "/opt/my perf", ELF: "/opt/my perf"}, "sudo setcap cap_sys_admin,cap_sys_ptrace,cap_dac_read_search=ep '/opt/my perf'"},
		{"6.8.0", &perf.Perf{Path: "/usr/bin/perf", Script: true}, ""}, // never on a script
		{"6.8.0", nil, ""},
	} {
		if got := (permissions{kernel: test.kernel}).setcapFix(test.perf); got != test.want {
			t.Errorf("%s, %v: got %q, want %q", test.kernel, test.perf, got, test.want)
		}
	}
	for _, test := range []struct{ mounts, want string }{
		{"none /sys/kernel/tracing tracefs rw,nosuid 0 0\n", "sudo mount -o remount,mode=755,gid=$(id -g) /sys/kernel/tracing"},
		{"proc /proc proc rw 0 0\n", "sudo mount -t tracefs -o mode=755,gid=$(id -g) nodev /sys/kernel/tracing"},
	} {
		p := &prober{tree: files("proc/self/mounts", test.mounts)}
		if got := p.fix(record.CauseTracefsDenied, useTracepoint); got != test.want {
			t.Errorf("%q: got %q, want %q", test.mounts, got, test.want)
		}
	}
}

func TestKernelAddresses(t *testing.T) {
	for _, test := range []struct {
		kallsyms string
		want     bool
	}{
		{"0000000000000000 A fixed_percpu_data\n0000000000000000 T _stext\n", false},
		{"0000000000000000 A fixed_percpu_data\nffffffff81000000 T _stext\n", true},
		{"0000000000001000 A cpu_debug_store\n0000000000000000 T _stext\n", false}, // offsets are no addresses
		{"", false},
	} {
		if got := files("proc/kallsyms", test.kallsyms).kernelAddresses(); got != test.want {
			t.Errorf("%q: got %v", test.kallsyms, got)
		}
	}
}

func TestParseStatus(t *testing.T) {
	got := parseStatus("Name:\tCapEff: x\nCapPrm:\t000001ffffffffff\nCapEff:\t0000004000000004\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t0\n")
	if want := (status{caps: 1<<capPerfmon | 1<<capDACReadSearch, seccomp: 2, noNewPrivs: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCapabilityNames(t *testing.T) {
	for caps, want := range map[capabilities]string{
		0:                                    "none",
		1 << capPerfmon:                      "cap_perfmon",
		1<<capPerfmon | 1<<capSysPtrace:      "cap_sys_ptrace,cap_perfmon",
		dockerDefault:                        "14 others",
		1<<capSyslog | 1<<capSysAdmin | 0b10: "cap_sys_admin,cap_syslog,1 others",
	} {
		if got := caps.String(); got != want {
			t.Errorf("%x: got %q, want %q", uint64(caps), got, want)
		}
	}
}

// attributes of security.capability, as setcap writes them.
var attributes = []struct {
	name, bytes string
	want        capabilities
	valid       bool
}{
	{"perfmon,ptrace,dac_read_search=ep", "\x01\x00\x00\x02\x04\x00\x08\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00", 1<<capPerfmon | 1<<capSysPtrace | 1<<capDACReadSearch, true},
	{"the same =p", "\x00\x00\x00\x02\x04\x00\x08\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00", 0, true},
	{"revision 3", "\x01\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00\xe8\x03\x00\x00", 1 << capPerfmon, true},
	{"revision 1", "\x01\x00\x00\x01\x00\x00\x20\x00\x00\x00\x00\x00", 1 << capSysAdmin, true},
	{"revision 4", "\x01\x00\x00\x04\x00\x00\x20\x00\x00\x00\x00\x00", 0, false},
	{"revision 2, cut", "\x01\x00\x00\x02\x04\x00\x08\x00", 0, false},
	{"short", "\x01\x00", 0, false},
	{"empty", "", 0, false},
}

func TestParseFileCapabilities(t *testing.T) {
	for _, test := range attributes {
		got, err := parseFileCapabilities([]byte(test.bytes))
		if got != test.want || (err == nil) != test.valid {
			t.Errorf("%s: got %v, %v; want %v", test.name, got, err, test.want)
		}
	}
}

func FuzzParseFileCapabilities(f *testing.F) {
	for _, a := range attributes {
		f.Add([]byte(a.bytes))
	}
	f.Fuzz(func(t *testing.T, attribute []byte) {
		caps, err := parseFileCapabilities(attribute)
		if err != nil && caps != 0 {
			t.Errorf("%x: %v beside %v", attribute, caps, err)
		}
		if caps != 0 && attribute[0]&1 == 0 {
			t.Errorf("%x: %v without the effective bit", attribute, caps)
		}
	})
}

func TestReleaseAtLeast(t *testing.T) {
	for _, test := range []struct {
		release string
		want    bool
	}{
		{"5.8.0", true},
		{"5.8", true},
		{"5.10.0-32-amd64", true},
		{"6.1-rc3", true},
		{"10.0", true},
		{"5.7.19", false},
		{"5.4.0-150-generic", false},
		{"4.19", false},
		{"", false},
		{"x", false},
	} {
		if got := releaseAtLeast(test.release, 5, 8); got != test.want {
			t.Errorf("%q: got %v", test.release, got)
		}
	}
}
