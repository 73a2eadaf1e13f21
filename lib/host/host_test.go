package host

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// machine loads a file of testdata/hosts: the files of a machine, and under "want" what
// is to be read from them.
func machine(t *testing.T, path string) (tree, map[string]string) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	loaded, want := fstest.MapFS{}, map[string]string{}
	for _, file := range archive.Files {
		if strings.HasPrefix(file.Name, "want") {
			want[file.Name] = strings.TrimSpace(string(file.Data))
			continue
		}
		loaded[file.Name] = &fstest.MapFile{Data: file.Data}
	}
	return tree{loaded}, want
}

func TestDescribe(t *testing.T) {
	paths, err := filepath.Glob("testdata/hosts/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no hosts", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			host, want := machine(t, path)
			got, err := json.Marshal(host.describe())
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want["want"] {
				t.Errorf("got  %s\nwant %s", got, want["want"])
			}
			if got := strings.Join(host.corePMUs(), " "); got != want["want-pmus"] {
				t.Errorf("got PMUs %q, want %q", got, want["want-pmus"])
			}
			if got := host.container(); got != want["want-container"] {
				t.Errorf("got container %q, want %q", got, want["want-container"])
			}
		})
	}
}

func TestHypervisor(t *testing.T) {
	const guest, metal = "flags : fpu hypervisor", "flags : fpu"
	for _, test := range []struct{ cpuinfo, path, text, want string }{
		{metal, "", "", ""},
		{guest, "", "", "unknown"},
		{guest, "sys/class/dmi/id/sys_vendor", "QEMU", "qemu"},
		{guest, "sys/class/dmi/id/sys_vendor", "VMware, Inc.", "vmware"},
		{guest, "sys/class/dmi/id/board_vendor", "innotek GmbH", "virtualbox"},
		{guest, "sys/class/dmi/id/sys_vendor", "Microsoft Corporation", "hyperv"},
		{metal, "sys/class/dmi/id/sys_vendor", "Microsoft Corporation", ""}, // a laptop of that name
		{guest, "sys/class/dmi/id/product_name", "Google Compute Engine", "kvm"},
		{guest, "sys/class/dmi/id/sys_vendor", "Amazon EC2", "kvm"},
		{guest, "sys/devices/system/clocksource/clocksource0/available_clocksource", "hyperv_clocksource_tsc_page acpi_pm", "hyperv"},
		{metal, "sys/hypervisor/type", "xen\n", "xen"},
		{"", "proc/device-tree/hypervisor/compatible", "linux,kvm\x00", "kvm"},
		{"", "proc/device-tree/hypervisor/compatible", "xen,xen-4.16\x00xen,xen\x00", "xen"},
		{"", "proc/device-tree/hypervisor/compatible", "acme,hv\x00", "unknown"},
	} {
		if test.path == "" {
			test.path = "etc/hostname"
		}
		if got := files(test.path, test.text).hypervisor(parseCPUInfo(test.cpuinfo)); got != test.want {
			t.Errorf("%q and %s %q: got %q, want %q", test.cpuinfo, test.path, test.text, got, test.want)
		}
	}
}

func TestContainer(t *testing.T) {
	for _, test := range []struct{ path, text, want string }{
		{"proc/1/cgroup", "0::/init.scope", ""},
		{"run/systemd/container", "lxc\n", "lxc"},
		{"proc/1/environ", "HOME=/\x00container=podman\x00", "podman"},
		{"proc/1/environ", "xcontainer=podman\x00", ""},
		{"run/.containerenv", "", "podman"},
		{"proc/1/cgroup", "0::/docker/0123456789ab", "docker"},
	} {
		if got := files(test.path, test.text).container(); got != test.want {
			t.Errorf("%s %q: got %q, want %q", test.path, test.text, got, test.want)
		}
	}
}

func TestParseList(t *testing.T) {
	for list, want := range map[string][]int{
		"0":            {0},
		"0-3\n":        {0, 1, 2, 3},
		"0-1,8,10-11":  {0, 1, 8, 10, 11},
		"":             nil,
		"x":            nil,
		"3-1":          nil,
		"-1":           nil,
		"0-":           nil,
		"0-4000000000": nil,
	} {
		if got := parseList(list); !slices.Equal(got, want) {
			t.Errorf("parseList(%q) = %v, want %v", list, got, want)
		}
	}
}

func FuzzParseList(f *testing.F) {
	f.Add("0-3,8")
	f.Add("0-65535,0-65535,0-65535")
	f.Fuzz(func(t *testing.T, list string) {
		for _, n := range parseList(list) {
			if n < 0 || n >= maxCPUs {
				t.Errorf("parseList(%q) gives %d", list, n)
			}
		}
	})
}

func FuzzParseCPUInfo(f *testing.F) {
	paths, err := filepath.Glob("testdata/hosts/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if file.Name == "proc/cpuinfo" {
				f.Add(string(file.Data))
			}
		}
	}
	f.Add("processor 0: version = FF,  identification = 0133E8,  machine = 2964\n") // s390
	f.Add("cpu\t\t: POWER9, altivec supported\nclock\t\t: 3800.000000MHz\n")
	f.Add("CPU implementer : -1\nCPU part : 99999999999999999999\nCPU variant : 0x100\nCPU revision : 3")
	f.Fuzz(func(t *testing.T, text string) {
		info := parseCPUInfo(text)
		lines := strings.Count(text, "\n") + 1
		if info.processors > lines || info.cores > lines || info.lineBytes < 0 {
			t.Errorf("%d processors, %d cores, lines of %d bytes", info.processors, info.cores, info.lineBytes)
		}
		for _, n := range []*int64{info.cpu.Family, info.cpu.Model, info.cpu.Stepping} {
			if n != nil && *n < 0 {
				t.Errorf("a negative number: %d", *n)
			}
		}
		if info.hypervisor && !info.x86 {
			t.Error("a hypervisor bit outside x86")
		}
	})
}

// files returns a machine with one file.
func files(path, text string) tree {
	return tree{fstest.MapFS{path: &fstest.MapFile{Data: []byte(text)}}}
}
