package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"vperf/lib/perf"
	"vperf/lib/perf/script"
	"vperf/lib/record"
	"vperf/lib/sched"
)

// perfScript reads a perf.data file through `perf script`, which it runs.
type perfScript struct {
	*script.Reader
	cmd      *exec.Cmd
	out      *os.File
	messages tail
}

// A perfError is what perf says about a recording that it cannot read.
type perfError struct {
	text string
	hint string
}

func (e *perfError) Error() string { return e.text }

// perfScript reads a perf.data file through perf script.
func (b *batch) perfScript(path string, run profiledRun) {
	a := b.app
	if cutShort(path) {
		b.cause = record.CauseTruncatedInput
		a.env.Warn(b.name, "the recording is cut: perf record was killed, or the file was not copied whole", "")
	}
	src, err := openPerfScript(a.env.Context, path, a.opt)
	if err != nil {
		b.fail(err)
		return
	}
	b.read(src, run)
}

// openPerfScript starts perf script.
func openPerfScript(ctx context.Context, path string, o *options) (*perfScript, error) {
	p, err := perf.Find(ctx)
	if err != nil {
		return nil, err
	}
	// -f: a recording belongs to whoever made it, and root may read it all the same.
	args := []string{"script", "-f", "-i", path, "--ns"}
	output, err := outputArgs(ctx, p, path)
	if err != nil {
		return nil, err
	}
	args = append(args, output...)
	if o.shape.NoInline {
		args = append(args, "--no-inline")
	}
	if o.symfs != "" {
		args = append(args, "--symfs", o.symfs)
	}
	s := &perfScript{cmd: p.Command(ctx, args...)}
	s.cmd.Stderr = &s.messages
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.out, s.cmd.Stdout = out, in
	// perf writes in small blocks; a large pipe lets it run on while we work. Not every
	// system allows that, and it works without.
	unix.FcntlInt(in.Fd(), unix.F_SETPIPE_SZ, 1<<20)
	err = s.cmd.Start()
	in.Close()
	if err != nil {
		out.Close()
		return nil, err
	}
	s.Reader = script.NewReader(out)
	s.Reader.Addresses = o.naming.Addresses
	return s, nil
}

// Close ends perf. Its error says why the samples may not be all that there are.
func (s *perfScript) Close() error {
	ended := s.Reader.Ended()
	s.out.Close() // perf ends by it if we did not read all
	if err := s.cmd.Wait(); err != nil && ended {
		return s.messages.failure("perf script", err)
	}
	for line := range bytes.Lines(s.messages.text) {
		script.CountLoss(s.Tally(), bytes.TrimSpace(line), 0)
	}
	return nil
}

// outputArgs returns what to ask perf script for: it refuses to print fields that the
// samples of one event do not have. What makes waits is asked for where it is there.
func outputArgs(ctx context.Context, p *perf.Perf, path string) ([]string, error) {
	cmd := p.Command(ctx, "evlist", "-f", "-v", "-i", path)
	var messages tail
	cmd.Stderr = &messages
	list, err := cmd.Output()
	if err != nil {
		return nil, messages.failure("perf evlist", err)
	}
	fields := []string{"comm", "tid", "pid", "event", "ip", "sym", "dso", "period"}
	for _, optional := range []struct{ bit, field string }{{"TIME", "time"}, {"CPU", "cpu"}} {
		if allHave(string(list), optional.bit) {
			fields = append(fields, optional.field)
		}
	}
	var args []string
	tracepoint, switches := hasSwitches(string(list))
	if tracepoint {
		fields = append(fields, "trace")
	}
	if switches {
		args = append(args, "--show-switch-events")
	}
	if tracepoint || switches {
		args = append(args, "--show-task-events")
	}
	return append(args, "-F", strings.Join(fields, ",")), nil
}

// hasSwitches tells whether a recording has sched:sched_switch with its fields, and
// whether it has switch records, by what perf evlist -v lists.
func hasSwitches(list string) (tracepoint, switches bool) {
	for line := range strings.Lines(list) {
		name, attr, _ := strings.Cut(line, ": ")
		tracepoint = tracepoint || sched.IsSwitch(name) && strings.Contains(attr, "|RAW")
		switches = switches || strings.Contains(attr, " context_switch: 1")
	}
	return tracepoint, switches
}

// allHave reports whether a sample type is set for every event that perf evlist -v lists.
func allHave(list, bit string) bool {
	found := false
	for line := range strings.Lines(list) {
		_, types, ok := strings.Cut(line, "sample_type: ")
		if !ok {
			continue
		}
		types, _, _ = strings.Cut(strings.TrimSpace(types), ",")
		if !slices.Contains(strings.Split(types, "|"), bit) {
			return false
		}
		found = true
	}
	return found
}

// cutShort reports whether a perf.data file was not finished: perf writes the size of the
// data when it ends, and a file that was cut is smaller than it says.
func cutShort(path string) bool {
	const fileHeader = 104
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	head := make([]byte, 56)
	if _, readErr := io.ReadFull(file, head); err != nil || readErr != nil {
		return true
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(head[:8]) == "2ELIFREP" {
		order = binary.BigEndian
	}
	if order.Uint64(head[8:]) < fileHeader {
		return false // written into a pipe: there is no size
	}
	offset, size := order.Uint64(head[40:]), order.Uint64(head[48:])
	return size == 0 || offset+size > uint64(info.Size())
}

// tail keeps the end of what perf says.
type tail struct{ text []byte }

const tailSize = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if n := len(t.text) - tailSize; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(p), nil
}

// failure makes an error of a command's exit and of its last words.
func (t *tail) failure(command string, err error) error {
	lines := strings.FieldsFunc(string(t.text), func(r rune) bool { return r == '\n' || r == '\r' })
	e := &perfError{text: fmt.Sprintf("%s failed (%v)", command, err)}
	if n := len(lines); n > 0 {
		e.text += ": " + strings.TrimSpace(lines[n-1])
		if n > 1 {
			e.hint = "before that it said: " + strings.Join(lines[max(0, n-6):n-1], " / ")
		}
	}
	return e
}
