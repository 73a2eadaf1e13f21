package stat

import (
	"bytes"
	"strconv"
	"strings"

	"vperf/lib/event"
)

// normalise converts a value to the base unit of what it measures, so that times are ns
// and sizes bytes whatever the row is printed in. Clocks without a unit come from old
// versions, which meant msec.
func normalise(name string, value float64, unit string) (float64, string) {
	if unit == "" && event.UnitOf(name) == event.Nanoseconds {
		unit = "msec"
	}
	if base, ok := baseUnits[strings.ToLower(unit)]; ok {
		return value * base.factor, base.unit
	}
	if unit == "" {
		return value, event.UnitOf(name)
	}
	return value, unit
}

// baseUnits are the units that perf and its event descriptions (the unit file of a PMU in
// sysfs, "Unit" in tools/perf/pmu-events) print.
var baseUnits = map[string]struct {
	factor float64
	unit   string
}{
	"ns":      {1, event.Nanoseconds},
	"nsec":    {1, event.Nanoseconds},
	"us":      {1e3, event.Nanoseconds},
	"usec":    {1e3, event.Nanoseconds},
	"ms":      {1e6, event.Nanoseconds},
	"msec":    {1e6, event.Nanoseconds},
	"s":       {1e9, event.Nanoseconds},
	"sec":     {1e9, event.Nanoseconds},
	"joules":  {1, event.Joules},
	"b":       {1, event.Bytes},
	"bytes":   {1, event.Bytes},
	"64bytes": {64, event.Bytes},
	"kb":      {1e3, event.Bytes},
	"mb":      {1e6, event.Bytes},
	"gb":      {1e9, event.Bytes},
	"kib":     {1 << 10, event.Bytes},
	"mib":     {1 << 20, event.Bytes},
	"gib":     {1 << 30, event.Bytes},
}

// parseNumber reads a number as printf writes it, with a decimal point or a decimal comma.
func parseNumber(b []byte) (float64, bool) {
	if len(b) == 0 || len(b) > 32 {
		return 0, false
	}
	if len(b) <= 15 && isInteger(b) { // exact in a float64
		n := 0
		for _, c := range b {
			n = n*10 + int(c-'0')
		}
		return float64(n), true
	}
	var buf [32]byte
	text := append(buf[:0], b...)
	seen := false
	for i, c := range text {
		switch {
		case isDigit(c), i == 0 && c == '-' && len(text) > 1:
		case (c == '.' || c == ',') && !seen && i > 0:
			seen = true
			text[i] = '.'
		default:
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(string(text), 64)
	return f, err == nil
}

// parseSeconds reads the time of an interval, "     0.100327002".
func parseSeconds(f []byte) (ns int64, ok bool) {
	f = bytes.TrimLeft(f, " ")
	i := len(f) - 10
	if i < 1 || i > 9 || f[i] != '.' && f[i] != ',' || !isInteger(f[:i]) || !isInteger(f[i+1:]) {
		return 0, false
	}
	for _, c := range f {
		if isDigit(c) {
			ns = ns*10 + int64(c-'0')
		}
	}
	return ns, true
}

// aggregate returns the scope that perf names in front of a count, "" if it is none: CPU3,
// N0, S0, S0-D0, S0-D0-C1, S0-C1, S0-D0-L3-ID0, S0-D0-CLS0.
func aggregate(f []byte) string {
	if len(f) < 2 {
		return ""
	}
	switch text := string(f); {
	case strings.HasPrefix(text, "CPU") && isInteger(f[3:]):
		return "cpu:" + text[3:]
	case f[0] == 'N' && isInteger(f[1:]):
		return "node:" + text[1:]
	case f[0] == 'S' && isInteger(f[1:]):
		return "socket:" + text[1:]
	case f[0] == 'S':
		level := ""
		for part := range strings.SplitSeq(text, "-") {
			digits := strings.TrimLeft(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
			if digits == part || !isInteger([]byte(digits)) {
				return ""
			}
			level = part[:len(part)-len(digits)]
		}
		if scope, ok := levels[level]; ok {
			return scope + ":" + text
		}
	}
	return ""
}

var levels = map[string]string{"D": "die", "C": "core", "ID": "cache", "CLS": "cluster"}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isInteger(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return len(b) > 0
}

// isPercent tells a percentage by its two decimals.
func isPercent(b []byte) bool {
	i := len(b) - 3
	return i > 0 && (b[i] == '.' || b[i] == ',') && isInteger(b[:i]) && isInteger(b[i+1:])
}

// isUnit reports whether a field may be a unit: "msec", "MiB", "64Bytes", "%".
func isUnit(b []byte) bool {
	if len(b) == 0 || len(b) > 16 {
		return false
	}
	letters := false
	for _, c := range b {
		switch {
		case isLetter(c) || c == '%' || c >= 0x80:
			letters = true
		case !isDigit(c) && c != '/':
			return false
		}
	}
	return letters
}
