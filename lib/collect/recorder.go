package collect

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"vperf/lib/event"
	"vperf/lib/host"
	"vperf/lib/record"
)

// An EventError says that perf does not know the event that it was asked to sample.
type EventError struct {
	Event  string
	Reason string // in perf's words
}

func (e *EventError) Error() string {
	return fmt.Sprintf("perf cannot sample %q: %s", e.Event, e.Reason)
}

// recorder is a perf record.
type recorder struct {
	*controlled
	plan plan
	path string
}

// A plan is what perf record is asked for.
type plan struct {
	event     string
	chosen    bool // by us, not by the user
	callgraph string
	frequency int
	pages     int  // of buffer per CPU, 0: as perf thinks fit
	buildIDs  bool // have the kernel put them into the mmap records
}

// smallBuffer is what plan.pages is where perf may not lock its usual 512 kB per CPU.
const smallBuffer = 16

func (p plan) args(pid int, path string) []string {
	args := append([]string{"record"}, controlArgs...)
	args = append(
		args,
		// Not -p: perf spins once a thread that it is attached to has ended, and those of the
		// launcher do, but for the main one, when it becomes the command. --inherit, because
		// with -t alone perf does not follow threads and children.
		"-t", strconv.Itoa(pid), "--inherit", "-o", path,
		"-k", "mono", "-e", p.event, "-F", strconv.Itoa(p.frequency), "--sample-cpu",
		// Watching for BPF programs costs a second in the end: perf joins a thread that
		// polls with this timeout (evlist__stop_sb_thread).
		"--no-bpf-event",
	)
	switch p.callgraph {
	case "none":
	case "fp":
		args = append(args, "-g")
	default:
		args = append(args, "--call-graph", p.callgraph)
	}
	if p.pages > 0 {
		args = append(args, "-m", strconv.Itoa(p.pages))
	}
	if p.buildIDs {
		// Else perf reads all that it recorded a second time in the end, to find out which
		// files it needs the build ids of, and copies those files to ~/.debug.
		args = append(args, "--buildid-mmap")
	} else {
		args = append(args, "-N") // the ids, but no copies
	}
	return args
}

// startRecorder attaches perf record to the launcher and waits until it records. What perf
// refuses is asked for again with less, the least important thing given up first. It
// returns nil if perf cannot record: the run goes on without samples.
func (r *run) startRecorder(ctx context.Context) (*recorder, error) {
	p, ok := r.choosePlan(ctx)
	if !ok {
		return nil, nil
	}
	path := r.file("perf.data")
	for {
		c, err := startControlled(r.Perf, r.watcher, p.args(r.launcher.process.Pid, path)...)
		if err != nil {
			r.missing(record.CausePerfRecordFailed, "no call stacks: perf cannot be started: "+err.Error(), "")
			return nil, nil
		}
		err = c.enable(ctx)
		if err == nil {
			return &recorder{c, p, path}, nil
		}
		c.stop()
		if ctx.Err() != nil {
			return nil, nil
		}
		refusal := r.explain(ctx, refusalOf(c, err))
		if refusal.kind == refusedEvent && !p.chosen {
			return nil, &EventError{p.event, refusal.reason}
		}
		next, change := p.relax(refusal)
		if next == p {
			r.missing(refusal.cause, "no call stacks: perf record: "+refusal.reason, refusal.fix)
			return nil, nil
		}
		if change != "" {
			r.notice(record.Notice{Severity: record.Warning, Cause: refusal.cause, Text: change + ": " + refusal.reason, Fix: refusal.fix})
		}
		p = next
	}
}

// choosePlan decides what to ask perf for first. It is not ok if nothing can be sampled.
func (r *run) choosePlan(ctx context.Context) (p plan, ok bool) {
	p = plan{event: r.Event, callgraph: r.Callgraph, frequency: r.Frequency, buildIDs: true}
	if p.event == "" || event.Base(p.event) == "cycles" { // perf would replace cycles by cpu-clock without a word
		choice, why, err := host.SamplingEvent(ctx, r.Perf)
		var refusal *host.Refusal
		switch {
		case ctx.Err() != nil:
			return p, false
		case errors.As(err, &refusal):
			r.missing(refusal.Cause, "no call stacks: "+refusal.Reason, refusal.Fix)
			return p, false
		case err != nil:
			r.missing(record.CausePerfRecordFailed, "no call stacks: "+err.Error(), "")
			return p, false
		}
		if event.Base(choice) != "cycles" {
			r.notice(record.Notice{Severity: record.Info, Cause: record.CauseEventUnsupported, Text: "sampling cpu-clock, not cycles: " + why})
		}
		if p.event == "" || event.Base(choice) != "cycles" {
			p.event, p.chosen = choice, true
		}
	}
	if event.UserOnly(p.event) && p.chosen {
		r.notice(record.Notice{
			Severity: record.Info, Cause: record.CausePerfEventParanoid,
			Text: "kernel code is not sampled: this user may not see it",
			Fix:  "sudo sysctl kernel.perf_event_paranoid=1",
		})
	}
	if limit, err := maxSampleRate(); err == nil && p.frequency > limit {
		r.notice(record.Notice{
			Severity: record.Warning,
			Text:     fmt.Sprintf("sampling at %d Hz, not %d: the kernel allows no more", limit, p.frequency),
			Fix:      fmt.Sprintf("sudo sysctl kernel.perf_event_max_sample_rate=%d", p.frequency),
		})
		p.frequency = limit
	}
	return p, true
}

