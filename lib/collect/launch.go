package collect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// launcherName is the first argument and the comm of the launcher. Samples under this name
// belong to the time before the command was there.
const launcherName = "vp-launch"

// self is this program, even if its file was replaced meanwhile.
const self = "/proc/self/exe"

// Reexec takes over if this process is one that a run started from its own executable,
// and then does not return. A program that calls [Run] calls it first thing in main.
func Reexec() {
	switch os.Args[0] {
	case launcherName:
		os.Exit(launch(os.Args[1:]))
	case watcherName:
		os.Exit(watch(os.Args[1:]))
	}
}

func init() {
	// Until main.main begins, the main goroutine is on the main thread. perf attaches to
	// every thread, but only the one that execs lives on.
	if os.Args[0] == launcherName {
		runtime.LockOSThread()
	}
}

// launch is the launcher's side. Its arguments are two file descriptors, of the gate that
// it waits at and of the report that it writes, the file to execute, and the command.
//
// The report is a byte when it is ready, its usage when it was released, and if the command
// cannot be executed the errno. Becoming the command closes it.
func launch(args []string) int {
	gate, report := argFD(args[0]), argFD(args[1])
	rename(launcherName)
	if _, err := syscall.Write(report, []byte{0}); err != nil {
		return 1
	}

	var open [1]byte
	n, err := syscall.Read(gate, open[:])
	for err == syscall.EINTR {
		n, err = syscall.Read(gate, open[:])
	}
	if n != 1 {
		return 1 // the collector is gone: nobody waits for the command
	}
	var base syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &base); err != nil {
		return 1
	}
	message, _ := binary.Append(nil, binary.NativeEndian, usageOf(&base)) // fails only for types without size
	if _, err := syscall.Write(report, message); err != nil {
		return 1
	}
	err = execute(args[2], args[3:])
	errno, ok := err.(syscall.Errno)
	if !ok {
		errno = syscall.EINVAL // a NUL byte in the command
	}
	_, _ = syscall.Write(report, binary.NativeEndian.AppendUint32(nil, uint32(errno)))
	return 1
}

// execute becomes the command. Like execvp, and so like a shell, it gives a script without
// #! line to /bin/sh.
func execute(path string, argv []string) error {
	environ := os.Environ()
	err := syscall.Exec(path, argv, environ)
	if err == syscall.ENOEXEC && isText(path) {
		return syscall.Exec("/bin/sh", append([]string{"sh", path}, argv[1:]...), environ)
	}
	return err
}

// isText tells a script from a binary of another machine, which /bin/sh must not see.
func isText(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 128)
	n, err := io.ReadFull(file, head)
	return (err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) && bytes.IndexByte(head[:n], 0) < 0
}

// argFD takes over an inherited file descriptor: the command must not inherit it.
func argFD(arg string) int {
	fd, err := strconv.Atoi(arg)
	if err != nil {
		fd = -1 // using it fails
	}
	syscall.CloseOnExec(fd)
	_ = syscall.SetNonblock(fd, false) // os.Pipe made it so; a bad fd fails at its use
	return fd
}

// rename gives all threads a name. The Go runtime has started some before main.
func rename(name string) {
	tasks, _ := filepath.Glob("/proc/self/task/*/comm") // only a bad pattern fails
	for _, comm := range tasks {
		_ = os.WriteFile(comm, []byte(name), 0) // a thread may have ended
	}
}

// usage is what a process has used up; all fields are of one size for encoding/binary.
type usage struct {
	CPU                      int64 // nanoseconds
	MinorFaults, MajorFaults int64
	Switches                 int64
}

func usageOf(r *syscall.Rusage) usage {
	return usage{
		CPU:         r.Utime.Nano() + r.Stime.Nano(),
		MinorFaults: r.Minflt,
		MajorFaults: r.Majflt,
		Switches:    r.Nvcsw + r.Nivcsw,
	}
}

