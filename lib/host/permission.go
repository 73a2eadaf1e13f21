package host

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"vperf/lib/perf"
	"vperf/lib/record"
	"vperf/lib/shell"
)

// permissions is what files say about who may use perf events. It predicts; a trial decides.
type permissions struct {
	paranoid *int   // kernel.perf_event_paranoid; nil where there is none: no perf events, or /proc is hidden
	flavour  string // whose kernel it is, "debian" or "ubuntu": their patches give levels above 2 a meaning
	kernel   string // its release

	own       capabilities // effective ones of this process
	caps      capabilities // and those together with what perf's file grants
	ungranted bool         // executing a file grants nothing here
	namespace bool         // a user namespace: capabilities do not count for perf events there

	seccomp  bool   // a filter is installed
	lockdown string // "none", "integrity", "confidentiality"; empty where the kernel has none
	tracefs  string // where the event files are; empty when they cannot be read
}

// permissions reads what governs the runs of p, which may be nil.
func (t tree) permissions(p *perf.Perf) permissions {
	own := parseStatus(t.word("proc/self/status"))
	perms := permissions{
		flavour:  kernelFlavour(t.word("proc/version")),
		kernel:   t.word("proc/sys/kernel/osrelease"),
		own:      own.caps,
		caps:     own.caps,
		seccomp:  own.seccomp == 2,
		lockdown: parseLockdown(t.word(lockdownFile[1:])),
		tracefs:  t.tracefs(),
	}
	if level, ok := t.number("proc/sys/kernel/perf_event_paranoid"); ok {
		n := int(level)
		perms.paranoid = &n
	}
	if ids := strings.Fields(t.word("proc/self/uid_map")); len(ids) == 3 {
		perms.namespace = ids[0] != "0" || ids[1] != "0" || ids[2] != "4294967295"
	}
	if p != nil && p.ELF != "" {
		var volume unix.Statfs_t
		nosuid := unix.Statfs(p.ELF, &volume) == nil && volume.Flags&unix.ST_NOSUID != 0
		if perms.ungranted = own.noNewPrivs || nosuid; !perms.ungranted {
			perms.caps |= fileCapabilities(p.ELF)
		}
	}
	return perms
}

// tracefs returns the directory of the tracepoints, where their ids can be read.
func (t tree) tracefs() string {
	for _, dir := range []string{"sys/kernel/tracing", "sys/kernel/debug/tracing"} {
		if _, ok := t.text(filepath.Join(dir, "events/sched/sched_switch/id")); ok {
			return "/" + dir
		}
	}
	return ""
}

// kernelFlavour tells from /proc/version who built the kernel.
func kernelFlavour(version string) string {
	switch {
	case strings.Contains(version, "Ubuntu"):
		return "ubuntu"
	case strings.Contains(version, "Debian"):
		return "debian"
	}
	return ""
}

// lockdownFile is there where the kernel can be locked down and securityfs is mounted.
const lockdownFile = "/sys/kernel/security/lockdown"

// parseLockdown returns the level between brackets: "none [integrity] confidentiality".
func parseLockdown(text string) string {
	_, rest, ok := strings.Cut(text, "[")
	if !ok {
		return ""
	}
	level, _, _ := strings.Cut(rest, "]")
	return level
}

// fileCapabilities returns what executing the file grants.
func fileCapabilities(path string) capabilities {
	buffer := make([]byte, 64)
	n, err := unix.Getxattr(path, "security.capability", buffer)
	if err != nil {
		return 0
	}
	granted, err := parseFileCapabilities(buffer[:n])
	if err != nil {
		return 0
	}
	return granted
}

// A use is something that one may do with perf events.
type use int

const (
	useUser       use = iota // count and sample the user code of one's own processes
	useKernel                // the kernel's code on their behalf, too
	useSystem                // all processes
	useTracepoint            // record scheduler tracepoints of one's own processes
)

// An answer is a prediction.
type answer string

const (
	yes     answer = "yes"
	no      answer = "no"
	unknown answer = "unknown"
)

// privileged tells whether perf_event_paranoid does not apply.
func (p permissions) privileged() bool {
	if p.namespace {
		return false
	}
	return p.caps.has(capSysAdmin) || p.caps.has(capPerfmon) && p.knowsPerfmon()
}

