package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"vperf/lib/host"
	"vperf/lib/printable"
	"vperf/lib/record"
)

// A mark shows a status to the eye; the word beside it says the same.
var marks = map[record.Status]struct{ text, color string }{
	record.OK:          {"ok", "\x1b[32m"},
	record.Missing:     {"--", "\x1b[33m"},
	record.Unsupported: {"--", "\x1b[33m"},
	record.Denied:      {"!!", "\x1b[31m"},
}

const noColor = "\x1b[0m"

// writeText writes one line for each capability under the headings of their groups, the
// fix in a line of its own below, and what it all comes to.
func writeText(out io.Writer, found []record.Capability, color bool) error {
	width := 0
	for _, c := range found {
		width = max(width, len(c.Name))
	}
	var b bytes.Buffer
	group := ""
	for _, c := range found {
		if c.Group != group {
			if group = c.Group; b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(printable.Terminal(group) + "\n")
		}
		mark := marks[c.Status].text
		if color {
			mark = marks[c.Status].color + mark + noColor
		}
		detail := c.Detail
		if c.Status != record.OK {
			detail = string(c.Status) + ": " + detail
		}
		if c.Cause != "" {
			detail += " (" + string(c.Cause) + ")"
		}
		fmt.Fprintf(&b, "  %s  %-*s  %s\n", mark, width, c.Name, printable.Terminal(detail))
		if c.Fix != "" {
			fmt.Fprintf(&b, "      %-*s  fix: %s\n", width, "", printable.Terminal(c.Fix))
		}
	}
	b.WriteString("\n" + printable.Terminal(verdict(found)) + "\n")
	_, err := out.Write(b.Bytes())
	return err
}

// means says what a profile has when a capability is there.
var means = []struct{ name, text string }{
	{host.Sampling, "CPU samples"},
	{host.KernelSamples, "samples of kernel code"},
	{host.PMU, "hardware counters"},
	{host.SwitchEvents, "waits"},
	{host.SchedTracepoints, "states and stacks of waits"},
}

// verdict sums up what works and what does not.
func verdict(found []record.Capability) string {
	by := make(map[string]record.Capability)
	for _, c := range found {
		by[c.Name] = c
	}
	if sampling := by[host.Sampling]; sampling.Status != record.OK {
		return "profiling does not work here: " + sampling.Detail
	}
	var there, absent []string
	for _, m := range means {
		if by[m.name].Status == record.OK {
			there = append(there, m.text)
		} else {
			absent = append(absent, m.text)
		}
	}
	text := "profiling works here: there are " + strings.Join(there, ", ")
	if len(absent) > 0 {
		text += "; there are no " + strings.Join(absent, ", no ")
	}
	return text
}
