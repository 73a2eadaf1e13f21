package host

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A trial that has not ended by then never will: the longest takes a fifth of a second.
const trialTime = 3 * time.Second

// outcome is what one run of perf gave.
type outcome struct {
	stdout, stderr []byte
	err            error // of the exit status, or of the start
	timedOut       bool
}

// try runs perf and waits for it and its children, at most for the prober's limit. A perf
// that has hung once is not run again.
func (p *prober) try(ctx context.Context, args ...string) outcome {
	if p.hung {
		return outcome{timedOut: true}
	}
	limited, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	cmd := p.perf.Command(limited, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// In a group of its own, so that a perf that hangs is ended together with what a
	// wrapper script or perf itself has started; and should one of those survive with the
	// pipes in its hands, it is not waited for.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	p.hung = limited.Err() != nil
	return outcome{stdout.Bytes(), stderr.Bytes(), err, p.hung}
}

// message returns the line of perf's words that says most: perf 6 begins with "Error:" on
// a line of its own.
func (o outcome) message() string {
	for line := range strings.Lines(string(o.stderr)) {
		line = strings.TrimSpace(line)
		if line == "" || line == "Error:" || strings.HasPrefix(line, "WARNING:") {
			continue
		}
		return line
	}
	if o.err != nil {
		return o.err.Error()
	}
	return ""
}

// refused tells whether perf says that it may not, and with which error number: EACCES is
// what perf_event_paranoid answers, EPERM what seccomp does.
func (o outcome) refused() bool {
	text := strings.ToLower(string(o.stderr))
	for _, words := range []string{
		"permission", "not permitted", "access to performance monitoring", "perf_event_paranoid", "eacces", "eperm",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// usage tells whether perf does not know one of the options, as older versions may.
func (o outcome) usage() bool {
	var exit *exec.ExitError
	return errors.As(o.err, &exit) && exit.ExitCode() == 129
}

// A reading is the count of one event.
type reading struct {
	event   string  // as perf prints it: with ":u" where it may count user code only
	value   float64 // 0 unless counted
	unit    string  // of the value; empty for a plain count
	counted bool    // a number was printed, and it is not 0
	why     string  // "not supported" or "not counted", where perf says so
}

// count runs `perf stat` on a short command and returns what each event counted. perf
// exits 0 also where it counted nothing at all.
func (p *prober) count(ctx context.Context, events ...string) ([]reading, outcome) {
	args := []string{"stat", "-x,", "--log-fd", "1"} // the counts on stdout, apart from perf's complaints
	for _, event := range events {
		args = append(args, "-e", event)
	}
	o := p.try(ctx, append(args, "--", "true")...)
	return parseCounts(string(o.stdout)), o
}

// parseCounts reads the lines of `perf stat -x,`: value, unit, event, time counted,
// percentage of the time that it was counted, and more. Lines of another shape are skipped.
func parseCounts(text string) []reading {
	var readings []reading
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimRight(line, "\n"), ",")
		if len(fields) < 5 || fields[2] == "" {
			continue
		}
		r := reading{event: fields[2], unit: fields[1]}
		if words, ok := strings.CutPrefix(fields[0], "<"); ok {
			r.why = strings.TrimSuffix(words, ">")
		} else {
			value, err := strconv.ParseFloat(fields[0], 64)
			if err != nil {
				continue
			}
			r.counted = value > 0
			r.value = value
		}
		readings = append(readings, r)
	}
	return readings
}
