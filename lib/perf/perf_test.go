package perf

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The test binary is also the ELF file that the tests install as perf: with a file
// PATH.answer beside it, it prints that and exits.
func TestMain(m *testing.M) {
	if answer, err := os.ReadFile(os.Args[0] + ".answer"); err == nil {
		if len(os.Args) != 2 || os.Args[1] != "--version" {
			os.Exit(129)
		}
		os.Stdout.Write(answer)
		if len(answer) == 0 {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// installELF puts an ELF file at path that answers --version; with "" it fails.
func installELF(t *testing.T, path, answer string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mkdir(t, filepath.Dir(path))
	if err := os.Link(self, path); err != nil {
		copyFile(t, self, path)
	}
	if err := os.WriteFile(path+".answer", []byte(answer), 0o600); err != nil {
		t.Fatal(err)
	}
}

func installScript(t *testing.T, path, body string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
}

// host returns a finder over an empty machine whose PATH is its usr/bin, then sh's.
func host(t *testing.T, kernel string) finder {
	t.Helper()
	root := t.TempDir()
	mkdir(t, filepath.Join(root, "usr/bin"))
	t.Setenv("PATH", filepath.Join(root, "usr/bin")+":/bin")
	if _, err := os.Stat("/bin/perf"); err == nil { // a merged /usr: only sh may come from there
		mkdir(t, filepath.Join(root, "sh"))
		if err := os.Symlink("/bin/sh", filepath.Join(root, "sh/sh")); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", filepath.Join(root, "usr/bin")+":"+filepath.Join(root, "sh"))
	}
	t.Setenv("PERF", "")
	return finder{root: root, kernel: kernel}
}

func TestFindELF(t *testing.T) {
	f := host(t, "6.1.0-27-amd64")
	real := filepath.Join(f.root, "opt/perf-6.1")
	installELF(t, real, "perf version 6.1.187\n")
	link := filepath.Join(f.root, "usr/bin/perf")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(link+".answer", []byte("perf version 6.1.187\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := f.find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := (Perf{Path: link, ELF: real, Version: "6.1.187"}); *got != want {
		t.Errorf("got %+v, want %+v", *got, want)
	}
}

func TestFindEnvironment(t *testing.T) {
	f := host(t, "6.1.0")
	installELF(t, filepath.Join(f.root, "usr/bin/perf"), "perf version 6.1\n")
	other := filepath.Join(f.root, "other/perf")
	installELF(t, other, "perf version 6.8.12\n")
	t.Setenv("PERF", other)
	got, err := f.find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Path != other || got.Version != "6.8.12" {
		t.Errorf("got %+v", *got)
	}

	t.Setenv("PERF", other+"x")
	_, err = f.find(t.Context())
	if missing := notFound(t, err); !strings.Contains(missing.Reason, "PERF="+other+"x is not an executable file") {
		t.Errorf("reason %q", missing.Reason)
	}
}

func TestFindScript(t *testing.T) {
	for _, test := range []struct{ name, kernel, elf, answer, want string }{
		{"flavour", "6.8.0-40-generic", "usr/lib/linux-tools/6.8.0-40-generic/perf", "perf version 6.8.12", "usr/lib/linux-tools/6.8.0-40-generic/perf"},
		{"abi", "6.8.0-40-generic", "usr/lib/linux-tools-6.8.0-40/perf", "perf version 6.8.12", "usr/lib/linux-tools-6.8.0-40/perf"},
		{"debian 11", "5.10.0-32-amd64", "usr/bin/perf_5.10", "perf version 6.8.12", "usr/bin/perf_5.10"},
		{"no flavour", "6.9.3", "usr/bin/perf_6.9", "perf version 6.8.12", "usr/bin/perf_6.9"},
		{"another version", "6.8.0-40-generic", "usr/lib/linux-tools-6.8.0-40/perf", "perf version 6.8.1", ""},
		{"elsewhere", "6.8.0-40-generic", "opt/perf", "perf version 6.8.12", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := host(t, test.kernel)
			script := filepath.Join(f.root, "usr/bin/perf")
			installScript(t, script, "echo perf version 6.8.12")
			installELF(t, filepath.Join(f.root, test.elf), test.answer)
			got, err := f.find(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := Perf{Path: script, Script: true, Version: "6.8.12"}
			if test.want != "" {
				want.ELF = filepath.Join(f.root, test.want)
			}
			if *got != want {
				t.Errorf("got %+v, want %+v", *got, want)
			}
		})
	}
}

func TestFindFails(t *testing.T) {
	for _, test := range []struct{ name, script, reason string }{
		{"not in PATH", "", "perf is not in PATH"},
		{"words", "echo hello", `answers --version with "hello": it is not perf`},
		{"nothing", "exit 0", `answers --version with "": it is not perf`},
		{"version without number", "echo 'perf version '", "it is not perf"},
		{"library", "echo 'perf: error while loading shared libraries: libpython3.9.so.1.0' >&2; exit 127", "libpython3.9.so.1.0 (exit status 127)"},
		{"silent", "exit 3", "fails at --version: exit status 3"},
		{"killed", "kill -SEGV $$", "fails at --version: signal: segmentation fault"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := host(t, "6.1.0")
			path := filepath.Join(f.root, "usr/bin/perf")
			if test.script != "" {
				installScript(t, path, test.script)
			}
			mkdir(t, filepath.Join(f.root, "etc"))
			if err := os.WriteFile(filepath.Join(f.root, "etc/os-release"), []byte("NAME=x\nID=\"linuxmint\"\nID_LIKE=\"ubuntu debian\"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := f.find(t.Context())
			missing := notFound(t, err)
			if !strings.Contains(missing.Error(), test.reason) {
				t.Errorf("reason %q, want %q", missing.Error(), test.reason)
			}
			if (missing.Path == path) != (test.script != "") {
				t.Errorf("path %q", missing.Path)
			}
			if want := "install it: sudo apt-get install linux-tools-common linux-tools-generic"; missing.Hint() != want {
				t.Errorf("hint %q, want %q", missing.Hint(), want)
			}
		})
	}
}

func TestFindHanging(t *testing.T) {
	f := host(t, "6.1.0")
	pidFile := filepath.Join(f.root, "pid")
	installScript(t, filepath.Join(f.root, "usr/bin/perf"), "/bin/sleep 60 & echo $! > "+pidFile+"; wait")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := f.find(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	for {
		line, _ := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/cmdline") // empty or gone when it has ended
		if len(line) == 0 {
			break
		}
		if time.Since(start) > 3*time.Second {
			t.Fatal("what the script runs was left running")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// The wrapper of Ubuntu under a kernel that it has no perf for.
func TestFindWrapperWithoutPerf(t *testing.T) {
	f := host(t, "5.15.77.1-microsoft-standard-WSL2")
	wrapper := filepath.Join(f.root, "usr/bin/perf")
	installScript(t, wrapper, `echo 'WARNING: perf not found for kernel 5.15.77.1-microsoft

  You may need to install the following packages for this specific kernel:
    linux-tools-5.15.77.1-microsoft-standard-WSL2
    linux-cloud-tools-5.15.77.1-microsoft-standard-WSL2' >&2
exit 2`)
	newestFirst := []string{
		"/usr/lib/linux-tools-6.8.0-40/perf",
		"/usr/lib/linux-tools/5.15.0-91-generic/perf",
		"/usr/lib/linux-tools/5.4.0-150-generic/perf",
	}
	for _, path := range newestFirst {
		installELF(t, filepath.Join(f.root, path), "perf version 5.15.1\n")
	}
	installELF(t, filepath.Join(f.root, "usr/bin/perf_6.10"), "") // newer, but does not answer
	installScript(t, filepath.Join(f.root, "usr/bin/perf_6.11"), "echo perf version 6.11")
	link := filepath.Join(f.root, "usr/lib/linux-tools/6.8.0-40-generic/perf")
	installELF(t, link, "perf version 5.15.1\n")
	if err := errors.Join(os.Remove(link), os.Symlink("../../linux-tools-6.8.0-40/perf", link)); err != nil {
		t.Fatal(err)
	}

	_, err := f.find(t.Context())
	missing := notFound(t, err)
	if !missing.Script || missing.Path != wrapper || missing.Reason != wrapper+" is a wrapper script that finds no perf built for this kernel (5.15.77.1-microsoft-standard-WSL2)" {
		t.Errorf("got %+v", missing)
	}
	var usable []string
	for _, path := range missing.Usable {
		usable = append(usable, strings.TrimPrefix(path, f.root))
	}
	// Of a link and the file it points to, either may stand for both.
	if len(usable) > 0 && usable[0] == "/usr/lib/linux-tools/6.8.0-40-generic/perf" {
		usable[0] = newestFirst[0]
	}
	if !slices.Equal(usable, newestFirst) {
		t.Errorf("usable %q, want %q", usable, newestFirst)
	}
	if want := "export PERF=" + missing.Usable[0]; missing.Fix() != want || !strings.HasSuffix(missing.Hint(), want) {
		t.Errorf("fix %q, hint %q", missing.Fix(), missing.Hint())
	}
}

func notFound(t *testing.T, err error) *NotFound {
	t.Helper()
	var missing *NotFound
	if !errors.As(err, &missing) {
		t.Fatalf("got error %v, want a NotFound", err)
	}
	return missing
}

func TestCommandEnvironment(t *testing.T) {
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("DEBUGINFOD_URLS", "https://debuginfod.example")
	t.Setenv("PERF_PAGER", "less")
	t.Setenv("KEPT", "LC_ALL=x")
	cmd := (&Perf{Path: "/usr/bin/perf"}).Command(t.Context(), "stat", "--", "true")
	var got []string
	for _, entry := range cmd.Env {
		switch name, _, _ := strings.Cut(entry, "="); name {
		case "LC_ALL", "DEBUGINFOD_URLS", "PERF_PAGER", "KEPT":
			got = append(got, entry)
		}
	}
	slices.Sort(got)
	if want := []string{"KEPT=LC_ALL=x", "LC_ALL=C", "PERF_PAGER=cat"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []string{"/usr/bin/perf", "stat", "--", "true"}; !slices.Equal(cmd.Args, want) {
		t.Errorf("got %q, want %q", cmd.Args, want)
	}
}

func TestCompareVersions(t *testing.T) {
	ordered := []string{"perf_4.19", "perf_5.4", "/usr/lib/linux-tools/5.15.0-9-generic/perf", "linux-tools-5.15.0-91", "perf_6.8", "perf_6.8.0", "perf_6.10"}
	for i, low := range ordered {
		for j, high := range ordered {
			got := compareVersions(low, high)
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("compareVersions(%q, %q) = %d", low, high, got)
			}
		}
	}
}

func FuzzParseVersion(f *testing.F) {
	f.Add("perf version 6.1.187\n")
	f.Add("perf version 5.15.g8bb7eca972ad")
	f.Add("perf version ")
	f.Fuzz(func(t *testing.T, answer string) {
		version, ok := parseVersion(answer)
		if ok == (version == "") || strings.ContainsAny(version, " \n\t") {
			t.Errorf("parseVersion(%q) = %q, %v", answer, version, ok)
		}
	})
}
