package collect

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	Reexec()
	os.Exit(m.Run())
}

// A launcher that is not released: all its threads bear the name, and it ends when the
// collector does not want it any more, or is gone.
func TestLauncherWaits(t *testing.T) {
	l, err := startLauncher("/bin/true", []string{"true"}, os.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.ready(); err != nil {
		t.Fatal(err)
	}
	comms, _ := filepath.Glob("/proc/" + strconv.Itoa(l.process.Pid) + "/task/*/comm")
	if len(comms) == 0 {
		t.Error("no threads")
	}
	for _, comm := range comms {
		if name, err := os.ReadFile(comm); err != nil || strings.TrimSpace(string(name)) != launcherName {
			t.Errorf("%s: %q, %v", comm, name, err)
		}
	}
	l.abandon()
	if state, err := l.process.Wait(); err != nil || state.ExitCode() != 1 {
		t.Errorf("%v, %v", state, err)
	}
}

func TestLauncherBecomesCommand(t *testing.T) {
	for _, test := range []struct {
		path string
		want error
		exit int
	}{
		{"/bin/sh", nil, 7},
		{"/nonexistent", syscall.ENOENT, 1},
		{"/", syscall.EACCES, 1},
	} {
		l, err := startLauncher(test.path, []string{"anything", "-c", "exit 7"}, os.Stdout)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.ready(); err != nil {
			t.Fatal(err)
		}
		start, err := l.release()
		if !errors.Is(err, test.want) || start <= 0 {
			t.Errorf("%s: released at %d: %v", test.path, start, err)
		}
		if state, err := l.process.Wait(); err != nil || state.ExitCode() != test.exit {
			t.Errorf("%s: %v, %v", test.path, state, err)
		}
	}
}

// The watcher ends what it was told to watch, and only that, when it is not dismissed.
func TestWatcher(t *testing.T) {
	sleeper := func() *exec.Cmd {
		cmd := exec.Command("sleep", "30")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		return cmd
	}
	for _, dismissed := range []bool{false, true} {
		w, err := startWatcher()
		if err != nil {
			t.Fatal(err)
		}
		<-w.up
		dir := filepath.Join(t.TempDir(), "with \"quotes\" and\nnewline")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		watched, forgotten := sleeper(), sleeper()
		w.watch(watched.Process.Pid)
		w.watch(forgotten.Process.Pid)
		w.forget(forgotten.Process.Pid)
		w.remove(dir)
		if dismissed {
			if err := w.close(); err != nil {
				t.Error(err)
			}
		} else {
			w.orders.Close()
			watched.Wait() // else it stays as a zombie, for which the watcher waits
			if s := signalOf(watched.ProcessState); s != syscall.SIGTERM {
				t.Errorf("the watched: %v", watched.ProcessState)
			}
			w.process.Wait()
		}
		if _, err := os.Stat(dir); (err == nil) != dismissed {
			t.Errorf("dismissed: %v, directory: %v", dismissed, err)
		}
		if err := forgotten.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("the forgotten: %v", err)
		}
	}
}