func (u usage) minus(v usage) usage {
	return usage{u.CPU - v.CPU, u.MinorFaults - v.MinorFaults, u.MajorFaults - v.MajorFaults, u.Switches - v.Switches}
}

// launcher is the collector's side: a child that is about to become the command.
type launcher struct {
	process *os.Process
	gate    *os.File // one byte releases the launcher; closing ends it
	report  *os.File
	base    usage // what the launcher itself had used up; valid after release
}

// startLauncher starts a launcher for argv, which will be executed from path. It must not
// run beside anything that forks: the pipes are inheritable for a moment.
func startLauncher(path string, argv []string, stdout *os.File) (*launcher, error) {
	gateR, gateW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer gateR.Close()
	reportR, reportW, err := os.Pipe()
	if err != nil {
		gateW.Close()
		return nil, err
	}
	defer reportW.Close()

	args := append([]string{launcherName, inherit(gateR), inherit(reportW), path}, argv...)
	process, err := os.StartProcess(self, args, &os.ProcAttr{Files: []*os.File{os.Stdin, stdout, os.Stderr}})
	if err != nil {
		gateW.Close()
		reportR.Close()
		return nil, fmt.Errorf("starting the launcher: %w", err)
	}
	return &launcher{process: process, gate: gateW, report: reportR}, nil
}

// inherit lets the next child have the file under the number that is returned. Numbers
// that were given to us are passed on unchanged, so ExtraFiles, which starts at 3, will
// not do.
func inherit(file *os.File) string {
	fd := file.Fd()
	_, _ = unix.FcntlInt(fd, unix.F_SETFD, 0) // fails only for a closed file
	return strconv.Itoa(int(fd))
}

// ready waits until the launcher waits.
func (l *launcher) ready() error {
	if _, err := io.ReadFull(l.report, make([]byte, 1)); err != nil {
		return errors.New("the launcher ended before it was ready")
	}
	return nil
}

// release lets the launcher become the command and returns the time at which it was let
// go. The error is an errno of execve. A launcher that a signal ends here looks like a
// command that a signal ends at once, and is one for all the world can tell.
func (l *launcher) release() (startNS int64, err error) {
	startNS = now()
	_, werr := l.gate.Write([]byte{1})
	l.gate.Close()
	if werr != nil && !errors.Is(werr, syscall.EPIPE) {
		return startNS, werr
	}
	defer l.report.Close()
	answer, err := io.ReadAll(l.report)
	if err != nil {
		return startNS, err
	}
	n, err := binary.Decode(answer, binary.NativeEndian, &l.base)
	if err != nil {
		return startNS, nil // a signal ended it before it could say
	}
	if errno := answer[n:]; len(errno) == 4 {
		return startNS, syscall.Errno(binary.NativeEndian.Uint32(errno))
	}
	return startNS, nil
}

// abandon has a launcher that was not released end.
func (l *launcher) abandon() {
	l.gate.Close()
	l.report.Close()
}

// now returns CLOCK_MONOTONIC, the clock that perf is told to use, in nanoseconds.
func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // only for a clock that does not exist
	}
	return ts.Nano()
}

// lookPath finds the file of a command as a shell does. The error is a *[StartError].
func lookPath(name string) (string, error) {
	if strings.Contains(name, "/") {
		if err := executable(name); err != nil {
			return "", startError(name, err)
		}
		return name, nil
	}
	failed := error(syscall.ENOENT)
	if name != "" {
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			path := filepath.Join(dir, name)
			if dir == "" || dir == "." {
				path = "./" + name
			}
			err := executable(path)
			if err == nil {
				return path, nil
			}
			if errors.Is(err, syscall.EACCES) {
				failed = err // said if nothing better comes
			}
		}
	}
	return "", startError(name, failed)
}

func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return syscall.EISDIR
	}
	return unix.Access(path, unix.X_OK)
}

func startError(name string, err error) *StartError {
	var pathError *os.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return &StartError{Name: name, Err: err, Status: statusNotFound}
	}
	return &StartError{Name: name, Err: err, Status: statusNotExecutable}
}
