package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"vperf/lib/internal/shell"
	"vperf/lib/perf"
	"vperf/lib/record"
)

// The groups that capabilities are shown under.
const (
	groupHost       = "host"
	groupPerf       = "perf"
	groupPermission = "permissions"
	groupSoftware   = "software events"
	groupHardware   = "hardware events"
	groupScheduler  = "scheduler"
	groupSampling   = "sampling"
)

// Names of capabilities that others decide by. [Names] lists all.
const (
	Sampling         = "sampling"          // some event delivers samples: profiling works
	KernelSamples    = "kernel_samples"    // of kernel code, too
	PMU              = "pmu"               // hardware events count
	SwitchEvents     = "switch_events"     // waits can be had without privileges
	SchedTracepoints = "sched_tracepoints" // with their state and stack
)

// Names returns the names of the capabilities that [Probe] returns, in its order.
func Names() []string {
	names := []string{
		"os", "cpu", "hypervisor", "container",
		"perf", "file_capabilities",
		"perf_event_paranoid", "kptr_restrict", "capabilities", "seccomp", "lockdown", "perf_event_open",
	}
	for _, e := range genericEvents {
		if e.name == "cycles" {
			names = append(names, PMU)
		}
		names = append(names, e.name)
	}
	return append(names, "tracefs", SchedTracepoints, SwitchEvents, KernelSamples, Sampling)
}

// Probe finds out what can be profiled on this machine, by this user, with the perf that
// [perf.Find] gives. It takes under a second. The error is that of ctx.
func Probe(ctx context.Context) ([]record.Capability, error) {
	found, err := perf.Find(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if found != nil && found.ELF == "" {
		found.ELF = unwrap(ctx, found)
	}
	p := &prober{tree: here, perf: found}
	p.perms = p.permissions(found)
	p.info = parseCPUInfo(p.word("proc/cpuinfo"))
	p.guest = p.hypervisor(p.info)

	p.probeHost()
	p.probePerf(err)
	p.probePermissions()
	p.probeEvents(ctx)
	trial := p.record(ctx)
	p.probeScheduler(ctx, trial)
	p.probeSampling(trial)
	return p.found, ctx.Err()
}

// unwrap returns the ELF file behind a script that is not one of the distributions': the
// parent of what perf runs. Empty where it will not say.
func unwrap(ctx context.Context, script *perf.Perf) string {
	o := try(ctx, script, trialTime, "stat", "-x,", "-o", "/dev/null", "-e", "cpu-clock", "--", "sh", "-c", "readlink /proc/$PPID/exe")
	path := strings.TrimSpace(string(o.stdout))
	if !filepath.IsAbs(path) {
		return ""
	}
	version := try(ctx, &perf.Perf{Path: path}, trialTime, "--version")
	if !strings.HasPrefix(string(version.stdout), "perf version "+script.Version) {
		return ""
	}
	return path
}

// prober collects capabilities.
type prober struct {
	tree
	perf  *perf.Perf // nil where there is none
	perms permissions
	info  cpuinfo
	guest string // of which hypervisor
	group string // of what is added next

	perfFix string // what gives a perf, where there is none
	opened  error  // of opening a software event ourselves
	found   []record.Capability
}

// add appends a capability of the current group.
func (p *prober) add(name string, status record.Status, detail string) *record.Capability {
	p.found = append(p.found, record.Capability{Group: p.group, Name: name, Status: status, Detail: detail})
	return &p.found[len(p.found)-1]
}

// deny makes c a capability that is refused to this user, for the reason that the files
// show, else for what perf said.
func (p *prober) deny(c *record.Capability, u use, said string) {
	predicted, cause, why := p.perms.predict(u)
	c.Status = record.Denied
	c.Cause = record.CausePerfEventParanoid
	c.Detail = cmp.Or(said, "refused")
	if predicted == no {
		c.Cause, c.Detail = cause, why
	} else if errors.Is(p.opened, unix.EPERM) || p.perms.seccomp {
		c.Cause = ""
	}
	c.Fix = p.fix(c.Cause, u)
}

// fix returns the command that makes a use possible that cause forbids.
func (p *prober) fix(cause record.Cause, u use) string {
	switch cause {
	case record.CausePerfEventParanoid:
		if p.perms.privileged() { // an extra check: only another kernel or root helps
			return ""
		}
		level := 1
		if u == useTracepoint {
			if command := p.perms.setcapFix(p.perf); command != "" {
				return command
			}
			level = -1
		}
		return paranoidFix(level)
	case record.CauseTracefsDenied:
		return p.tracefsFix()
	}
	return ""
}

func (p *prober) probeHost() {
	p.group = groupHost
	machine := ""
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		machine = " " + unix.ByteSliceToString(name.Machine[:])
	}
	p.add("os", record.OK, "Linux "+cmp.Or(p.perms.kernel, "of unknown release")+machine)

	host := p.describe()
	p.add("cpu", record.OK, cpuDetail(host))

	if p.guest == "" {
		p.add("hypervisor", record.OK, "none")
	} else {
		p.add("hypervisor", record.OK, "guest of "+strings.Replace(p.guest, "unknown", "an unknown one", 1))
	}
	p.add("container", record.OK, cmp.Or(p.container(), "none"))
}

