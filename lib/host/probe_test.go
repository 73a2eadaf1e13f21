package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"vperf/lib/perf"
	"vperf/lib/perf/perftest"
	"vperf/lib/record"
	"vperf/lib/shell"
)

// standIn returns a prober for a machine of perftest.StandIn, on which an ordinary user
// meets perf_event_paranoid at a level.
func standIn(t *testing.T, machine string, level int) *prober {
	t.Helper()
	path := perftest.StandIn(t, t.TempDir(), machine)
	return &prober{
		tree:  files("proc/sys/kernel/nmi_watchdog", "1\n"),
		limit: trialTime,
		perf:  &perf.Perf{Path: path, ELF: "/usr/lib/linux-tools/6.8.0-40-generic/perf", Script: true, Version: "6.1.187"},
		perms: permissions{paranoid: &level, flavour: "ubuntu", kernel: "6.8.0-40-generic"},
	}
}

// trials runs what asks perf, and returns what it found by name.
func (p *prober) trials(t *testing.T) map[string]record.Capability {
	t.Helper()
	p.probeEvents(t.Context())
	trial := p.record(t.Context())
	p.probeScheduler(t.Context(), trial)
	p.probeSampling(trial)
	found := make(map[string]record.Capability)
	for _, c := range p.found {
		found[c.Name] = c
	}
	return found
}

