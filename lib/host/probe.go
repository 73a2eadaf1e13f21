package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"vperf/lib/perf"
	"vperf/lib/record"
	"vperf/lib/words"
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
	p := newProber(here, found)
	if found != nil && found.ELF == "" {
		found.ELF = p.unwrap(ctx)
		p.perms = p.permissions(found)
	}

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
func (p *prober) unwrap(ctx context.Context) string {
	o := p.try(ctx, "stat", "-x,", "-o", "/dev/null", "-e", "cpu-clock", "--", "sh", "-c", "readlink /proc/$PPID/exe")
	path := strings.TrimSpace(string(o.stdout))
	if !filepath.IsAbs(path) {
		return ""
	}
	inner := &prober{perf: &perf.Perf{Path: path}, limit: p.limit}
	words := strings.Fields(string(inner.try(ctx, "--version").stdout)) // "perf version 6.1.187"
	if len(words) < 3 || words[0] != "perf" || words[2] != p.perf.Version {
		return ""
	}
	return path
}

// prober collects capabilities.
type prober struct {
	tree
	perf  *perf.Perf // nil where there is none
	perms permissions
	guest string        // of which hypervisor
	limit time.Duration // of a trial
	hung  bool          // a trial has not ended in time

	group   string // of what is added next
	perfFix string // what gives a perf, where there is none
	opened  error  // of opening a software event ourselves
	found   []record.Capability
}

func newProber(t tree, found *perf.Perf) *prober {
	return &prober{
		tree:  t,
		perf:  found,
		perms: t.permissions(found),
		guest: t.hypervisor(parseCPUInfo(t.word("proc/cpuinfo"))),
		limit: trialTime,
	}
}

// timeout says that perf has hung.
func (p *prober) timeout() string { return fmt.Sprintf("perf did not end within %v", p.limit) }

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
	parts = append(parts, words.Count(h.NCPU, "CPU"))
	if h.Cores > 0 {
		parts = append(parts, words.Count(h.Cores, "core"))
	}
	if h.NUMANodes > 0 {
		parts = append(parts, words.Count(h.NUMANodes, "NUMA node"))
	}
	if h.LineBytes > 0 {
		parts = append(parts, fmt.Sprintf("%d-byte lines", h.LineBytes))
	}
	if h.Governor != "" {
		parts = append(parts, h.Governor+" governor")
	}
	return strings.Join(parts, ", ")
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
