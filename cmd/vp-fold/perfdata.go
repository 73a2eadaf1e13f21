package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"vperf/lib/perf/data"
	"vperf/lib/perf/machine"
	"vperf/lib/record"
	"vperf/lib/symbol"
	"vperf/lib/tool"
)

// perfData folds a recording. What perf record writes into a pipe is read as it comes; a
// file that comes through one, or compressed, is copied first, for its names are at its
// end.
func (a *app) perfData(in *tool.Input) error {
	b := a.foreignBatch(in)
	head, _ := in.Reader.Peek(16)
	switch {
	case startsLikePerfData(in.Path):
		b.perfData(in.Path, noRun)
	case data.IsPipe(head):
		b.perfPipe(in.Reader)
	default:
		path, err := spool(a.env, in.Reader)
		if err != nil {
			return &tool.Error{Place: in.Name, Text: "cannot be copied to a file: " + err.Error(), Err: err}
		}
		b.perfData(path, noRun)
	}
	return b.end()
}

// startsLikePerfData reports whether a path is that of a file that holds a recording as it
// is.
func startsLikePerfData(path string) bool {
	if path == "" {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 8)
	n, _ := io.ReadFull(file, head)
	return data.IsRecording(head[:n])
}

// spool copies a recording into a file of its own.
func spool(env *tool.Env, in io.Reader) (path string, err error) {
	dir, err := env.TempDir()
	if err != nil {
		return "", err
	}
	file, err := os.OpenFile(filepath.Join(dir, "perf.data"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(file, in)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return file.Name(), err
}

// perfData reads a perf.data file into the batch. Only what holds copies of stacks, which
// have to be unwound, goes through perf.
func (b *batch) perfData(path string, run profiledRun) {
	file, err := os.Open(path)
	if err != nil {
		b.fail(err)
		return
	}
	defer file.Close()
	r, err := data.NewReader(file)
	if err != nil {
		b.fail(err)
		return
	}
	defer r.Close()
	if machine.NeedsUnwinding(r.Events()) {
		b.perfScript(path, run)
		return
	}
	b.perfRecords(r, run)
}

// perfPipe reads what perf record writes into a pipe.
func (b *batch) perfPipe(in *bufio.Reader) {
	var begun bytes.Buffer
	tee := &teeReader{in: in, kept: &begun}
	r, err := data.NewReader(tee)
	if err != nil {
		b.fail(err)
		return
	}
	defer r.Close()
	tee.kept = nil
	if !machine.NeedsUnwinding(r.Events()) {
		b.perfRecords(r, noRun)
		return
	}
	path, err := spool(b.app.env, io.MultiReader(&begun, in))
	if err != nil {
		b.fail(err)
		return
	}
	b.perfScript(path, noRun)
}

// teeReader keeps what is read as long as someone wants it.
type teeReader struct {
	in   io.Reader
	kept *bytes.Buffer
}

func (t *teeReader) Read(p []byte) (int, error) {
	n, err := t.in.Read(p)
	if t.kept != nil {
		t.kept.Write(p[:n])
	}
	return n, err
}

// perfRecords reads a recording without perf.
func (b *batch) perfRecords(r *data.Reader, run profiledRun) {
	o := b.app.opt
	finder := &symbol.Finder{SymFS: o.symfs, NoInline: o.shape.NoInline}
	src := machine.NewSource(r, machine.Options{
		Open:      func(m symbol.Module) machine.Names { return finder.Open(m) },
		Inlined:   !o.shape.NoInline,
		Addresses: o.naming.Addresses,
	})
	if s := b.stream; s != nil && !b.run {
		s.meta = func() *record.Meta { return infoMeta(r.Info()) }
		if onMonotonic(r.Events()) {
			s.begin.Clock = "monotonic"
		}
	}
	b.read(src, run)
	for _, m := range src.Missing(tellMissing) {
		if m.Problem != nil {
			share := float64(m.Samples) / float64(src.Tally().Samples)
			text := m.Problem.Text
			if !strings.Contains(text, m.Module) {
				text = m.Module + ": " + text
			}
			b.names = append(b.names, record.Notice{
				Severity: record.Warning, Cause: m.Problem.Cause, Fix: m.Problem.Hint,
				Text: fmt.Sprintf("%.0f %% of the samples were taken in functions without a symbol: %s", 100*share, text),
			})
		}
	}
	if f := r.Fault(); f != nil {
		b.app.env.Warn(b.name, "the recording is not whole: "+f.Error(), "perf record was killed, or the file was not copied whole; what came before is kept")
	}
}

// tellMissing is the share of samples in a module without names from which on that is
// worth a notice of its own.
const tellMissing = 0.05

func infoMeta(in *data.Info) *record.Meta {
	return headerMeta(map[string]string{
		"perf version": in.Version, "hostname": in.Hostname, "os release": in.Release,
		"cpudesc": in.CPU, "cpuid": in.CPUID, "nrcpus online": strconv.Itoa(in.CPUs),
	})
}

// onMonotonic reports whether all times are of CLOCK_MONOTONIC (perf record -k mono).
func onMonotonic(events []*data.Event) bool {
	const monotonic = 1
	for _, e := range events {
		if e.Flags&data.FlagUseClockID == 0 || e.ClockID != monotonic {
			return false
		}
	}
	return len(events) > 0
}