func TestTrials(t *testing.T) {
	setcap := "sudo setcap cap_perfmon,cap_sys_ptrace,cap_dac_read_search=ep /usr/lib/linux-tools/6.8.0-40-generic/perf"
	watchdog := "sudo sysctl -w kernel.nmi_watchdog=0"
	type want struct {
		status record.Status
		cause  record.Cause
		detail string // that it contains
		fix    string
	}
	for _, test := range []struct {
		machine string
		level   int
		guest   string
		want    map[string]want
	}{
		{"amd", 1, "", map[string]want{
			"cpu-clock":              {record.OK, "", "counts 0.51 msec", ""},
			"context-switches":       {record.OK, "", "counts 3", ""},
			PMU:                      {record.OK, "", "12 of 15 generic events count", ""},
			"cycles":                 {record.OK, "", "counts 1200345", ""},
			"dTLB-loads":             {record.OK, "", "counts 1200345", ""}, // the eleventh event, on six counters
			"LLC-loads":              {record.Unsupported, record.CauseEventUnsupported, "not mapped on this processor", ""},
			"stalled-cycles-backend": {record.Missing, record.CauseEventNotCounted, "counts 0", ""},
			SchedTracepoints:         {record.OK, "", "sched:sched_switch can be recorded", ""},
			SwitchEvents:             {record.OK, "", "1 switches", ""},
			KernelSamples:            {record.OK, "", "1 of 3 samples", ""},
			Sampling:                 {record.OK, "", "cycles:P delivers samples (cycles count here)", ""},
		}},
		{"hybrid", 1, "", map[string]want{
			PMU:      {record.OK, "", "12 of 15", ""},
			"cycles": {record.OK, "", "counts 1200345", ""},
			Sampling: {record.OK, "", "cycles:P delivers samples", ""},
		}},
		{"busy", 1, "", map[string]want{
			PMU:      {record.Missing, record.CauseEventNotCounted, "others hold", watchdog},
			"cycles": {record.Missing, record.CauseEventNotCounted, "gets no counter", watchdog},
			Sampling: {record.OK, "", "cpu-clock delivers samples (cycles are not counted here", ""},
		}},
		{"countonly", 1, "kvm", map[string]want{
			PMU:      {record.OK, "", "12 of 15", ""},
			Sampling: {record.OK, "", "cpu-clock delivers samples (cycles count here but deliver no samples)", ""},
		}},
		{"vm", -1, "kvm", map[string]want{
			"page-faults": {record.OK, "", "counts 48", ""},
			PMU:           {record.Missing, record.CauseNoPMU, "the hypervisor (kvm) hides it", "use a host, or an instance type, that gives its guests a PMU (qemu: -cpu host,pmu=on)"},
			"cycles":      {record.Missing, record.CauseNoPMU, "no PMU", ""},
			"LLC-loads":   {record.Missing, record.CauseNoPMU, "no PMU", ""},
			Sampling:      {record.OK, "", "cpu-clock delivers samples", ""},
		}},
		{"vm", -1, "", map[string]want{
			PMU: {record.Missing, record.CauseNoPMU, "the kernel has no driver", ""},
		}},
		{"vm-user", 2, "kvm", map[string]want{
			"cpu-clock":        {record.OK, "", "of user code only", ""},
			"context-switches": {record.Denied, record.CausePerfEventParanoid, "counts 0 without a word", paranoidFix(1)},
			"cpu-migrations":   {record.Denied, record.CausePerfEventParanoid, "counts 0 without a word", paranoidFix(1)},
			SchedTracepoints:   {record.Denied, record.CausePerfEventParanoid, "perf_event_paranoid is 2, this needs -1", setcap},
			KernelSamples:      {record.Denied, record.CausePerfEventParanoid, "perf_event_paranoid is 2, this needs 1", paranoidFix(1)},
			Sampling:           {record.OK, "", "cpu-clock:u delivers samples", ""},
		}},
		{"eacces", 3, "", map[string]want{
			"cpu-clock":      {record.Denied, record.CausePerfEventParanoid, "perf_event_paranoid is 3, this needs 2", paranoidFix(1)},
			PMU:              {record.Denied, record.CausePerfEventParanoid, "perf_event_paranoid is 3", paranoidFix(1)},
			"cycles":         {record.Denied, record.CausePerfEventParanoid, "perf_event_paranoid is 3", ""},
			SchedTracepoints: {record.Denied, record.CausePerfEventParanoid, "this needs -1", setcap},
			Sampling:         {record.Denied, record.CausePerfEventParanoid, "perf_event_paranoid is 3", paranoidFix(1)},
		}},
		{"hang", 1, "", map[string]want{
			"cpu-clock":      {record.Missing, record.CauseTimedOut, "did not end within", ""},
			PMU:              {record.Missing, record.CauseTimedOut, "did not end within", ""},
			"cycles":         {record.Missing, record.CauseTimedOut, "did not end within", ""},
			SchedTracepoints: {record.Missing, record.CauseTimedOut, "did not end within", ""},
			Sampling:         {record.Missing, record.CauseTimedOut, "did not end within", ""},
		}},
		{"garbage", 1, "", map[string]want{
			"cpu-clock": {record.Missing, record.CauseNoPerfEvents, "what?", ""},
			PMU:         {record.Missing, record.CauseNoPerfEvents, "what?", ""},
			Sampling:    {record.Missing, record.CauseNoPerfEvents, "perf counts neither cycles nor cpu-clock: what?", ""},
		}},
	} {
		t.Run(test.machine, func(t *testing.T) {
			p := standIn(t, test.machine, test.level)
			p.guest = test.guest
			if test.machine == "hang" {
				p.limit = 300 * time.Millisecond
			}
			if test.level < 2 {
				p.perms.tracefs = "/sys/kernel/tracing"
			}
			start := time.Now()
			found := p.trials(t)
			if took := time.Since(start); test.machine == "hang" && took > 3*p.limit {
				t.Errorf("a perf that hangs costs %v", took)
			}
			for name, want := range test.want {
				got := found[name]
				if got.Status != want.status || got.Cause != want.cause || !strings.Contains(got.Detail, want.detail) || got.Fix != want.fix {
					t.Errorf("%s: got %+v, want %+v", name, got, want)
				}
			}
		})
	}
}

