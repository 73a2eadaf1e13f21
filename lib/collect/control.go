package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"vperf/lib/perf"
)

// patience is how long perf may take to begin, and to write its files in the end, before
// it is given up. It takes 0.2 s on an idle machine.
const patience = 60 * time.Second

// controlArgs make perf start with its events disabled and wait for orders on file
// descriptor 3, which it acknowledges on 4.
var controlArgs = []string{"-D", "-1", "--control", "fd:3,4"}

// controlled is a perf that was started with controlArgs.
type controlled struct {
	cmd    *exec.Cmd
	orders *os.File // perf's control pipe
	acks   *os.File
	done   chan struct{} // closed when it has ended
	err    error         // how it ended; valid after done
	stderr string        // what it said, or the beginning of it; valid after done
}

// startControlled starts perf. It waits neither for perf to be ready nor for its end.
func startControlled(p *perf.Perf, w *watcher, args ...string) (*controlled, error) {
	perfOrders, orders, err := controlPipe(true)
	if err != nil {
		return nil, err
	}
	defer perfOrders.Close()
	perfAcks, acks, err := controlPipe(false)
	if err != nil {
		orders.Close()
		return nil, err
	}
	defer perfAcks.Close()

	// Cancelling is not for perf: it has to write its file in peace.
	c := &controlled{cmd: p.Command(context.Background(), args...), orders: orders, acks: acks, done: make(chan struct{})}
	c.cmd.ExtraFiles = []*os.File{perfOrders, perfAcks}
	// Not a pipe: a perf that outlives us must not die of it before its file is written.
	stderr, err := memoryFile("perf stderr")
	if err != nil {
		return nil, errors.Join(err, c.hangUp())
	}
	c.cmd.Stderr = stderr
	c.cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:   true, // Ctrl-C is for the command
		Pdeathsig: syscall.SIGTERM,
	}

	started := make(chan error)
	go func() {
		// The parent-death signal comes when the thread that forked ends, so the thread
		// must live as long as perf. It is not unlocked: it ends with this function.
		runtime.LockOSThread()
		err := c.cmd.Start()
		started <- err
		defer stderr.Close()
		if err != nil {
			return
		}
		w.watch(c.cmd.Process.Pid) // here, so that it comes before forget
		c.err = c.cmd.Wait()
		head := make([]byte, 16<<10)
		n, _ := stderr.ReadAt(head, 0) // it ends before
		c.stderr = string(head[:n])
		w.forget(c.cmd.Process.Pid)
		close(c.done)
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(err, c.hangUp())
	}
	return c, nil
}

// memoryFile returns an anonymous file that no full disk concerns.
func memoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// controlPipe makes a pipe that we write to, or read from. perf's end of it is both ends,
// so that perf does not notice when the collector dies: a perf that does leaves a file
// whose header says that it is empty.
func controlPipe(write bool) (perfs, ours *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	ours, other := r, w
	if write {
		ours, other = w, r
	}
	defer other.Close()
	// Fd would make our end deaf to deadlines, but not the other one.
	perfs, err = os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", other.Fd()), os.O_RDWR, 0)
	if err != nil {
		ours.Close()
		return nil, nil, err
	}
	return perfs, ours, nil
}

func (c *controlled) hangUp() error {
	return errors.Join(c.orders.Close(), c.acks.Close())
}

// errNoAnswer says that perf is alive but does not take orders.
var errNoAnswer = fmt.Errorf("perf did not answer within %v", patience)

// enable has perf count from now on. It returns when perf does. If perf has ended instead,
// the error is errEnded, and c.stderr says why.
func (c *controlled) enable(ctx context.Context) error {
	// perf's end is seen by its last copy of the pipe closing.
	if err := c.acks.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { c.acks.SetReadDeadline(time.Now()) })()
	if _, err := c.orders.WriteString("enable\n"); err != nil && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	var answer strings.Builder
	buf := make([]byte, 16)
	for {
		n, err := c.acks.Read(buf)
		answer.Write(buf[:n])
		switch {
		case strings.Contains(answer.String(), "ack"):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, os.ErrDeadlineExceeded):
			return errNoAnswer
		case err != nil:
			return errEnded
		}
	}
}

var errEnded = errors.New("perf ended")

// stop has perf write what it has and waits for its end.
func (c *controlled) stop() {
	defer c.hangUp()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		select {
		case <-c.done:
			return
		default:
		}
		// To the group: PATH may call a wrapper script perf.
		_ = syscall.Kill(-c.cmd.Process.Pid, s) // it may just have ended
		select {
		case <-c.done:
			return
		case <-time.After(patience):
		}
	}
	<-c.done
}

// failure tells how perf ended if not as it should, in words that complete "perf record
// ...". It may be called after stop.
func (c *controlled) failure() error {
	var exit *exec.ExitError
	if c.err == nil {
		return nil
	}
	if !errors.As(c.err, &exit) {
		return c.err
	}
	status := exit.Sys().(syscall.WaitStatus)
	interrupted := status.Signaled() && status.Signal() == syscall.SIGINT || status.ExitStatus() == 128+int(syscall.SIGINT)
	if interrupted {
		return nil
	}
	how := fmt.Sprintf("exited with status %d", status.ExitStatus())
	if status.Signaled() {
		how = "was ended by " + signalName(status.Signal())
	}
	if said := c.complaint(); said != "" {
		how += ": " + said
	}
	return errors.New(how)
}

// fix returns what to do about what perf complains of, if that is known.
func (c *controlled) fix() string {
	if strings.Contains(c.stderr, "No space left on device") {
		return "set TMPDIR to a directory on a disk with room"
	}
	return ""
}

// complaint returns the first line of perf's stderr that is not routine.
func (c *controlled) complaint() string {
	for line := range strings.Lines(c.stderr) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line == "Error:" || line == "WARNING:":
		case strings.HasPrefix(line, "Events "), strings.HasPrefix(line, "[ perf record:"):
		default:
			return line
		}
	}
	return ""
}
