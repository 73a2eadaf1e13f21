// Package sample makes profiles for the tests of the formats.
package sample

import (
	"strings"

	"vperf/lib/format"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/stack"
)

// A Sample is one in short: its stack is written root first with ";" between, a frame as
// "symbol", "k:symbol" (kernel), "l:symbol" (a library), "i:symbol" (inlined), or ""
// (unresolved).
type Sample struct {
	PID, TID int64
	Comm     string
	TimeNS   int64
	Stack    string
	Weight   uint64
}

// App is a recording of two threads.
var App = []Sample{
	{9, 9, "app", 1_000_000_000, "main;work;i:inner;k:sys_read", 10_000_000},
	{9, 10, "pool", 1_010_000_000, "thread;work;work;", 5_000_000},
	{9, 9, "app", 1_020_000_000, "main;work;i:inner;k:sys_read", 20_000_000},
	{9, 9, "app", 1_015_500_000, "main;work;i:inner", 4_000_000},
	{9, 9, "app", 1_030_000_000, "main;</script>\xff", 1_000_000},
}

// Profile makes a profile of samples.
func Profile(event record.Event, timed bool, samples []Sample) *format.Profile {
	table := stack.NewTable()
	p := format.NewProfile(table, event)
	p.Timed, p.By = timed, "vp-fold 1"
	for _, s := range samples {
		id := record.ID(0)
		for name := range strings.SplitSeq(s.Stack, ";") {
			id = table.Stack(id, table.Frame(Frame(name)))
		}
		p.Add(&recording.Sample{PID: s.PID, TID: s.TID, Comm: s.Comm, TimeNS: s.TimeNS, Weight: s.Weight}, id, 1)
	}
	return p
}

// Frame makes a frame of its short form.
func Frame(name string) record.Frame {
	f := record.Frame{Symbol: name, Module: "/opt/app", Kind: record.KindUser, File: "app.c", Line: 7}
	if symbol, ok := strings.CutPrefix(name, "k:"); ok {
		return record.Frame{Symbol: symbol, Module: "[kernel.kallsyms]", Kind: record.KindKernel}
	}
	if symbol, ok := strings.CutPrefix(name, "i:"); ok {
		f.Symbol, f.Inlined, f.Line = symbol, true, 3
	}
	if symbol, ok := strings.CutPrefix(name, "l:"); ok {
		return record.Frame{Symbol: symbol, Module: "/lib/libc.so.6", Kind: record.KindUser}
	}
	if name == "" {
		return record.Frame{Kind: record.KindUnknown}
	}
	return f
}
