package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vperf/lib/perf/recording"
	"vperf/lib/record"
	"vperf/lib/tool"
)

// A profile is what the record streams of the input say about one run.
type profile struct {
	id      string // of its stream records; empty for a foreign stream, which is one of its own
	name    string // of the input that it came from first
	clock   string
	run     profiledRun
	dumps   []*dumpFile
	folded  bool // it holds samples: some vp-fold was here before
	streams []*foldedStream
	threads map[int64]record.Thread
}

var noRun = profiledRun{pid: recording.None, start: recording.None}

// A dumpFile is a recording that came in dump records.
type dumpFile struct {
	of   string
	path string
	file *os.File
	next int // seq of the chunk that follows
	cut  bool
	err  error
}

// records reads a record stream. For --format ndjson every line is passed on.
func (a *app) records(in *tool.Input) error {
	r := a.env.Reader(in)
	var p *profile
	var w *record.Writer
	if a.file == nil {
		var err error
		if w, err = a.env.Records(); err != nil {
			return err
		}
	}
	for r.Next() {
		if w != nil {
			if err := w.Raw(r.Line()); err != nil {
				return err
			}
		}
		t := r.Type()
		if t == record.TypeStream {
			var begin record.Stream
			if !r.Decode(&begin) {
				continue
			}
			if r.Repeat() {
				p = a.streams[r.Stream()].profile
			} else {
				p = a.profileOf(begin, in.Name)
				a.streams[r.Stream()] = &openStream{profile: p}
			}
			continue
		}
		if r.Repeat() {
			continue
		}
		if p == nil { // records outside of every stream
			p = a.profileOf(record.Stream{}, in.Name)
			a.streams[r.Stream()] = &openStream{profile: p}
		}
		switch t {
		case record.TypeMeta:
			var m record.Meta
			if r.Decode(&m) {
				p.run.learn(m.Target)
			}
		case record.TypeDump:
			a.dump(p, r, in.Name)
		case record.TypeSample, record.TypeWait:
			p.folded = true
		}
		if a.file == nil {
			continue
		}
		switch t {
		case record.TypeEvent, record.TypeFrame, record.TypeStack, record.TypeSample, record.TypeWait, record.TypeThread:
			s := a.streams[r.Stream()]
			if s.folded == nil {
				s.folded = newFoldedStream(a, p)
			}
			if err := s.folded.take(r, p); err != nil {
				a.env.Problem(record.Problem{Name: in.Name, Line: r.LineNumber(), Cause: record.CauseBadInput, Text: err.Error()})
			}
		}
	}
	for _, p := range a.profiles {
		p.closeDumps()
	}
	if err := r.Err(); err != nil {
		a.env.Fail(&tool.Error{Place: in.Name, Text: "cannot be read to its end", Err: err, Cause: record.CauseTruncatedInput})
	}
	return nil
}

// An openStream is a stream of the input and what it was folded to before.
type openStream struct {
	profile *profile
	folded  *foldedStream // nil until it is needed
}

// profileOf returns the profile that a stream belongs to.
func (a *app) profileOf(begin record.Stream, name string) *profile {
	if begin.Profile != "" {
		for _, p := range a.profiles {
			if p.id == begin.Profile {
				p.clock = cmp.Or(p.clock, begin.Clock)
				return p
			}
		}
	}
	p := &profile{id: begin.Profile, name: name, clock: begin.Clock, run: noRun, threads: map[int64]record.Thread{}}
	a.profiles = append(a.profiles, p)
	return p
}

// learn takes what a meta record says of the target.
func (r *profiledRun) learn(t *record.Target) {
	if t == nil {
		return
	}
	if t.Launcher != "" {
		r.launcher = t.Launcher
	}
	if t.PID != nil {
		r.pid = *t.PID
	}
	if t.StartNS != nil {
		r.start = *t.StartNS
	}
}

