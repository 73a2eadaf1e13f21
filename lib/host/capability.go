package host

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"strconv"
	"strings"
)

// capabilities is a set of Linux capabilities, bit n for number n.
type capabilities uint64

// The numbers of linux/capability.h that matter to perf.
const (
	capDACReadSearch = 2
	capSysPtrace     = 19
	capSysAdmin      = 21
	capSyslog        = 34
	capPerfmon       = 38 // since 5.8
)

// capabilityNames are those that [capabilities.String] spells out, in the order of their numbers.
var capabilityNames = map[int]string{
	capDACReadSearch: "cap_dac_read_search",
	capSysPtrace:     "cap_sys_ptrace",
	capSysAdmin:      "cap_sys_admin",
	capSyslog:        "cap_syslog",
	capPerfmon:       "cap_perfmon",
}

func (c capabilities) has(number int) bool { return c>>number&1 != 0 }

// String lists those that matter to perf by name and counts the others.
func (c capabilities) String() string {
	if c == 0 {
		return "none"
	}
	var names []string
	others := c
	for number := range 64 {
		if name := capabilityNames[number]; name != "" && c.has(number) {
			names = append(names, name)
			others &^= 1 << number
		}
	}
	if n := bits.OnesCount64(uint64(others)); n > 0 {
		names = append(names, strconv.Itoa(n)+" others")
	}
	return strings.Join(names, ",")
}

// status is what /proc/PID/status says about privileges.
type status struct {
	caps       capabilities // effective
	seccomp    int          // 0 none, 1 strict, 2 a filter
	noNewPrivs bool         // executing a file grants no privileges
}

func parseStatus(text string) status {
	var s status
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "CapEff":
			n, err := strconv.ParseUint(value, 16, 64)
			if err == nil {
				s.caps = capabilities(n)
			}
		case "Seccomp":
			s.seccomp = int(atoi(value))
		case "NoNewPrivs":
			s.noNewPrivs = value == "1"
		}
	}
	return s
}

// parseFileCapabilities reads the extended attribute security.capability, struct
// vfs_cap_data of linux/capability.h: a magic word with the revision in its top byte and
// the effective bit in its lowest, then permitted and inheritable, 32 bits at a time, all
// little-endian. It returns what a process gets when it executes the file: the permitted
// set, or nothing without the effective bit, since perf does not raise capabilities itself.
func parseFileCapabilities(attribute []byte) (capabilities, error) {
	if len(attribute) < 4 {
		return 0, errors.New("capability attribute is too short")
	}
	magic := binary.LittleEndian.Uint32(attribute)
	words := 0
	switch size := len(attribute); magic >> 24 {
	case 1:
		if size == 12 {
			words = 1
		}
	case 2:
		if size == 20 {
			words = 2
		}
	case 3: // with the id of the user namespace's root behind it
		if size == 24 {
			words = 2
		}
	default:
		return 0, errors.New("capability attribute has an unknown revision")
	}
	if words == 0 {
		return 0, errors.New("capability attribute has a wrong size")
	}
	if magic&1 == 0 {
		return 0, nil
	}
	var permitted uint64
	for word := range words {
		permitted |= uint64(binary.LittleEndian.Uint32(attribute[4+8*word:])) << (32 * word)
	}
	return capabilities(permitted), nil
}

// releaseAtLeast compares the first two numbers of a kernel release: "6.1.0-27-amd64".
func releaseAtLeast(release string, major, minor int) bool {
	first, rest, _ := strings.Cut(release, ".")
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		rest = rest[:i]
	}
	a, b := int(atoi(first)), int(atoi(rest))
	return a > major || a == major && b >= minor
}