func maxSampleRate() (int, error) {
	text, err := os.ReadFile("/proc/sys/kernel/perf_event_max_sample_rate")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// relax gives up what a refusal is about. It returns p itself if there is nothing to give
// up, and what was given up in half a sentence, empty if nobody will miss it.
func (p plan) relax(f refusal) (plan, string) {
	next := p
	switch {
	case f.kind == refusedBuildIDs && p.buildIDs:
		next.buildIDs = false
		return next, ""
	case f.kind == refusedMemory && p.pages == 0:
		next.pages = smallBuffer
		return next, "recording with smaller buffers, samples may be lost"
	case f.kind == refusedOther && p.callgraph == "lbr":
		next.callgraph = "fp"
		return next, "taking call stacks by frame pointers, not by lbr"
	case (f.kind == refusedOther || f.kind == refusedEvent) && p.chosen && event.Base(p.event) == "cycles":
		next.event = "cpu-clock"
		return next, "sampling cpu-clock, not " + p.event
	}
	return p, ""
}

// explain finds out what stands behind a refused permission, which perf's words do not
// tell: a seccomp filter and the paranoid level look the same to it.
func (r *run) explain(ctx context.Context, f refusal) refusal {
	if f.kind != refusedPermission || f.cause == record.CauseTimedOut {
		return f
	}
	var why *host.Refusal
	if _, _, err := host.SamplingEvent(ctx, r.Perf); errors.As(err, &why) {
		f.cause, f.reason, f.fix = why.Cause, why.Reason, why.Fix
	}
	return f
}

// refusalKind is what a perf record that did not begin took exception to.
type refusalKind int

const (
	refusedOther refusalKind = iota
	refusedBuildIDs
	refusedControl
	refusedMemory
	refusedEvent
	refusedPermission
)

type refusal struct {
	kind   refusalKind
	cause  record.Cause
	reason string
	fix    string
}

// refusalOf reads why perf did not begin. perf tells only in words, which are those of
// tools/perf/util/evsel.c (evsel__open_strerror), builtin-record.c (record__mmap_evlist)
// and parse-events.c.
func refusalOf(c *controlled, err error) refusal {
	if errors.Is(err, errNoAnswer) {
		return refusal{kind: refusedPermission, cause: record.CauseTimedOut, reason: err.Error()}
	}
	f := refusal{cause: record.CausePerfRecordFailed, reason: c.complaint()}
	if f.reason == "" {
		f.reason = "it ended without a word"
		if how := c.failure(); how != nil {
			f.reason = how.Error()
		}
	}
	has := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(c.stderr, word) {
				return true
			}
		}
		return false
	}
	switch {
	case has("unknown option `buildid-mmap"):
		f.kind = refusedBuildIDs
	case has("unknown option `control"):
		f.kind = refusedControl
		f.reason = "this perf cannot be told when to begin"
		f.fix = "install perf 5.10 or later"
	case has("mapping pages", "failed to mmap", "mmap_pages"):
		f.kind = refusedMemory
		f.reason = "perf may not lock as much memory as it wants"
		f.fix = "sudo sysctl kernel.perf_event_mlock_kb=2048"
	case has("event syntax error", "parser error", "Cannot find PMU", "unknown tracepoint", "Failed to find"):
		f.kind = refusedEvent
		if _, detail, ok := strings.Cut(c.stderr, `\___ `); ok { // an arrow to the place in the event
			detail, _, _ = strings.Cut(detail, "\n")
			f.reason = detail
		}
	case has("perf_event_paranoid", "Permission denied", "Operation not permitted", "not permitted", "No permission"):
		f.kind = refusedPermission
		f.cause = record.CausePerfEventParanoid
		f.reason = "this user may not record" // perf's own words fill a screen
		f.fix = "sudo sysctl kernel.perf_event_paranoid=1"
	}
	return f
}

// cut reports whether a file's header says that nothing was recorded, as that of a perf
// that could not finish does: it is written last.
func cut(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return true
	}
	defer file.Close()
	var header [56]byte // struct perf_file_header: magic, size, attr_size, attrs, data {offset, size}
	if _, err := io.ReadFull(file, header[:]); err != nil {
		return true
	}
	return binary.NativeEndian.Uint64(header[48:]) == 0
}
