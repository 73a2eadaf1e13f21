package main

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"vperf/lib/metric"
	"vperf/lib/metric/summary"
	"vperf/lib/perf/stat"
	"vperf/lib/record"
	"vperf/lib/tool"
)

func run(env *tool.Env) error {
	switch env.Format {
	case "text":
		return writeText(env)
	case "tsv":
		return writeTSV(env)
	}
	return writeRecords(env)
}

// derived is what perf stat's output amounts to in records, which have not passed by.
type derived struct {
	counters []record.Counter
	threads  []record.Thread
}

// gather reads all input. pass, if set, is given every record that is read.
func gather(env *tool.Env, g *summary.Gatherer, pass func(line []byte) error) (derived, error) {
	var d derived
	seen := false
	err := env.EachInput(func(in *tool.Input) error {
		g.BeginInput()
		head, err := in.Reader.Peek(4096)
		switch {
		case len(head) == 0 && err != io.EOF:
			env.Fail(&tool.Error{Place: in.Name, Err: err})
			return nil
		case len(head) == 0 && env.Flags.NArg() > 1: // that all input is empty is said in the end
			env.Warn(in.Name, "is empty", "what made it may have failed: look at its messages")
			return nil
		}
		if stat.Sniff(head) {
			counts := stat.NewReader(in.Name, in.Reader)
			counts.Report = env.Problem
			counters, threads := g.AddCounts(counts)
			if err := counts.Err(); err != nil {
				env.Fail(err)
			} else if len(counters) == 0 {
				env.Fail(&tool.Error{Place: in.Name, Text: "no counts in the output of perf stat", Hint: "write it with perf stat -x ';' -o FILE, without --metric-only", Cause: record.CauseBadInput})
			}
			d.counters = append(d.counters, counters...)
			d.threads = append(d.threads, threads...)
			seen = true
			return nil
		}
		r := env.Reader(in)
		for r.Next() {
			seen = true
			if pass != nil {
				if err := pass(r.Line()); err != nil {
					return err
				}
			}
			g.Add(r)
		}
		if err := r.Err(); err != nil {
			env.Fail(&tool.Error{Place: in.Name, Err: err})
		}
		return nil
	})
	if err == nil && !seen {
		err = &tool.Error{
			Text: "there are no records in the input", Cause: record.CauseBadInput,
			Hint: "vp-metrics reads what vp-collect, vp-fold and perf stat -x or -j write; if a command in front of it failed, see what it said",
		}
	}
	return d, err
}

// writeRecords passes the records on and adds a stream of metrics for each profile.
func writeRecords(env *tool.Env) error {
	w, err := env.Records()
	if err != nil {
		return err
	}
	var g summary.Gatherer
	d, err := gather(env, &g, w.Raw)
	if err != nil {
		return err
	}
	notices := env.Problems()
	for _, p := range g.Profiles() {
		w.Begin(record.Stream{By: env.By(), Profile: p.ID, Clock: p.Clock})
		if p.ID == "" {
			for i := range d.threads {
				w.Write(&d.threads[i])
			}
			for i := range d.counters {
				w.Write(&d.counters[i])
			}
		}
		for _, n := range append(notices, p.Remarks()...) {
			w.Write(&n)
		}
		notices = nil // what was wrong with the input is said once
		for _, m := range p.News() {
			w.Write(&m)
		}
		if err := w.End(""); err != nil {
			return err
		}
	}
	return nil
}

func writeText(env *tool.Env) error {
	out, err := env.Output()
	if err != nil {
		return err
	}
	g := summary.Gatherer{Text: true}
	if _, err := gather(env, &g, nil); err != nil {
		return err
	}
	return summary.Write(out, g.Profiles(), env.Problems(), summary.Style{Width: env.Width, Color: env.Color})
}

// writeTSV writes the run's metrics as one row a profile, in the form of vp-stat's tables.
func writeTSV(env *tool.Env) error {
	out, err := env.Output()
	if err != nil {
		return err
	}
	var g summary.Gatherer
	if _, err := gather(env, &g, nil); err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	w.WriteString("run")
	for _, f := range metric.Table {
		w.WriteString("\t" + f.Name)
	}
	w.WriteByte('\n')
	for i, p := range g.Profiles() {
		values := map[string]string{}
		for _, m := range p.Metrics() {
			if m.Scope == "all" && m.Value != nil {
				values[m.Name] = strconv.FormatFloat(*m.Value, 'f', -1, 64)
			}
		}
		row := []string{strconv.Itoa(i + 1)}
		for _, f := range metric.Table {
			value, ok := values[f.Name]
			if !ok {
				value = "na"
			}
			row = append(row, value)
		}
		w.WriteString(strings.Join(row, "\t") + "\n")
	}
	return w.Flush()
}
