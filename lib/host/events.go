package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"vperf/lib/event"
	"vperf/lib/record"
)

// probeEvents counts the generic events: with perf where there is one, else by opening
// them, which tells the same of the machine.
func (p *prober) probeEvents(ctx context.Context) {
	answers := make([]response, len(genericEvents))
	if p.perf == nil {
		for i, e := range genericEvents {
			answers[i] = p.ask(e)
		}
	} else {
		p.askPerf(ctx, answers)
	}

	p.group = groupSoftware
	for i, e := range genericEvents {
		if e.software {
			p.addSoftware(e, answers[i])
		}
	}
	p.group = groupHardware
	pmu := p.addPMU(answers)
	for i, e := range genericEvents {
		if !e.software {
			p.addHardware(e, answers[i], pmu)
		}
	}
}

// response is what counting one event gave.
type response struct {
	reading
	read   bool   // there is a reading
	denied bool   // it is a matter of permission
	hung   bool   // perf did not end
	said   string // what perf or the kernel said instead of a reading
}

// ask opens an event without perf.
func (p *prober) ask(e genericEvent) response {
	r, err := e.open()
	if err == nil {
		return response{reading: r, read: true}
	}
	a := response{said: "perf_event_open fails with " + errnoName(err)}
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		a.denied = true
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EINVAL):
		a.reading, a.read = r, true
	}
	return a
}

// askPerf counts all events at once, and alone those that this leaves open: where there
// are more events than counters, a short run may end before their turn comes, and an event
// that perf does not know keeps it from counting the others.
func (p *prober) askPerf(ctx context.Context, answers []response) {
	names := make([]string, len(genericEvents))
	for i, e := range genericEvents {
		names[i] = e.name
	}
	readings, o := p.count(ctx, names...)
	for i, e := range genericEvents {
		answers[i] = p.find(readings, o, e.name)
	}
	if answers[0].hung || answers[0].denied {
		return
	}
	for i, e := range genericEvents {
		if a := answers[i]; a.read && (a.counted || a.why == "not supported" || e.software) {
			continue
		}
		readings, o := p.count(ctx, e.name)
		answers[i] = p.find(readings, o, e.name)
	}
}

// find picks the reading of an event: that of the core type which counted, on hybrid parts.
func (p *prober) find(readings []reading, o outcome, name string) response {
	var best response
	for _, r := range readings {
		if event.Base(r.event) == name && (!best.read || r.value > best.value) {
			best = response{reading: r, read: true}
		}
	}
	if best.read {
		return best
	}
	if o.timedOut {
		return response{hung: true, said: p.timeout()}
	}
	return response{said: cmp.Or(o.message(), "perf stat printed no count"), denied: o.refused()}
}

// silentForUsers are the events that the kernel counts from its own code, so that a user
// who may count user code only reads 0 whatever happens.
var silentForUsers = []string{"context-switches", "cpu-migrations"}

func (p *prober) addSoftware(e genericEvent, a response) {
	c := p.add(e.name, record.OK, a.detail())
	switch {
	case a.denied:
		p.deny(c, useUser, a.said)
	case a.hung:
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseTimedOut, a.said
	case !a.read || a.why != "":
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseNoPerfEvents, cmp.Or(a.said, a.why)
		if p.perf != nil && a.why == "not counted" {
			c.Cause = record.CauseEventNotCounted
		}
	case a.value == 0 && event.UserOnly(a.event) && slices.Contains(silentForUsers, e.name):
		c.Status, c.Cause = record.Denied, record.CausePerfEventParanoid
		c.Detail = "counts 0 without a word while only user code may be counted"
		c.Fix = p.fix(c.Cause, useKernel)
	}
}

// addPMU tells the absence of all hardware events from that of some, and both from a
// matter of permission. It returns the capability's status.
func (p *prober) addPMU(answers []response) record.Status {
	var counted []string
	var read, denied, notCounted bool
	var said string
	for i, e := range genericEvents {
		a := answers[i]
		if e.software {
			continue
		}
		if a.counted {
			counted = append(counted, e.name)
		}
		read = read || a.read
		denied = denied || a.denied
		notCounted = notCounted || a.read && a.why == "not counted"
		said = cmp.Or(said, a.said)
	}
	c := p.add(PMU, record.OK, fmt.Sprintf("%d of %d generic events count", len(counted), hardwareEvents()))
	switch {
	case len(counted) > 0:
	case p.hung:
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseTimedOut, p.timeout()
	case denied:
		p.deny(c, useUser, said)
	case !read:
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseNoPerfEvents, said
	case notCounted:
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseEventNotCounted, "no event gets a counter: others hold them all"
		c.Fix = p.watchdogFix()
	case p.guest != "":
		c.Status, c.Cause = record.Missing, record.CauseNoPMU
		c.Detail = "the hypervisor (" + p.guest + ") hides it: no hardware event counts, software events do"
		c.Fix = "use a host, or an instance type, that gives its guests a PMU (qemu: -cpu host,pmu=on)"
	case len(p.corePMUs()) > 0:
		c.Status, c.Cause = record.Missing, record.CauseNoPMU
		c.Detail = "the kernel has a driver (" + p.corePMUs()[0] + "), yet no event counts"
	default:
		c.Status, c.Cause = record.Missing, record.CauseNoPMU
		c.Detail = "the kernel has no driver for this processor's: no hardware event counts, software events do"
	}
	return c.Status
}

func hardwareEvents() int {
	n := 0
	for _, e := range genericEvents {
		if !e.software {
			n++
		}
	}
	return n
}

func (p *prober) addHardware(e genericEvent, a response, pmu record.Status) {
	c := p.add(e.name, record.OK, a.detail())
	switch {
	case a.counted:
	case a.denied:
		p.deny(c, useUser, a.said)
		c.Fix = "" // the PMU's says it
	case a.hung:
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseTimedOut, a.said
	case pmu == record.Missing && p.pmuCause() == record.CauseNoPMU:
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseNoPMU, "no PMU"
	case a.read && a.why == "not supported":
		c.Status, c.Cause, c.Detail = record.Unsupported, record.CauseEventUnsupported, "not mapped on this processor"
	case a.read && a.why == "":
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseEventNotCounted, "is accepted, but counts 0"
	case a.read:
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseEventNotCounted, "gets no counter: others hold them"
		c.Fix = p.watchdogFix()
	default:
		c.Status, c.Cause, c.Detail = record.Unsupported, record.CauseEventUnsupported, a.said
	}
}

// pmuCause is the cause of the PMU's absence.
func (p *prober) pmuCause() record.Cause {
	for _, c := range p.found {
		if c.Name == PMU {
			return c.Cause
		}
	}
	return ""
}

// watchdogFix frees the counter that the kernel's own watchdog holds, if it does.
func (p *prober) watchdogFix() string {
	if n, ok := p.number("proc/sys/kernel/nmi_watchdog"); ok && n > 0 {
		return "sudo sysctl -w kernel.nmi_watchdog=0"
	}
	return ""
}

// detail is the count in words.
func (a response) detail() string {
	text := "counts " + strconv.FormatFloat(a.value, 'f', -1, 64)
	if a.unit != "" {
		text += " " + a.unit
	}
	text += " in a short run"
	if event.UserOnly(a.event) {
		text += ", of user code only"
	}
	return text
}
