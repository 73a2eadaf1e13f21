package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"vperf/lib/event"
	"vperf/lib/record"
)

// recording is what the trial recordings gave.
type recording struct {
	event    string // that was sampled
	why      string // it was chosen
	refusal  error  // no event could be chosen
	tally    tally
	err      error // of the tally
	outcome  outcome
	switches bool // perf took --switch-events
}

// spin computes in user code and enters the kernel for some 60 ms, in nothing but a shell.
const spin = "i=0; while [ $i -lt 8000 ]; do i=$((i+1)); : </dev/null; done"

// record samples a short command with the event that vp-collect would choose.
func (p *prober) record(ctx context.Context) recording {
	if p.perf == nil {
		return recording{}
	}
	var r recording
	r.event, r.why, r.refusal = p.samplingEvent(ctx)
	if r.refusal != nil {
		return r
	}
	p.sample(ctx, &r)
	if r.tally.samples == 0 && ctx.Err() == nil && !r.outcome.timedOut && event.Base(r.event) == "cycles" {
		// Counting and interrupting are two things: some hypervisors lend a PMU that only counts.
		clock := recording{event: "cpu-clock", why: "cycles count here but deliver no samples"}
		if event.UserOnly(r.event) {
			clock.event += ":u"
		}
		p.sample(ctx, &clock)
		if clock.tally.samples > 0 {
			return clock
		}
	}
	return r
}

// sample fills r in, with switch events if that works.
func (p *prober) sample(ctx context.Context, r *recording) {
	r.outcome = p.perfRecord(ctx, "-e", r.event, "-F", "1999", "--switch-events", "--", "sh", "-c", spin)
	r.tally, r.err = tallyPipe(r.outcome.stdout)
	r.switches = r.err == nil && r.tally.switches > 0
	if r.tally.samples == 0 && !r.outcome.timedOut && r.outcome.err != nil {
		r.outcome = p.perfRecord(ctx, "-e", r.event, "-F", "1999", "--", "sh", "-c", spin)
		r.tally, r.err = tallyPipe(r.outcome.stdout)
	}
}

// perfRecord runs `perf record` into a pipe.
func (p *prober) perfRecord(ctx context.Context, args ...string) outcome {
	// As root perf follows BPF programs as well, and then takes a second to end.
	o := p.try(ctx, append([]string{"record", "-q", "-o", "-", "--no-bpf-event"}, args...)...)
	if o.usage() { // perf before 5.1
		o = p.try(ctx, append([]string{"record", "-q", "-o", "-"}, args...)...)
	}
	return o
}

func (p *prober) probeScheduler(ctx context.Context, trial recording) {
	p.group = groupScheduler
	switch dir := p.perms.tracefs; {
	case dir != "":
		p.add("tracefs", record.OK, dir)
	case p.mountPoint("tracefs") == "" && p.mountPoint("debugfs") == "":
		p.add("tracefs", record.Missing, "not mounted; perf mounts it when root runs it").Fix = p.tracefsFix()
	case p.perms.caps.has(capDACReadSearch):
		p.add("tracefs", record.OK, "readable by "+p.perf.ELF+" (cap_dac_read_search)")
	default:
		c := p.add("tracefs", record.Denied, "the tracepoints are readable by root only")
		c.Cause, c.Fix = record.CauseTracefsDenied, p.tracefsFix()
	}
	p.probeTracepoint(ctx)

	c := p.add(SwitchEvents, record.OK, fmt.Sprintf("%d switches recorded: waits need no tracepoints", trial.tally.switches))
	switch {
	case p.perf == nil:
		c.Status, c.Cause, c.Detail = record.Missing, record.CausePerfMissing, "no perf"
	case trial.switches:
	case trial.refusal != nil:
		p.refuse(c, trial.refusal)
	case trial.outcome.timedOut:
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseTimedOut, p.timeout()
	default:
		c.Status, c.Cause, c.Detail = record.Unsupported, record.CausePerfRecordFailed, "perf record --switch-events records none"
	}
}

// probeTracepoint records a scheduler tracepoint, which takes more than counting it.
func (p *prober) probeTracepoint(ctx context.Context) {
	if p.perf == nil {
		p.add(SchedTracepoints, record.Missing, "no perf").Cause = record.CausePerfMissing
		return
	}
	o := p.perfRecord(ctx, "-e", "sched:sched_switch", "--", "sh", "-c", "(:); :")
	counts, err := tallyPipe(o.stdout)
	if counts.samples > 0 {
		p.add(SchedTracepoints, record.OK, "sched:sched_switch can be recorded: waits have a state and a stack")
		return
	}
	c := p.add(SchedTracepoints, record.Missing, "sched:sched_switch was not recorded: "+p.said(o, err))
	predicted, cause, _ := p.perms.predict(useTracepoint)
	switch {
	case o.timedOut:
		c.Cause = record.CauseTimedOut
	case predicted == no:
		p.deny(c, useTracepoint, "")
	case o.refused():
		p.deny(c, useTracepoint, p.said(o, err))
	default:
		c.Cause = cmp.Or(cause, record.CausePerfRecordFailed)
	}
}

// said is what perf said, or how it failed to say anything.
func (p *prober) said(o outcome, err error) string {
	if o.timedOut {
		return p.timeout()
	}
	message := o.message()
	if message == "" && err != nil {
		message = err.Error()
	}
	return cmp.Or(message, "no samples")
}

// refuse turns the refusal of the sampling event into c's status.
func (p *prober) refuse(c *record.Capability, err error) {
	c.Status, c.Detail = record.Missing, err.Error()
	var refusal *Refusal
	if errors.As(err, &refusal) {
		c.Cause, c.Fix = refusal.Cause, refusal.Fix
		if c.Cause == record.CausePerfEventParanoid || c.Cause == "" {
			c.Status = record.Denied
		}
	}
}

func (p *prober) probeSampling(trial recording) {
	p.group = groupSampling
	if p.perf == nil {
		for _, name := range []string{KernelSamples, Sampling} {
			p.add(name, record.Missing, "no perf").Cause = record.CausePerfMissing
		}
		p.found[len(p.found)-1].Fix = p.perfFix
		return
	}
	c := p.add(KernelSamples, record.OK, fmt.Sprintf("%d of %d samples are of kernel code", trial.tally.kernel, trial.tally.samples))
	switch predicted, _, _ := p.perms.predict(useKernel); {
	case trial.refusal != nil:
		p.refuse(c, trial.refusal)
	case trial.tally.kernel > 0:
	case trial.outcome.timedOut:
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseTimedOut, p.timeout()
	case event.UserOnly(trial.event) || predicted == no:
		p.deny(c, useKernel, "perf samples user code only")
	default:
		c.Status, c.Cause = record.Missing, record.CauseNoSamples
	}

	c = p.add(Sampling, record.OK, fmt.Sprintf("%s delivers samples (%s): %d of a short run", trial.event, trial.why, trial.tally.samples))
	switch {
	case trial.refusal != nil:
		p.refuse(c, trial.refusal)
	case trial.tally.samples > 0:
	case trial.outcome.timedOut:
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseTimedOut, p.timeout()
	case trial.outcome.refused():
		p.deny(c, useUser, p.said(trial.outcome, trial.err))
	case trial.err != nil || trial.outcome.err != nil:
		c.Status, c.Cause, c.Detail = record.Missing, record.CausePerfRecordFailed, p.said(trial.outcome, trial.err)
	default:
		c.Status, c.Cause, c.Detail = record.Missing, record.CauseNoSamples, trial.event+" is recorded, but no sample arrives"
	}
}
