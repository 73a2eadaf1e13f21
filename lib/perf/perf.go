// Package perf finds the perf command and runs it.
//
// What PATH calls perf is not always perf. Ubuntu, and Debian before 12, install a shell
// script that execs the perf built for the running kernel and fails where there is none:
// in containers, under custom kernels and in WSL. File capabilities on such a script have
// no effect. So [Find] says which file is named and which one really runs.
package perf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Perf is a perf command that answers.
type Perf struct {
	Path    string // what is executed
	ELF     string // the file that really runs, symbolic links resolved: where capabilities belong; empty where a script hides it
	Script  bool   // Path is a script that execs ELF
	Version string // as perf prints it: "6.1.187", "5.15.g8bb7eca972ad"
}

// answerTime is how long a perf may take to print its version. It takes 10 ms; a network
// file system may take seconds.
const answerTime = 5 * time.Second

// Find returns the perf that the environment variable PERF names, else the one in PATH.
// It runs it once, for its version. The error is a *[NotFound], or that of ctx.
func Find(ctx context.Context) (*Perf, error) {
	return finder{root: "/", kernel: kernelRelease()}.find(ctx)
}

// Command returns the command `perf args...`, with an environment in which perf prints
// what a parser expects: the C locale (others print decimal commas), no pager, and no
// debuginfod servers, which perf would ask over the network for every file it meets.
// A workload that perf itself starts inherits that environment.
func (p *Perf) Command(ctx context.Context, args ...string) *exec.Cmd {
	return command(ctx, p.Path, args...)
}

func command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "DEBUGINFOD_URLS", "LC_ALL", "PERF_PAGER":
		default:
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C", "PERF_PAGER=cat")
	return cmd
}

// finder holds what tests replace.
type finder struct {
	root   string // where usr/lib/linux-tools is looked for
	kernel string // release of the running kernel
}

func (f finder) find(ctx context.Context) (*Perf, error) {
	name := os.Getenv("PERF")
	from := "PERF=" + name
	if name == "" {
		name, from = "perf", "perf"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		if name == "perf" {
			return nil, &NotFound{Reason: "perf is not in PATH", Usable: f.usable(ctx), install: f.installCommand()}
		}
		return nil, &NotFound{Reason: from + " is not an executable file", Usable: f.usable(ctx), install: forgetPERF}
	}

	p := &Perf{Path: path}
	kind, err := kindOf(path)
	if err != nil {
		return nil, &NotFound{Path: path, Reason: err.Error(), Usable: f.usable(ctx), install: f.installCommand()}
	}
	p.Script = kind == kindScript

	answer, err := ask(ctx, path)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		missing := &NotFound{Path: path, Script: p.Script, Reason: path + " " + err.Error(), install: f.installCommand()}
		missing.Usable = without(f.usable(ctx), path)
		if p.Script && strings.Contains(err.Error(), "perf not found for kernel") {
			missing.Reason = fmt.Sprintf("%s is a wrapper script that finds no perf built for this kernel (%s)", path, f.kernel)
		}
		return nil, missing
	}
	p.Version = answer
	if p.Script {
		p.ELF = f.wrapped(ctx, p.Version)
	} else if p.ELF, err = filepath.EvalSymlinks(path); err != nil {
		p.ELF = path
	}
	return p, nil
}

type fileKind int

const (
	kindOther fileKind = iota
	kindELF
	kindScript
)

// kindOf tells an ELF file from a script by its first bytes. A file that may be executed
// but not read counts as neither.
func kindOf(path string) (fileKind, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrPermission) {
		return kindOther, nil
	}
	if err != nil {
		return kindOther, err
	}
	defer file.Close()
	var magic [4]byte
	n, err := io.ReadFull(file, magic[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return kindOther, err
	}
	switch {
	case string(magic[:n]) == "\x7fELF":
		return kindELF, nil
	case bytes.HasPrefix(magic[:n], []byte("#!")):
		return kindScript, nil
	}
	return kindOther, nil
}

// ask returns the version that a perf prints. Its error completes the sentence "PATH ...".
func ask(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	cmd := command(ctx, path, "--version")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// A script leaves children behind when it is killed: they hold the pipes, so do not
	// wait for those, and end them with it.
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

	err := cmd.Run()
	version, ok := parseVersion(stdout.String())
	switch {
	case ok && err == nil:
		return version, nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("does not answer --version within %v", answerTime)
	case err == nil:
		return "", fmt.Errorf("answers --version with %q: it is not perf", firstLine(stdout.String()))
	case stderr.Len() > 0:
		return "", fmt.Errorf("fails at --version: %s (%w)", firstLine(stderr.String()), err)
	}
	return "", fmt.Errorf("fails at --version: %w", err)
}

// parseVersion returns what stands behind "perf version".
func parseVersion(answer string) (string, bool) {
	rest, ok := strings.CutPrefix(answer, "perf version ")
	if !ok {
		return "", false
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return "", false
	}
	return fields[0], true
}

// firstLine returns the first line of text that says something, cut to a length that fits a message.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	const limit = 160
	if len(line) > limit {
		line = strings.ToValidUTF8(line[:limit], "") + "..."
	}
	return strings.TrimSpace(line)
}

func kernelRelease() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown release"
	}
	return strings.TrimSpace(string(release))
}
