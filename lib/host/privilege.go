package host

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"vperf/lib/record"
	"vperf/lib/shell"
)

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
