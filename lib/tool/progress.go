package tool

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"vperf/lib/printable"
)

// progressAfter is how long work may take before it is worth a progress bar.
const progressAfter = time.Second

// Progress shows how far the work is. The zero value shows nothing.
type Progress struct {
	what  string
	total int64
	done  int64
	start time.Time
	out   io.Writer
	bar   *progressbar.ProgressBar
}

// Progress starts a bar for work of total bytes. Only stages that know how much there is
// show one: in a pipeline, several bars would fight for the same line of the terminal.
func (env *Env) Progress(what string, total int64) *Progress {
	env.progress.Done()
	env.progress = Progress{}
	show := env.Flags.String("progress")
	if show == "always" || show == "auto" && !env.Quiet && total > 0 && isTerminal(env.Stderr) {
		env.progress = Progress{what: what, total: total, start: time.Now(), out: env.Stderr}
	}
	return &env.progress
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Add says that n more bytes are done.
func (p *Progress) Add(n int64) {
	if p.out == nil {
		return
	}
	p.done += n
	if p.bar != nil {
		p.bar.Add64(n)
		return
	}
	if time.Since(p.start) < progressAfter {
		return
	}
	total := p.total
	if total <= 0 {
		total = -1
	}
	p.bar = progressbar.NewOptions64(
		total,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionSetDescription(printable.Terminal(p.what)),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetWidth(24),
		progressbar.OptionClearOnFinish(),
	)
	p.bar.Add64(p.done)
}

// Done takes the bar away.
func (p *Progress) Done() {
	p.hide()
	p.bar, p.out = nil, nil
}

// hide clears the line for a message.
func (p *Progress) hide() {
	if p.bar != nil {
		p.bar.Clear()
	}
}
