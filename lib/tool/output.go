package tool

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"vperf/lib/record"
)

// Output returns where the command writes: standard output or the file of --output,
// compressed if --zstd asks for it. Main closes it. A file is written under another name
// and renamed in the end, so that a run that fails leaves the old one alone, and a command
// may write the file that it reads.
func (env *Env) Output() (io.Writer, error) {
	if env.out != nil {
		return env.out, nil
	}
	out, err := openOutput(env.Flags.String("output"), env.stdout)
	if err != nil {
		return nil, err
	}
	if out.temp != "" {
		env.Cleanup(func() { os.Remove(out.temp) }) // a no-op once it was renamed
	}
	if env.Flags.Bool("zstd") {
		z, err := zstd.NewWriter(out.file, zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			return nil, err
		}
		out.z = z
	}
	env.out = out
	return out, nil
}

// Records returns a record writer on the output; --drop applies. Main flushes it.
func (env *Env) Records() (*record.Writer, error) {
	if env.records != nil {
		return env.records, nil
	}
	out, err := env.Output()
	if err != nil {
		return nil, err
	}
	w := record.NewWriter(out)
	if err := w.Drop(env.drop...); err != nil {
		return nil, err
	}
	env.records = w
	return w, nil
}

type output struct {
	file  *os.File
	z     *zstd.Encoder
	path  string // where temp goes when all went well
	temp  string // "" if file is written in place
	err   error
	close func(keep bool) error
}

func openOutput(path string, stdout *os.File) (*output, error) {
	out := &output{file: stdout}
	out.close = out.finish
	if path == "" || path == "-" {
		return out, nil
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // write through a symbolic link, do not replace it
	}
	mode := fs.FileMode(0o666)
	info, err := os.Stat(path)
	if err == nil {
		mode = info.Mode().Perm()
	}
	if err == nil && !info.Mode().IsRegular() { // a device or a pipe
		out.file, err = os.OpenFile(path, os.O_WRONLY, 0)
		return out, wrapOutput(err)
	}
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:8])
	out.file, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err == nil {
		out.path, out.temp = path, temp
		return out, nil
	}
	if info != nil { // no new files here, but this one may be ours to write
		if file, openErr := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, mode); openErr == nil {
			out.file = file
			return out, nil
		}
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return nil, &Error{Place: path, Text: "cannot write: " + err.Error()}
}

func wrapOutput(err error) error {
	if err != nil {
		return &outputError{err}
	}
	return nil
}

func (o *output) Write(p []byte) (int, error) {
	var n int
	var err error
	if o.z != nil {
		n, err = o.z.Write(p)
	} else {
		n, err = o.file.Write(p)
	}
	if err != nil {
		err = &outputError{err}
		o.err = err
	}
	return n, err
}

// finish closes the file; keep says whether what it holds is worth its name.
func (o *output) finish(keep bool) error {
	err := o.err
	if o.z != nil {
		if zErr := o.z.Close(); err == nil {
			err = wrapOutput(zErr)
		}
	}
	if closeErr := o.file.Close(); err == nil { // a disk may be full only now
		err = wrapOutput(closeErr)
	}
	switch {
	case o.temp == "":
	case err == nil && keep:
		err = wrapOutput(os.Rename(o.temp, o.path))
	default:
		os.Remove(o.temp)
	}
	return err
}
