package tool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"vperf/lib/record"
	"vperf/lib/shell"
)

// Input is one of the command's inputs.
type Input struct {
	Name   string // as given; "stdin" for standard input
	Path   string // of the file, if it is one that can be opened again; else ""
	Reader *bufio.Reader
}

// EachInput calls f for every FILE argument in order, or for standard input if there is
// none ("-" stands for it too). The reader is decompressed; Peek tells what it is. A file
// that cannot be read is reported, the others are still read, and the exit status will be
// 1. An error of f ends the walk.
func (env *Env) EachInput(f func(*Input) error) error {
	names := env.Flags.Args().Slice()
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if err := env.eachInput(name, f); err != nil {
			return err
		}
	}
	return nil
}

func (env *Env) eachInput(name string, f func(*Input) error) error {
	file, in := env.stdin, &Input{Name: "stdin"}
	if name != "-" {
		opened, err := os.Open(name)
		if err != nil {
			env.Fail(openError(name, err))
			return nil
		}
		defer opened.Close()
		file, in.Name = opened, name
	} else if term.IsTerminal(int(file.Fd())) {
		env.Warn("", "reading standard input, which is a terminal", "name a file or pipe something in; Ctrl-D ends the input; see "+env.cmd.Name+" --help")
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		env.Fail(openError(in.Name, err))
		return nil
	case info.IsDir():
		env.Fail(&Error{Place: in.Name, Text: "is a directory"})
		return nil
	}
	var raw io.Reader = file
	if info.Mode().IsRegular() {
		if name != "-" {
			in.Path = name
		}
		bar := env.Progress(in.Name, info.Size())
		defer bar.Done()
		raw = &countingReader{file, bar}
	}
	in.Reader = bufio.NewReaderSize(record.NewDecompressor(raw), 64<<10)
	return f(in)
}

// openError says what is wrong with a file in a sentence.
func openError(name string, err error) error {
	e := &Error{Place: name, Err: err}
	var path *fs.PathError
	if errors.As(err, &path) {
		e.Err = path.Err // the place is named already
	}
	if errors.Is(err, fs.ErrPermission) {
		e.Hint = "its owner can make it readable: chmod a+r " + shell.Quote(name)
	}
	return e
}

func (env *Env) readsStdin() bool {
	args := env.Flags.Args()
	return !args.Present() || slices.Contains(args.Slice(), "-")
}

type countingReader struct {
	io.Reader
	bar *Progress
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bar.Add(int64(n))
	return n, err
}

// Reader returns a record reader on in. Lines that are no records and streams that are
// not whole are reported on stderr and counted in [Env.Problems]. One command has one
// record reader, so that the ordinals of its streams count on from file to file.
func (env *Env) Reader(in *Input) *record.Reader {
	if env.reader == nil {
		env.reader = record.NewPlainReader(in.Name, in.Reader)
		env.reader.Report = env.Problem
	} else {
		env.reader.Reset(in.Name, in.Reader)
	}
	return env.reader
}

// Problem reports and counts what was wrong with the input.
func (env *Env) Problem(p record.Problem) { env.problems.add(env, p) }

// Problems returns what was wrong with the input so far, as notices for the command's own
// stream: one per cause, in order of first appearance.
func (env *Env) Problems() []record.Notice { return env.problems.notices() }

// problems counts what was wrong with the input. A broken file can have as many bad lines
// as lines: only the first few are shown.
type problems struct {
	order []record.Cause
	first map[record.Cause]record.Problem
	count map[record.Cause]int
}

const problemsShown = 3

func (ps *problems) add(env *Env, p record.Problem) {
	if ps.first == nil {
		ps.first, ps.count = map[record.Cause]record.Problem{}, map[record.Cause]int{}
	}
	if ps.count[p.Cause]++; ps.count[p.Cause] == 1 {
		ps.order = append(ps.order, p.Cause)
		ps.first[p.Cause] = p
	}
	if ps.count[p.Cause] <= problemsShown {
		env.Warn(fmt.Sprintf("%s:%d", p.Name, p.Line), p.Text, "")
	}
}

func (ps *problems) summary(env *Env) {
	for _, cause := range ps.order {
		if more := ps.count[cause] - problemsShown; more > 0 {
			env.Warn("", fmt.Sprintf("%d more problems of that kind in the input (%s)", more, cause), "")
		}
	}
}

func (ps *problems) notices() []record.Notice {
	var out []record.Notice
	for _, cause := range ps.order {
		p, text := ps.first[cause], ""
		if n := ps.count[cause]; n == 1 {
			text = fmt.Sprintf("line %d of the input: %s", p.Line, p.Text)
		} else {
			text = fmt.Sprintf("%d places in the input; the first is line %d: %s", n, p.Line, p.Text)
		}
		out = append(out, record.Notice{Severity: record.Warning, Cause: cause, Text: strings.ToValidUTF8(text, "\ufffd")})
	}
	return out
}
