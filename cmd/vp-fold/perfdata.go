package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"vperf/lib/perf"
	"vperf/lib/perf/recording"
	"vperf/lib/perf/script"
	"vperf/lib/tool"
)

// isPerfData reports whether a file begins like a recording of perf, in either byte order.
// Version 1 of the format ("PERFFILE") has been gone since 2009.
func isPerfData(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PERFILE2")) || bytes.HasPrefix(head, []byte("2ELIFREP"))
}

// A recordingFile is a recording that is read from a file. Close ends what reads it; its
// error says why the samples may not be all there are.
type recordingFile struct {
	recording.Source
	close func() error
}

// spool copies a recording into a file of its own: perf does not read perf.data from a
// pipe unless it was recorded into one.
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

// openPerfData starts to read a perf.data file. name stands in messages.
func openPerfData(env *tool.Env, name, path string, o *options) (*recordingFile, error) {
	p, err := perf.Find(env.Context)
	if err != nil {
		return nil, err
	}
	fields, err := outputFields(env.Context, p, path)
	if err != nil {
		return nil, &tool.Error{Place: name, Text: "perf cannot read the recording: " + err.Error()}
	}
	// -f: a recording belongs to whoever made it, and root may read it all the same.
	args := []string{"script", "-f", "-i", path, "--ns", "-F", fields}
	if o.shape.NoInline {
		args = append(args, "--no-inline")
	}
	cmd := p.Command(env.Context, args...)
	var messages tail
	cmd.Stderr = &messages
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = in
	// perf writes in small blocks; a large pipe lets it run on while we work. Not every
	// system allows that, and it works without.
	unix.FcntlInt(in.Fd(), unix.F_SETPIPE_SZ, 1<<20)
	err = cmd.Start()
	in.Close()
	if err != nil {
		out.Close()
		return nil, &tool.Error{Place: name, Text: "perf script does not start", Err: err}
	}
	reader := script.NewReader(out)
	reader.Addresses = o.naming.Addresses
	return &recordingFile{reader, func() error {
		out.Close()
		if err := cmd.Wait(); err != nil {
			return &tool.Error{Place: name, Text: fmt.Sprintf("perf script failed (%v): %s", err, messages.last()), Hint: messages.rest(), Err: err}
		}
		countLost(reader.Tally(), messages.text)
		return nil
	}}, nil
}

// outputFields returns what to ask perf script for: it refuses to print fields that the
// samples of one event do not have.
func outputFields(ctx context.Context, p *perf.Perf, path string) (string, error) {
	cmd := p.Command(ctx, "evlist", "-f", "-v", "-i", path)
	var messages tail
	cmd.Stderr = &messages
	list, err := cmd.Output()
	if err != nil {
		if text := messages.last(); text != "" {
			return "", errors.New(text)
		}
		return "", err
	}
	fields := []string{"comm", "tid", "pid", "event", "ip", "sym", "dso", "period"}
	for _, optional := range []struct{ bit, field string }{{"TIME", "time"}, {"CPU", "cpu"}} {
		if allHave(string(list), optional.bit) {
			fields = append(fields, optional.field)
		}
	}
	return strings.Join(fields, ","), nil
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

// countLost takes from perf's messages what it lost.
func countLost(t *recording.Tally, messages []byte) {
	for line := range bytes.Lines(messages) {
		if n, ok := script.LostChunks(line); ok {
			t.Add(recording.LostChunks, n, 0, string(bytes.TrimSpace(line)))
		}
	}
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

// last returns the last line, rest those before it, without blank ones.
func (t *tail) last() string {
	lines := t.lines()
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

func (t *tail) rest() string {
	lines := t.lines()
	if len(lines) < 2 {
		return ""
	}
	return "perf said before: " + strings.Join(lines[:len(lines)-1], " / ")
}

func (t *tail) lines() []string {
	return strings.FieldsFunc(string(t.text), func(r rune) bool { return r == '\n' || r == '\r' })
}
