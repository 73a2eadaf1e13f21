package host

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vperf/lib/event"
	"vperf/lib/perf"
	"vperf/lib/record"
)

// Refusal is the error of a host on which something cannot be measured.
type Refusal struct {
	Cause  record.Cause
	Reason string // one sentence, without period
	Fix    string // a command to paste; empty where none helps
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }

// Hint returns the fix.
func (r *Refusal) Hint() string { return r.Fix }

// SamplingEvent chooses the event that `perf record -e` samples CPU time with: cycles,
// as precise as the processor can, where cycles really count, else cpu-clock. The suffix
// "u" says that only user code may be sampled. Why is half a sentence on the choice. It
// runs perf once, for some 15 ms. The error is a *[Refusal], or that of ctx.
func SamplingEvent(ctx context.Context, p *perf.Perf) (name, why string, err error) {
	return newProber(here, p).samplingEvent(ctx)
}

func (p *prober) samplingEvent(ctx context.Context) (name, why string, err error) {
	readings, o := p.count(ctx, "cycles", "cpu-clock")
	name, why, ok := p.choose(readings)
	if !ok {
		// An error other than "not supported" ends perf: one event must not hide the other.
		readings, _ = p.count(ctx, "cpu-clock")
		if name, why, ok = p.choose(readings); ok {
			why += ": " + o.message()
		}
	}
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	if !ok {
		return "", "", p.refusal(o)
	}
	return name, why, nil
}

// choose picks the sampling event from what `perf stat` counted.
func (p *prober) choose(readings []reading) (name, why string, ok bool) {
	if i := slices.IndexFunc(readings, func(r reading) bool { return r.counted && event.Base(r.event) == "cycles" }); i >= 0 {
		if event.UserOnly(readings[i].event) {
			return "cycles:Pu", "cycles count here, of user code only", true
		}
		return "cycles:P", "cycles count here", true
	}
	i := slices.IndexFunc(readings, func(r reading) bool { return r.counted && event.Base(r.event) == "cpu-clock" })
	if i < 0 {
		return "", "", false
	}
	name, why = "cpu-clock", p.whyNoCycles(readings)
	if event.UserOnly(readings[i].event) {
		return name + ":u", why + "; of user code only", true
	}
	return name, why, true
}

// whyNoCycles tells a processor whose counters are hidden from one whose counters are busy.
func (p *prober) whyNoCycles(readings []reading) string {
	i := slices.IndexFunc(readings, func(r reading) bool { return event.Base(r.event) == "cycles" })
	switch {
	case i < 0:
		return "cycles cannot be counted"
	case readings[i].why == "not counted":
		return "cycles are not counted here, other users of the counters may hold them all"
	case readings[i].why == "":
		return "cycles count nothing here"
	case len(p.corePMUs()) > 0:
		return "cycles are not supported here, although the kernel knows the PMU"
	case p.guest != "":
		return fmt.Sprintf("no PMU: the hypervisor (%s) hides it", p.guest)
	}
	return "no PMU"
}

// corePMUs returns the PMUs that count the events of cores: none where a hypervisor hides
// them. Hybrid parts have several.
func (t tree) corePMUs() []string {
	var names []string
	for _, name := range t.pmus() {
		if name == "cpu" || name == "cpu_core" || name == "cpu_atom" || name == "cpu_lowpower" || strings.HasPrefix(name, "armv") || strings.HasPrefix(name, "apple_") {
			names = append(names, name)
		}
	}
	return names
}