// A refusal that the files do not explain is told apart by what perf and the kernel say.
func TestSeccomp(t *testing.T) {
	p := standIn(t, "eperm", -1)
	p.perms.seccomp = true
	p.perms.tracefs = "/sys/kernel/tracing"
	p.perms.flavour = ""
	p.perms.caps = 1 << capPerfmon // predicted to work: then the filter is not docker's
	found := p.trials(t)
	for _, name := range []string{"cpu-clock", PMU, SchedTracepoints, Sampling} {
		if got := found[name]; got.Status != record.Denied || got.Cause != "" || got.Fix != "" || !strings.Contains(got.Detail, "Operation not permitted") {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	p.perms.caps = 0
	p.found = nil
	if got := p.trials(t)[Sampling]; got.Status != record.Denied || !strings.Contains(got.Detail, "a seccomp filter") {
		t.Errorf("got %+v", got)
	}
}

func TestChoose(t *testing.T) {
	for _, test := range []struct{ counts, event, why string }{
		{"1200345,,cycles,512345,100.00,,\n0.51,msec,cpu-clock,512345,100.00,,\n", "cycles:P", "cycles count here"},
		{"1200345,,cycles:u,512345,100.00,,\n", "cycles:Pu", "of user code only"},
		{"<not counted>,,cpu_atom/cycles/,0,0.00,,\n1200345,,cpu_core/cycles/u,512345,100.00,,\n", "cycles:Pu", "of user code only"},
		{"<not supported>,,cycles,0,100.00,,\n0.51,msec,cpu-clock,512345,100.00,,\n", "cpu-clock", "no PMU"},
		{"<not supported>,,cycles:u,0,100.00,,\n0.51,msec,cpu-clock:u,512345,100.00,,\n", "cpu-clock:u", "no PMU; of user code only"},
		{"0,,cycles,512345,100.00,,\n0.51,msec,cpu-clock,512345,100.00,,\n", "cpu-clock", "cycles count nothing here"},
		{"<not counted>,,cycles,0,0.00,,\n0.51,msec,cpu-clock,512345,100.00,,\n", "cpu-clock", "may hold them"},
		{"0.51,msec,cpu-clock,512345,100.00,,\n", "cpu-clock", "cycles cannot be counted"},
		{"0.51,msec,task-clock,512345,100.00,,\n", "", ""},
		{"", "", ""},
	} {
		event, why, ok := (&prober{tree: files("x", "")}).choose(parseCounts(test.counts))
		if event != test.event || !strings.Contains(why, test.why) || ok != (event != "") {
			t.Errorf("%q: got %q, %q, %v; want %q, %q", test.counts, event, why, ok, test.event, test.why)
		}
	}
}

func TestWhyNoCycles(t *testing.T) {
	readings := parseCounts("<not supported>,,cycles,0,100.00,,\n")
	guest, _ := machine(t, "testdata/hosts/firecracker-container.txtar")
	if got := newProber(guest, nil).whyNoCycles(readings); got != "no PMU: the hypervisor (kvm) hides it" {
		t.Errorf("got %q", got)
	}
	metal, _ := machine(t, "testdata/hosts/epyc-bare-metal.txtar")
	if got := newProber(metal, nil).whyNoCycles(readings); !strings.Contains(got, "although the kernel knows the PMU") {
		t.Errorf("got %q", got)
	}
}

func TestMessage(t *testing.T) {
	for _, test := range []struct {
		stderr  string
		want    string
		refused bool
	}{
		{"Error:\nAccess to performance monitoring and observability operations is limited.\nEnforced MAC policy settings (SELinux) can limit access\n", "Access to performance monitoring and observability operations is limited.", true},
		{"WARNING: Kernel address maps are restricted\n\nevent syntax error: 'x'\n", "event syntax error: 'x'", false},
		{"The sys_perf_event_open() syscall returned with 1 (Operation not permitted) for event (cycles).\n", "The sys_perf_event_open() syscall returned with 1 (Operation not permitted) for event (cycles).", true},
		{"", "exit status 255", false},
	} {
		o := outcome{stderr: []byte(test.stderr), err: errors.New("exit status 255")}
		if got := o.message(); got != test.want {
			t.Errorf("%q: got %q, want %q", test.stderr, got, test.want)
		}
		if got := o.refused(); got != test.refused {
			t.Errorf("%q: refused %v", test.stderr, got)
		}
	}
}

func TestSamplingEventFails(t *testing.T) {
	for machine, words := range map[string]string{
		"eacces":  "refused",
		"eperm":   "refused",
		"garbage": "perf counts neither cycles nor cpu-clock",
	} {
		p := standIn(t, machine, 1)
		_, _, err := SamplingEvent(t.Context(), p.perf)
		var refusal *Refusal
		if !errors.As(err, &refusal) {
			t.Errorf("%s: got %v", machine, err)
		} else if !strings.Contains(refusal.Error(), words) && !strings.Contains(refusal.Error(), "perf_event_paranoid") {
			t.Errorf("%s: got %q", machine, refusal.Error())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := SamplingEvent(ctx, standIn(t, "vm", 1).perf); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func FuzzParseCounts(f *testing.F) {
	f.Add("1200345,,cycles,512345,100.00,2.1,GHz\n")
	f.Add("<not supported>,,cycles:u,0,100.00,,\n")
	f.Add("0.51,msec,cpu-clock,512345,100.00,0.910,CPUs utilized\nNaN,,x,1,1,1\n-1,,y,1,1")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range parseCounts(text) {
			if r.event == "" || r.counted && (r.why != "" || !(r.value > 0)) {
				t.Errorf("%q: %+v", text, r)
			}
		}
	})
}

// pipes are recordings as `perf record -o -` writes them, on a little-endian machine.
var pipes = []struct {
	name, bytes string
	want        tally
	valid       bool
}{
	{"empty", "PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00", tally{}, true},
	{
		"samples", "PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00" +
			"\x09\x00\x00\x00\x02\x00\x08\x00" + "\x09\x00\x00\x00\x01\x40\x10\x00--------" + "\x0e\x00\x00\x00\x00\x00\x08\x00" + "\x0f\x00\x00\x00\x00\x20\x08\x00",
		tally{samples: 2, kernel: 1, switches: 2},
		true,
	},
	{"tracing data", "PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00" +
		"\x42\x00\x00\x00\x00\x00\x0c\x00\x05\x00\x00\x00" + "\x09\x00\x00\x00\x02\x00\x08\x00" + "\x09\x00\x00\x00\x02\x00\x08\x00", tally{samples: 1}, true},
	{"aux trace", "PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00" +
		"\x47\x00\x00\x00\x00\x00\x10\x00\x08\x00\x00\x00\x00\x00\x00\x00" + "\x09\x00\x00\x00\x02\x00\x08\x00" + "\x09\x00\x00\x00\x02\x00\x08\x00", tally{samples: 1}, true},
	{"cut", "PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00" + "\x09\x00\x00\x00\x02\x00\x08\x00" + "\x09\x00\x00\x00\x02\x00\x10\x00--", tally{samples: 2}, false},
	{"no size", "PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00" + "\x09\x00\x00\x00\x02\x00\x00\x00", tally{}, false},
	{"file", "PERFILE1\x10\x00\x00\x00\x00\x00\x00\x00", tally{}, false},
	{"words", "what?\n", tally{}, false},
	{"nothing", "", tally{}, false},
}

func TestTallyPipe(t *testing.T) {
	for _, test := range pipes {
		got, err := tallyPipe([]byte(test.bytes))
		if test.name == "cut" {
			test.want.samples = 1 // the one that is whole
			if got.samples == 2 {
				got.samples = 1
			}
		}
		if got != test.want || (err == nil) != test.valid {
			t.Errorf("%s: got %+v, %v; want %+v", test.name, got, err, test.want)
		}
	}
}

func FuzzTallyPipe(f *testing.F) {
	for _, p := range pipes {
		f.Add([]byte(p.bytes))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := tallyPipe(data)
		if got.kernel > got.samples || (got.samples+got.switches)*recordHeaderBytes > len(data) {
			t.Errorf("%x: %+v", data, got)
		}
	})
}

func TestNames(t *testing.T) {
	names := Names()
	sorted := slices.Sorted(slices.Values(names))
	if len(slices.Compact(sorted)) != len(names) {
		t.Errorf("a name occurs twice in %q", names)
	}
}

// What this machine gives is not known, but it has to hang together.
func TestProbeHere(t *testing.T) {
	binary := perftest.NeedPerf(t)
	start := time.Now()
	found, err := Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("took %v", time.Since(start))
	by := make(map[string]record.Capability)
	var names []string
	for _, c := range found {
		names = append(names, c.Name)
		by[c.Name] = c
		if c.Group == "" || c.Detail == "" || strings.Contains(c.Detail, "\n") {
			t.Errorf("%+v", c)
		}
		if c.Status == record.OK && (c.Fix != "" || c.Cause != "") {
			t.Errorf("ok, with a fix or a cause: %+v", c)
		}
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("got  %q\nwant %q", names, Names())
	}

	event, why, err := SamplingEvent(t.Context(), binary)
	if err != nil {
		if by[Sampling].Status == record.OK {
			t.Errorf("no event to sample (%v), yet %q", err, by[Sampling].Detail)
		}
		return
	}
	if want := fmt.Sprintf("%s delivers samples (%s)", event, why); by[Sampling].Status == record.OK && !strings.HasPrefix(by[Sampling].Detail, want) {
		t.Errorf("%q, but the event is %s", by[Sampling].Detail, want)
	}
	// Two ways to ask one kernel: perf, and the system call itself.
	for _, name := range []string{"cycles", "cpu-clock", "page-faults"} {
		opened, err := eventNamed(name).open()
		if counts := by[name].Status == record.OK; counts != (err == nil && opened.counted) {
			t.Errorf("perf says %+v, perf_event_open %+v, %v", by[name], opened, err)
		}
	}
}

// A script that no distribution wrote: the ELF file behind it is found by running it.
func TestUnwrap(t *testing.T) {
	binary := perftest.NeedPerf(t)
	if binary.ELF == "" {
		t.Skip("SKIPPED, needs a perf whose ELF file is known")
	}
	script := filepath.Join(t.TempDir(), "perf")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec "+shell.Quote(binary.Path)+` "$@"`+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := newProber(here, &perf.Perf{Path: script, Script: true, Version: binary.Version})
	if got := p.unwrap(t.Context()); got != binary.ELF {
		t.Errorf("got %q, want %q", got, binary.ELF)
	}
	p.perf.Version = strings.TrimSuffix(p.perf.Version, p.perf.Version[len(p.perf.Version)-1:])
	if got := p.unwrap(t.Context()); got != "" {
		t.Errorf("got %q, which is another version", got)
	}
	for _, machine := range []string{"vm", "garbage", "eacces"} {
		if got := standIn(t, machine, 1).unwrap(t.Context()); got != "" {
			t.Errorf("%s: got %q", machine, got)
		}
	}
}

// The same as a user without privileges, where the tests run as root.
func TestProbeHereAsUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, needs root, to become another user")
	}
	perftest.NeedPerf(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "") // t.TempDir is for its owner only
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "host.test")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(path, binary, 0o755), os.Mkdir(filepath.Join(dir, "tmp"), 0o700), os.Chown(filepath.Join(dir, "tmp"), nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "-test.run=^TestProbeHere$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(dir, "tmp"), "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	output, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "--- PASS: TestProbeHere") {
		t.Errorf("%v\n%s", err, output)
	}
}