// cpuDetail names the processor and how many of what it has.
func cpuDetail(h *record.Host) string {
	var parts []string
	if c := h.CPU; c != nil {
		name := cmp.Or(c.Name, "unnamed")
		id := c.Vendor
		for _, field := range []struct {
			name  string
			value *int64
		}{{"family", c.Family}, {"model", c.Model}, {"stepping", c.Stepping}} {
			if field.value != nil {
				id += fmt.Sprintf(" %s %d", field.name, *field.value)
			}
		}
		parts = append(parts, name+" ("+strings.TrimSpace(id)+")")
	}
	parts = append(parts, plural(h.NCPU, "CPU"))
	if h.Cores > 0 {
		parts = append(parts, plural(h.Cores, "core"))
	}
	if h.NUMANodes > 0 {
		parts = append(parts, plural(h.NUMANodes, "NUMA node"))
	}
	if h.LineBytes > 0 {
		parts = append(parts, fmt.Sprintf("%d-byte lines", h.LineBytes))
	}
	if h.Governor != "" {
		parts = append(parts, h.Governor+" governor")
	}
	return strings.Join(parts, ", ")
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func (p *prober) probePerf(err error) {
	p.group = groupPerf
	if p.perf == nil {
		c := p.add("perf", record.Missing, err.Error())
		c.Cause = record.CausePerfMissing
		var missing *perf.NotFound
		if errors.As(err, &missing) {
			p.perfFix = missing.Fix()
			c.Fix = p.perfFix
		}
		p.add("file_capabilities", record.Missing, "no perf").Cause = record.CausePerfMissing
		return
	}
	detail := p.perf.Path + ", version " + p.perf.Version
	if p.perf.Script {
		detail += ", a script around " + cmp.Or(p.perf.ELF, "an unknown ELF file")
	} else if p.perf.ELF != p.perf.Path {
		detail += ", in fact " + p.perf.ELF
	}
	p.add("perf", record.OK, detail)

	switch caps := fileCapabilities(p.perf.ELF); {
	case p.perf.ELF == "":
		p.add("file_capabilities", record.Missing, "unknown; they belong to the ELF file that "+p.perf.Path+" runs, on the script they have no effect")
	case caps == 0:
		p.add("file_capabilities", record.Missing, "none on "+p.perf.ELF+", where setcap would put them")
	case p.perms.ungranted:
		p.add("file_capabilities", record.Denied, caps.String()+" on "+p.perf.ELF+", but this process may not gain privileges (no_new_privs or a nosuid mount)")
	default:
		p.add("file_capabilities", record.OK, caps.String()+" on "+p.perf.ELF)
	}
}

func (p *prober) probePermissions() {
	p.group = groupPermission
	p.opened = p.openSoftware()

	p.probeParanoid()
	p.probeSymbols()

	if p.perms.own == 0 {
		p.add("capabilities", record.Missing, "none")
	} else if own := (permissions{caps: p.perms.own, namespace: p.perms.namespace, kernel: p.perms.kernel}); own.privileged() {
		p.add("capabilities", record.OK, p.perms.own.String())
	} else if p.perms.namespace {
		p.add("capabilities", record.Missing, p.perms.own.String()+" of a user namespace: they do not count for perf events")
	} else {
		p.add("capabilities", record.Missing, p.perms.own.String()+": not those that perf events ask for")
	}

	switch {
	case !p.perms.seccomp:
		p.add("seccomp", record.OK, "no filter")
	case errors.Is(p.opened, unix.EPERM), errors.Is(p.opened, unix.ENOSYS):
		c := p.add("seccomp", record.Denied, fmt.Sprintf("the filter blocks perf_event_open (%s)", errnoName(p.opened)))
		if kind := p.container(); kind == "docker" || kind == "podman" {
			c.Fix = kind + " run --cap-add=PERFMON ..."
		}
	default:
		p.add("seccomp", record.OK, "a filter is installed, which lets perf_event_open pass")
	}

	switch p.perms.lockdown {
	case "":
		p.add("lockdown", record.OK, "none, or not to be seen: no file "+lockdownFile)
	case "confidentiality":
		p.add("lockdown", record.Denied, "confidentiality: no kernel data even for root, until a boot without it")
	default:
		p.add("lockdown", record.OK, p.perms.lockdown)
	}
	p.probeOpen()
}

// paranoidMeaning says what a level leaves to a user without privileges.
func paranoidMeaning(level int, flavour string) string {
	switch {
	case level > 2 && flavour == "":
		return "what 2 means, unless this kernel is patched: own processes, user code only"
	case level > 2:
		return "nothing without privileges"
	case level == 2:
		return "own processes, user code only"
	case level == 1:
		return "own processes, kernel code too"
	case level == 0:
		return "all processes"
	}
	return "all processes and raw tracepoints"
}

func (p *prober) probeParanoid() {
	const name = "perf_event_paranoid"
	level := p.perms.paranoid
	if level == nil {
		_, cause, why := p.perms.predict(useUser)
		p.add(name, record.Missing, why).Cause = cause
		return
	}
	c := p.add(name, record.OK, fmt.Sprintf("%d: %s", *level, paranoidMeaning(*level, p.perms.flavour)))
	if p.perms.privileged() {
		c.Detail += "; does not apply to this user"
	}
	if predicted, cause, _ := p.perms.predict(useUser); predicted == no && cause == record.CausePerfEventParanoid || errors.Is(p.opened, unix.EACCES) {
		c.Status, c.Cause = record.Denied, record.CausePerfEventParanoid
		c.Fix = p.fix(c.Cause, useUser)
	}
}

// probeSymbols looks whether kernel addresses are shown to this user, which is what
// kptr_restrict is about: without them kernel samples have no names.
func (p *prober) probeSymbols() {
	const name = "kptr_restrict"
	level, known := p.number("proc/sys/kernel/kptr_restrict")
	shown := p.kernelAddresses()
	switch {
	case shown && known:
		p.add(name, record.OK, fmt.Sprintf("%d: kernel symbols can be resolved", level))
	case shown:
		p.add(name, record.OK, "kernel symbols can be resolved")
	case known && level < 2 && p.perms.caps.has(capSyslog):
		p.add(name, record.OK, fmt.Sprintf("%d: perf can resolve kernel symbols (cap_syslog)", level))
	case known && level == 0:
		c := p.add(name, record.Denied, "0, but kernel symbols are hidden from users as long as kernel.perf_event_paranoid is above 1")
		c.Cause, c.Fix = record.CausePerfEventParanoid, paranoidFix(1)
	case known:
		c := p.add(name, record.Denied, fmt.Sprintf("%d: kernel symbols are hidden, kernel samples stay without names", level))
		const setting = "kernel.kptr_restrict=0"
		c.Fix = "sudo sysctl -w " + setting + " && echo " + setting + " | sudo tee /etc/sysctl.d/99-kptr.conf"
	default:
		p.add(name, record.Missing, "/proc/kallsyms cannot be read: kernel samples stay without names").Cause = record.CauseSymbolsMissing
	}
}

// kernelAddresses tells whether /proc/kallsyms shows addresses other than 0.
func (t tree) kernelAddresses() bool {
	file, err := t.Open("proc/kallsyms")
	if err != nil {
		return false
	}
	defer file.Close()
	// The first symbols of x86 are offsets from 0: look at more than one.
	buffer := make([]byte, 1<<16)
	n, _ := file.Read(buffer) // nothing read is nothing shown
	for line := range strings.Lines(string(buffer[:n])) {
		address, rest, ok := strings.Cut(line, " ")
		if ok && len(rest) > 2 && (rest[0] == 'T' || rest[0] == 't') && strings.Trim(address, "0") != "" {
			return true
		}
	}
	return false
}

// openSoftware opens the event that needs nothing but permission.
func (p *prober) openSoftware() error {
	_, err := genericEvents[0].open()
	return err
}

// probeOpen opens events without perf: what the system call answers is free of perf's
// choices and words.
func (p *prober) probeOpen() {
	var answers []string
	for _, name := range []string{"cycles", "instructions", "cpu-clock"} {
		r, err := eventNamed(name).open()
		switch {
		case err != nil:
			answers = append(answers, name+" "+errnoName(err))
		case r.counted:
			answers = append(answers, name+" counts")
		default:
			answers = append(answers, name+" counts nothing")
		}
	}
	c := p.add("perf_event_open", record.OK, strings.Join(answers, ", "))
	switch {
	case p.opened == nil:
	case errors.Is(p.opened, unix.EACCES), errors.Is(p.opened, unix.EPERM):
		detail := c.Detail
		p.deny(c, useUser, "")
		c.Detail = detail + ": " + c.Detail
	default:
		c.Status, c.Cause = record.Missing, record.CauseNoPerfEvents
	}
}

func eventNamed(name string) genericEvent {
	for _, e := range genericEvents {
		if e.name == name {
			return e
		}
	}
	panic("no generic event " + name)
}

// errnoName returns the symbol of an error number: "EACCES".
func errnoName(err error) string {
	var errno unix.Errno
	if errors.As(err, &errno) {
		return unix.ErrnoName(errno)
	}
	return err.Error()
}

// tracefsFix returns the command that lets this user read the tracepoints, until a reboot.
func (p *prober) tracefsFix() string {
	if dir := p.mountPoint("tracefs"); dir != "" {
		return "sudo mount -o remount,mode=755,gid=$(id -g) " + shell.Quote(dir)
	}
	return "sudo mount -t tracefs -o mode=755,gid=$(id -g) nodev /sys/kernel/tracing"
}

// mountPoint returns where a file system of some type is mounted, or "".
func (t tree) mountPoint(kind string) string {
	for line := range strings.Lines(t.word("proc/self/mounts")) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[2] == kind {
			return fields[1]
		}
	}
	return ""
}
