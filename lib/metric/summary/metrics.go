package summary

import (
	"fmt"
	"slices"
	"strings"

	"vperf/lib/metric"
	"vperf/lib/record"
)

// Metrics returns every metric of the profile: those that can be computed, else those that the
// streams hold.
func (p *Profile) Metrics() []record.Metric {
	metrics := p.Run.Metrics()
	at := make(map[[2]string]int, len(metrics))
	for i, m := range metrics {
		at[[2]string{m.Name, m.Scope}] = i
	}
	for _, given := range p.Given {
		i, ok := at[[2]string{given.Name, given.Scope}]
		switch {
		case !ok:
			at[[2]string{given.Name, given.Scope}] = len(metrics)
			metrics = append(metrics, given)
		case metrics[i].Value == nil && (given.Value != nil || metrics[i].Missing == record.CauseDisabled && given.Missing != ""):
			metrics[i] = given // its counters were dropped
		}
	}
	return metrics
}

// News returns the metrics that the streams do not hold yet, so that passing a stream through
// twice adds them once.
func (p *Profile) News() []record.Metric {
	known := make(map[[2]string]bool, len(p.Given)) // whether it has a value
	for _, m := range p.Given {
		key := [2]string{m.Name, m.Scope}
		known[key] = known[key] || m.Value != nil
	}
	var news []record.Metric
	for _, m := range p.Run.Metrics() {
		if hasValue, ok := known[[2]string{m.Name, m.Scope}]; !ok || !hasValue && m.Value != nil {
			news = append(news, m)
		}
	}
	return news
}

// Remarks returns what is to be said of the metrics as a whole and is not said by the streams
// already: which counters were not counted all the time.
func (p *Profile) Remarks() []record.Notice {
	shares := map[string]float64{} // the smallest of the scopes
	var events []string
	for i := range p.Counters {
		c := &p.Counters[i]
		share, ok := metric.Multiplexed(c)
		if !ok {
			continue
		}
		if least, ok := shares[c.Event]; !ok {
			events = append(events, c.Event)
			shares[c.Event] = share
		} else {
			shares[c.Event] = min(least, share)
		}
	}
	if len(events) == 0 {
		return nil
	}
	for i, e := range events {
		if share := shares[e]; share > 0 {
			events[i] += fmt.Sprintf(" (%.3g %% of the time)", 100*share)
		}
	}
	n := record.Notice{
		Severity: record.Warning, Cause: record.CauseMultiplexed,
		Text: "counted for a part of the time and scaled up, so that ratios mix different moments: " + strings.Join(events, ", "),
		Fix:  metric.Hint(record.CauseMultiplexed),
	}
	if slices.ContainsFunc(p.Notices, func(old record.Notice) bool { return old.Text == n.Text }) {
		return nil
	}
	return []record.Notice{n}
}
