package host

import (
	"slices"
	"strconv"
	"strings"

	"vperf/lib/record"
)

// cpuinfo is what /proc/cpuinfo says, whatever the architecture.
type cpuinfo struct {
	cpu        record.CPU // of the first processor
	processors int
	cores      int   // distinct (physical id, core id) pairs; 0 where it does not say
	lineBytes  int64 // 0 where it does not say
	x86        bool
	hypervisor bool // x86: the cpuid bit that a hypervisor sets for its guests
}

// parseCPUInfo reads the text of /proc/cpuinfo. Blocks of "key : value" describe one
// processor each; some architectures put what all have in common into a last block.
func parseCPUInfo(text string) cpuinfo {
	var info cpuinfo
	first := make(map[string]string) // the first value of each key
	cores := make(map[[2]string]bool)
	var packageID string
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch key {
		case "processor": // s390 has "processor 0: ..." instead: counted by its caller from sysfs
			info.processors++
			packageID = ""
		case "physical id":
			packageID = value
		case "core id":
			cores[[2]string{packageID, value}] = true
		}
		if _, seen := first[key]; !seen {
			first[key] = value
		}
	}
	info.cores = len(cores)
	info.lineBytes = max(0, atoi(first["clflush size"]))
	flags, x86 := first["flags"]
	info.x86 = x86
	info.hypervisor = slices.Contains(strings.Fields(flags), "hypervisor")

	if implementer, ok := first["CPU implementer"]; ok {
		info.cpu = armCPU(implementer, first["CPU architecture"], first["CPU part"], first["CPU variant"], first["CPU revision"])
		if name := first["model name"]; name != "" {
			info.cpu.Name = name
		}
		return info
	}
	info.cpu.Vendor = or(first["vendor_id"], first["mvendorid"])
	info.cpu.Family = integer(first["cpu family"])
	info.cpu.Model = integer(first["model"])
	info.cpu.Stepping = integer(first["stepping"])
	info.cpu.Name = or(first["model name"], first["cpu"], first["uarch"]) // x86, POWER, RISC-V
	return info
}

// armImplementers and armParts name what the main ID register of ARM cores holds; the
// numbers are those of the Linux kernel's arch/arm64/include/asm/cputype.h.
var (
	armImplementers = map[int64]string{
		0x41: "ARM", 0x42: "Broadcom", 0x43: "Cavium", 0x46: "Fujitsu", 0x48: "HiSilicon",
		0x4e: "NVIDIA", 0x50: "APM", 0x51: "Qualcomm", 0x53: "Samsung", 0x61: "Apple",
		0x6d: "Microsoft", 0xc0: "Ampere",
	}
	armParts = map[[2]int64]string{
		{0x41, 0xd03}: "Cortex-A53", {0x41, 0xd05}: "Cortex-A55", {0x41, 0xd07}: "Cortex-A57",
		{0x41, 0xd08}: "Cortex-A72", {0x41, 0xd0b}: "Cortex-A76", {0x41, 0xd0c}: "Neoverse-N1",
		{0x41, 0xd40}: "Neoverse-V1", {0x41, 0xd41}: "Cortex-A78", {0x41, 0xd49}: "Neoverse-N2",
		{0x41, 0xd4f}: "Neoverse-V2", {0x41, 0xd84}: "Neoverse-V3", {0x41, 0xd8e}: "Neoverse-N3",
		{0x46, 0x001}: "A64FX", {0x48, 0xd01}: "TSV110", {0xc0, 0xac3}: "Ampere-1",
		{0xc0, 0xac4}: "Ampere-1A",
	}
)

// armCPU fits the main ID register into the fields that x86 made usual: the architecture
// is the family, the part number the model, variant and revision the stepping (r1p2: 0x12).
func armCPU(implementer, architecture, part, variant, revision string) record.CPU {
	id := integer(implementer)
	cpu := record.CPU{Vendor: implementer, Family: integer(architecture), Model: integer(part)}
	if id == nil {
		return cpu
	}
	if name := armImplementers[*id]; name != "" {
		cpu.Vendor = name
	}
	if cpu.Model != nil {
		cpu.Name = armParts[[2]int64{*id, *cpu.Model}]
	}
	if v, r := integer(variant), integer(revision); v != nil && r != nil && *v < 16 && *r < 16 {
		cpu.Stepping = record.Int(*v<<4 | *r)
	}
	return cpu
}

// integer parses a decimal or 0x number; nil where it is none or negative.
func integer(text string) *int64 {
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil || n < 0 {
		return nil
	}
	return &n
}

func atoi(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return n
}

// or returns the first of the texts that is not empty.
func or(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