// dump puts a chunk behind those that came before.
func (a *app) dump(p *profile, r *record.Reader, input string) {
	var d record.Dump
	if !r.Decode(&d) || d.Of != record.DumpPerfData && d.Of != record.DumpPerfScript {
		return
	}
	var f *dumpFile
	if d.Seq == 0 {
		f = &dumpFile{of: d.Of}
		p.dumps = append(p.dumps, f)
		if f.err = f.create(a.env, len(a.profiles), len(p.dumps)); f.err != nil {
			return
		}
	} else {
		i := len(p.dumps) - 1
		for i >= 0 && p.dumps[i].of != d.Of {
			i--
		}
		if i < 0 {
			a.env.Warn(r.Place(), "a recording begins in its middle: its first dump record is missing", "")
			return
		}
		f = p.dumps[i]
	}
	if f.err != nil || f.cut {
		return
	}
	chunk, err := d.AppendTo(nil)
	if err == nil && d.Seq != f.next {
		err = fmt.Errorf("dump record %d follows %d", d.Seq, f.next-1)
	}
	if err != nil {
		f.cut = true
		a.env.Problem(record.Problem{Name: input, Line: r.LineNumber(), Cause: record.CauseTruncatedInput, Text: err.Error()})
		return
	}
	f.next++
	_, f.err = f.file.Write(chunk)
}

func (f *dumpFile) create(env *tool.Env, profile, number int) error {
	dir, err := env.TempDir()
	if err != nil {
		return err
	}
	f.path = filepath.Join(dir, fmt.Sprintf("%d-%d", profile, number))
	f.file, err = os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return err
}

func (p *profile) closeDumps() {
	for _, f := range p.dumps {
		if f.file != nil {
			if err := f.file.Close(); f.err == nil {
				f.err = err
			}
			f.file = nil
		}
	}
}

// foldProfile folds the recordings of a profile, or what was folded of it before.
func (a *app) foldProfile(p *profile, last bool) error {
	switch {
	case p.folded && a.file != nil:
		return a.foldAgain(p)
	case p.folded:
		a.passed = true
		if a.opt.filtered() {
			a.env.Warn(p.name, "samples that were folded before are passed on as they are: flags that select samples work with the other formats", "")
		}
		return nil
	case len(p.dumps) == 0:
		return nil
	}
	b := a.newBatch(p.name, record.Stream{Profile: p.id, Clock: p.clock})
	b.run = p.id != ""
	for _, d := range p.dumps {
		if d.err != nil {
			return &tool.Error{Place: p.name, Text: "the recording cannot be unpacked", Err: d.err}
		}
		if d.cut {
			b.cause = record.CauseTruncatedInput
		}
		a.foldDump(b, d, p.run)
		os.Remove(d.path) // early: the next one may be as large
	}
	if last {
		return b.end(a.env.Problems()...)
	}
	return b.end()
}

func (a *app) foldDump(b *batch, d *dumpFile, run profiledRun) {
	if d.of == record.DumpPerfData {
		b.perfData(d.path, run)
		return
	}
	file, err := os.Open(d.path)
	if err != nil {
		b.fail(err)
		return
	}
	defer file.Close()
	b.read(a.newText(file), run)
}

// headerMeta makes a meta record of the header that perf script --header prints.
func headerMeta(h map[string]string) *record.Meta {
	m := &record.Meta{PerfVersion: h["perf version"]}
	host := record.Host{Name: h["hostname"], Kernel: h["os release"]}
	if name := h["cpudesc"]; name != "" {
		host.CPU = &record.CPU{Name: name}
		host.CPU.Vendor, _, _ = strings.Cut(h["cpuid"], ",")
	}
	fmt.Sscan(h["nrcpus online"], &host.NCPU)
	if host != (record.Host{}) {
		m.Host = &host
	}
	if m.Host == nil && m.PerfVersion == "" {
		return nil
	}
	return m
}

func join(names []string) string { return strings.Join(names, ", ") }
