// Package host describes this machine and finds out what can be profiled on it.
//
// What is written in /proc and /sys is only a prediction. Whether events count and samples
// arrive is decided by trying: perf and the kernel accept many events that then count
// nothing, and perf exits 0 all the same.
package host

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"vperf/lib/record"
)

// Describe returns what is known of this machine. What cannot be read is left out.
func Describe() *record.Host { return here.describe() }

func (t tree) describe() *record.Host {
	info := parseCPUInfo(t.word("proc/cpuinfo"))
	online := parseList(t.word("sys/devices/system/cpu/online"))
	h := &record.Host{
		Name:       t.word("proc/sys/kernel/hostname"),
		Kernel:     t.word("proc/sys/kernel/osrelease"),
		NCPU:       len(online),
		Cores:      t.cores(online),
		NUMANodes:  len(parseList(t.word("sys/devices/system/node/online"))),
		LineBytes:  t.lineBytes(online),
		Governor:   t.governor(online),
		Hypervisor: t.hypervisor(info),
	}
	if info.cpu != (record.CPU{}) {
		h.CPU = &info.cpu
	}
	if h.NCPU == 0 {
		h.NCPU = info.processors
	}
	if h.Cores == 0 {
		h.Cores = info.cores
	}
	if h.LineBytes == 0 {
		h.LineBytes = int(info.lineBytes)
	}
	h.SMT = t.smt(h)
	return h
}

// cores counts the physical cores among the CPUs, 0 where the topology is not told.
func (t tree) cores(cpus []int) int {
	siblings := make(map[string]bool)
	for _, cpu := range cpus {
		list := or(t.word(cpuPath(cpu, "topology/core_cpus_list")), t.word(cpuPath(cpu, "topology/thread_siblings_list")))
		if list == "" {
			return 0
		}
		siblings[list] = true
	}
	return len(siblings)
}

// smt says whether two CPUs share a core; nil where nothing tells.
func (t tree) smt(h *record.Host) *bool {
	var active bool
	switch t.word("sys/devices/system/cpu/smt/active") {
	case "1":
		active = true
	case "0":
	default:
		if h.Cores == 0 || h.NCPU == 0 {
			return nil
		}
		active = h.Cores < h.NCPU
	}
	return &active
}

// lineBytes returns the size of a line of the first-level data cache, 0 where it is not told.
func (t tree) lineBytes(cpus []int) int {
	for _, cpu := range cpus {
		for index := range 8 {
			dir := cpuPath(cpu, "cache/index"+string(rune('0'+index)))
			kind := t.word(dir + "/type")
			if t.word(dir+"/level") != "1" || kind != "Data" && kind != "Unified" {
				continue
			}
			if size, ok := t.number(dir + "/coherency_line_size"); ok && size > 0 {
				return int(size)
			}
		}
	}
	return 0
}

// governor returns how the CPUs choose their frequency. Where they differ, as the core
// types of a hybrid part may, it is all the names, sorted.
func (t tree) governor(cpus []int) string {
	var names []string
	for _, cpu := range cpus {
		if name := t.word(cpuPath(cpu, "cpufreq/scaling_governor")); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}

func cpuPath(cpu int, file string) string {
	return "sys/devices/system/cpu/cpu" + strconv.Itoa(cpu) + "/" + file
}

// firmwareNames are the words by which virtual machines call themselves in their DMI
// tables. Clouds also sell whole machines under the same names, so the words count only
// where something else says that there is a hypervisor.
var firmwareNames = []struct{ word, hypervisor string }{
	{"Firecracker", "firecracker"},
	{"VMware", "vmware"},
	{"VirtualBox", "virtualbox"},
	{"innotek", "virtualbox"},
	{"Parallels", "parallels"},
	{"Xen", "xen"},
	{"Microsoft Corporation", "hyperv"},
	{"Google", "kvm"},
	{"Amazon EC2", "kvm"}, // nitro
	{"OpenStack", "kvm"},
	{"KVM", "kvm"},
	{"QEMU", "qemu"},
	{"Apple Virtualization", "apple"},
}

// guestOnly are the hypervisors of firmwareNames whose words no whole machine bears.
var guestOnly = []string{"firecracker", "virtualbox", "kvm", "qemu", "apple"}

// hypervisor names what this machine is a guest of: empty on bare metal, "unknown" where
// only the processor says that there is one.
func (t tree) hypervisor(info cpuinfo) string {
	switch {
	case strings.Contains(strings.ToLower(t.word("proc/sys/kernel/osrelease")), "microsoft"):
		return "wsl"
	case t.word("sys/hypervisor/type") == "xen": // of its first domain too: the PMU is Xen's
		return "xen"
	}
	if compatible := t.word("proc/device-tree/hypervisor/compatible"); compatible != "" { // ARM, POWER
		for _, name := range []string{"kvm", "xen"} {
			if strings.Contains(compatible, name) {
				return name
			}
		}
		return "unknown"
	}
	firmware := t.firmware()
	guest := info.hypervisor
	if !info.x86 { // no such bit: the name has to do
		metal := strings.Contains(t.word("sys/class/dmi/id/product_name"), "metal") // a cloud's whole machine: "m7g.metal"
		guest = slices.Contains(guestOnly, firmware) && !metal
	}
	if !guest {
		return ""
	}
	if firmware != "" {
		return firmware
	}
	clocks := t.word("sys/devices/system/clocksource/clocksource0/available_clocksource")
	switch {
	case strings.Contains(clocks, "kvm-clock"):
		return "kvm"
	case strings.Contains(clocks, "hyperv"):
		return "hyperv"
	}
	return "unknown"
}

// firmware names the hypervisor that the DMI tables speak of, or "".
func (t tree) firmware() string {
	for _, file := range []string{"product_name", "sys_vendor", "board_vendor", "bios_vendor"} {
		text := t.word("sys/class/dmi/id/" + file)
		for _, name := range firmwareNames {
			if strings.Contains(text, name.word) {
				return name.hypervisor
			}
		}
	}
	return ""
}

// container names what this process is contained in: "docker", "podman", "lxc",
// "kubernetes", ..., "" where nothing tells of a container.
func (t tree) container() string {
	if kind := t.word("run/systemd/container"); kind != "" {
		return kind
	}
	if kind := environment(t.word("proc/1/environ"), "container"); kind != "" { // readable by root only
		return kind
	}
	if t.exists("run/.containerenv") {
		return "podman"
	}
	cgroup := t.word("proc/1/cgroup")
	for _, kind := range []string{"kubepods", "docker", "lxc", "libpod", "containerd"} {
		if strings.Contains(cgroup, kind) {
			return strings.Replace(kind, "kubepods", "kubernetes", 1)
		}
	}
	if t.exists(".dockerenv") {
		return "docker"
	}
	return ""
}

// environment returns the value of a variable in the text of a /proc/PID/environ.
func environment(text, name string) string {
	for entry := range strings.SplitSeq(text, "\x00") {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// pmus returns the names of the performance monitoring units that the kernel has a
// driver for, sorted: "cpu", "cpu_core", "ibs_op", "armv8_pmuv3_0", "software", ...
func (t tree) pmus() []string {
	entries, _ := fs.ReadDir(t.FS, "sys/bus/event_source/devices") // absent without perf events: no names
	var names []string
	for _, entry := range entries {
		names = append(names, path.Base(entry.Name()))
	}
	return names
}
