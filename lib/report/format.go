package report

import (
	"math"
	"strconv"
	"strings"

	"vperf/lib/words"
)

const thin = "\u202f" // narrow no-break space: between digits, and nowhere else

// grouped writes an integer with its digits in threes: 44 052.
func grouped(n float64) string {
	s := strconv.FormatFloat(math.Round(math.Abs(n)), 'f', 0, 64)
	if n < 0 && s != "0" {
		return "−" + words.Group(s, thin)
	}
	return words.Group(s, thin)
}

// scaled writes v with about four significant digits and the prefix that makes it short.
func scaled(v float64, prefixes []string, base float64) (text, prefix string) {
	i := 0
	for i < len(prefixes)-1 && math.Abs(v) >= 999.5 {
		v /= base
		i++
	}
	return significant(v), prefixes[i]
}

// significant writes v with the digits that a reader compares by: 0.00123, 1.65, 47.9, 613.8, 44 052.
func significant(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 1000:
		return grouped(v)
	case a == math.Trunc(a):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// duration writes seconds in the unit that a person would say.
func duration(s float64) (text, unit string) {
	a := math.Abs(s)
	switch {
	case a >= 600:
		return significant(s / 60), "min"
	case a >= 1 || a == 0:
		return significant(s), "s"
	case a >= 1e-3:
		return significant(s * 1e3), "ms"
	case a >= 1e-6:
		return significant(s * 1e6), "µs"
	}
	return significant(s * 1e9), "ns"
}

// quantity writes a value of a counter or a metric for a reader, with the unit that belongs
// behind it.
func quantity(v float64, unit string) (text, shown string) {
	switch unit {
	case "s", "sec", "seconds":
		return duration(v)
	case "ms", "msec":
		return duration(v / 1e3)
	case "us", "usec":
		return duration(v / 1e6)
	case "ns", "nsec":
		return duration(v / 1e9)
	case "bytes", "B":
		return scaled(v, []string{"B", "KiB", "MiB", "GiB", "TiB"}, 1024)
	case "percent", "%":
		return strconv.FormatFloat(v, 'f', 1, 64), "%"
	case "Hz", "hz":
		return scaled(v, []string{"Hz", "kHz", "MHz", "GHz"}, 1000)
	case "ratio":
		return strconv.FormatFloat(100*v, 'f', 1, 64), "%"
	case "cores": // logical ones, as busy_cores counts them
		return significant(v), "CPUs"
	case "1/s":
		return significant(v), "/s"
	case "", "count", "1":
		if math.Abs(v) < 1e7 {
			return significant(v), ""
		}
		return scaled(v, []string{"", "k", "M", "G", "T", "P"}, 1000)
	}
	if math.Abs(v) < 1e7 {
		return significant(v), unit
	}
	text, prefix := scaled(v, []string{"", "k", "M", "G", "T", "P"}, 1000)
	return text, strings.TrimSpace(prefix + " " + unit)
}

// none stands for a number that there is not.
const none = "–"

// percent writes a share of a whole with one decimal. There is none of a whole of 0.
func percent(part, whole float64) string {
	if whole == 0 {
		return none
	}
	return strconv.FormatFloat(100*part/whole, 'f', 1, 64)
}

// share is percent with the sign behind it.
func share(part, whole float64) string {
	if whole == 0 {
		return none
	}
	return percent(part, whole) + " %"
}

// label turns the name of a metric into words, without the unit that stands behind the
// value anyway: peak_rss is "Peak RSS", elapsed_s in seconds is "Elapsed".
func label(name, unit string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '_' })
	if n := len(parts); n > 1 && len(unit) <= 2 && parts[n-1] == strings.ToLower(unit) {
		parts = parts[:n-1]
	}
	for i, w := range parts {
		switch {
		case abbreviations[w] != "":
			parts[i] = abbreviations[w]
		case w == "s" && i > 0 && parts[i-1] == "per":
			parts[i] = "second"
		case i == 0 && w[0] >= 'a' && w[0] <= 'z':
			parts[i] = string(w[0]-'a'+'A') + w[1:]
		}
	}
	return strings.Join(parts, " ")
}

var abbreviations = map[string]string{
	"cpu": "CPU", "cores": "CPUs", "pmu": "PMU", "ipc": "IPC", "cpi": "CPI", "rss": "RSS", "llc": "LLC", "dram": "DRAM", "tlb": "TLB",
	"l1": "L1", "l2": "L2", "l3": "L3", "l1d": "L1D", "l1i": "L1I", "dtlb": "dTLB", "itlb": "iTLB",
	"fp": "FP", "fma": "FMA", "simd": "SIMD", "hz": "Hz",
}