// knowsPerfmon tells whether the kernel has CAP_PERFMON: since 5.8.
func (p permissions) knowsPerfmon() bool { return releaseAtLeast(p.kernel, 5, 8) }

// predict says whether a use is allowed, why, and the cause where it is not.
func (p permissions) predict(u use) (answer, record.Cause, string) {
	switch {
	case p.paranoid == nil:
		return unknown, record.CauseNoPerfEvents, "kernel.perf_event_paranoid cannot be read: a kernel without perf events, or a hidden /proc"
	case p.seccomp && !p.caps.has(capSysAdmin) && !p.caps.has(capPerfmon):
		return no, "", "a seccomp filter, as containers have, blocks perf_event_open (EPERM) whatever the sysctl says"
	case u != useUser && p.lockdown == "confidentiality":
		return no, "", "kernel lockdown (confidentiality) keeps kernel data even from root"
	}
	level := *p.paranoid
	if p.privileged() {
		if level > 2 && p.flavour != "" && !p.caps.has(capSysAdmin) {
			return no, record.CausePerfEventParanoid, fmt.Sprintf("kernel.perf_event_paranoid is %d: some kernels of this distribution want CAP_SYS_ADMIN then, not CAP_PERFMON", level)
		}
		if u == useTracepoint && p.tracefs == "" && !p.caps.has(capDACReadSearch) {
			return no, record.CauseTracefsDenied, "tracefs is not readable"
		}
		return yes, "", "privileged"
	}

	// Levels of kernel/events/core.c; those above 2 are patches of distributions, and
	// without the patch they mean what 2 means.
	limit := map[use]int{useUser: 2, useKernel: 1, useSystem: 0, useTracepoint: -1}[u]
	if u == useUser && p.flavour == "" {
		limit = max(limit, level)
	}
	if level > limit {
		why := fmt.Sprintf("kernel.perf_event_paranoid is %d, this needs %d or less", level, limit)
		if p.caps.has(capPerfmon) && !p.knowsPerfmon() {
			why += "; the kernel (" + p.kernel + ") is older than CAP_PERFMON, which came with 5.8"
		} else if p.namespace && p.caps != 0 {
			why += "; capabilities inside a user namespace do not count"
		}
		return no, record.CausePerfEventParanoid, why
	}
	if u == useTracepoint && p.tracefs == "" {
		return no, record.CauseTracefsDenied, "tracefs is not readable"
	}
	return yes, "", fmt.Sprintf("kernel.perf_event_paranoid is %d", level)
}

// paranoidFix returns the command that lowers kernel.perf_event_paranoid, now and after a reboot.
func paranoidFix(level int) string {
	setting := "kernel.perf_event_paranoid=" + strconv.Itoa(level)
	return "sudo sysctl -w " + setting + " && echo " + setting + " | sudo tee /etc/sysctl.d/99-perf.conf"
}

// setcapFix returns the command that lets every user of this perf do what root may; empty
// where the file that really runs is not known. An upgrade of the package undoes it.
func (p permissions) setcapFix(binary *perf.Perf) string {
	if binary == nil || binary.ELF == "" {
		return ""
	}
	granted := "cap_perfmon"
	if !p.knowsPerfmon() {
		granted = "cap_sys_admin"
	}
	return "sudo setcap " + granted + ",cap_sys_ptrace,cap_dac_read_search=ep " + shell.Quote(binary.ELF)
}

// refusal explains why perf could open no event at all, given what it said.
func (p *prober) refusal(o outcome) *Refusal {
	if o.timedOut {
		return &Refusal{Cause: record.CauseTimedOut, Reason: p.timeout()}
	}
	predicted, cause, why := p.perms.predict(useUser)
	switch {
	case predicted != yes:
		return &Refusal{Cause: cause, Reason: why, Fix: p.fix(cause, useUser)}
	case o.refused() && p.perms.seccomp:
		return &Refusal{Reason: "perf_event_open is refused, probably by the seccomp filter of this container: " + o.message()}
	case o.refused():
		cause = record.CausePerfEventParanoid
		return &Refusal{Cause: cause, Reason: "perf_event_open is refused: " + o.message(), Fix: p.fix(cause, useUser)}
	}
	return &Refusal{Cause: record.CauseNoPerfEvents, Reason: "perf counts neither cycles nor cpu-clock: " + cmp.Or(o.message(), "it printed no count")}
}
