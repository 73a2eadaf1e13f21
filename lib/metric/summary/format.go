package summary

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"vperf/lib/printable"
	"vperf/lib/words"
)

// number formats a value for people: digits, and the unit that stands behind them.
func number(v float64, unit string) (digits, suffix string) {
	switch unit {
	case "s":
		return seconds(v)
	case "ns":
		return seconds(v / 1e9)
	case "ratio":
		return decimals(100*v, 2), "%"
	case "Hz":
		if math.Abs(v) >= 1e9 {
			return decimals(v/1e9, 3), "GHz"
		}
		return decimals(v/1e6, 1), "MHz"
	case "bytes":
		return size(v)
	case "1/s":
		if math.Abs(v) < 100 {
			return decimals(v, 1), "/s"
		}
		return decimals(v, 0), "/s"
	case "cores": // logical ones, as busy_cores counts them
		return decimals(v, 2), "CPUs"
	case "count", "cycles":
		return decimals(v, 0), ""
	case "instructions/cycle", "cycles/instruction":
		return decimals(v, 3), ""
	}
	return decimals(v, 2), unit
}

func seconds(v float64) (digits, suffix string) {
	switch a := math.Abs(v); {
	case a >= 1 || a == 0:
		return decimals(v, 3), "s"
	case a >= 1e-3:
		return decimals(v*1e3, 2), "ms"
	}
	return decimals(v*1e6, 1), "us"
}

func size(v float64) (digits, suffix string) {
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if math.Abs(v) < 1024 {
			if unit == "B" {
				return decimals(v, 0), unit
			}
			return decimals(v, 1), unit
		}
		v /= 1024
	}
	return decimals(v, 1), "TiB"
}

// decimals formats with n decimals, and parts thousands by commas. No count is so large that
// its digits would fill a line; a damaged one may be.
func decimals(v float64, n int) string {
	if math.Abs(v) >= 1e18 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'f', n, 64), ".")
	s := words.Group(whole, ",")
	if n > 0 {
		s += "." + fraction
	}
	if v < 0 {
		return "-" + s
	}
	return s
}

func count(n int64) string { return decimals(float64(n), 0) }

// plural returns "1 sample", "2 samples".
func plural(n int64, noun string) string {
	return count(n) + " " + words.Noun(n, noun)
}

func percent(part, whole float64) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", 100*part/whole)
}

// shorten makes a name fit into width columns: long C++ names differ at both ends, so what
// goes is in the middle. The result is safe for a terminal.
func shorten(name string, width int) string {
	name = printable.Terminal(name)
	if uniseg.StringWidth(name) <= width {
		return name
	}
	if width < 5 {
		return cut(name, width, false)
	}
	left := (width - 1) / 2
	return cut(name, left, false) + "…" + cut(name, width-1-left, true)
}

// cut returns as much of the beginning or the end of s as has width columns.
func cut(s string, width int, end bool) string {
	var clusters []string
	for g := uniseg.NewGraphemes(s); g.Next(); {
		clusters = append(clusters, g.Str())
	}
	used := 0
	n := 0
	for n < len(clusters) {
		c := clusters[n]
		if end {
			c = clusters[len(clusters)-1-n]
		}
		if used += uniseg.StringWidth(c); used > width {
			break
		}
		n++
	}
	if end {
		return strings.Join(clusters[len(clusters)-n:], "")
	}
	return strings.Join(clusters[:n], "")
}

// clip cuts what does not fit into width columns off the end of a text.
func clip(s string, width int) string {
	if uniseg.StringWidth(s) <= width || width < 1 {
		return s
	}
	return cut(s, width-1, false) + "…"
}
