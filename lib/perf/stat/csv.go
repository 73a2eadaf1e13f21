package stat

import (
	"bytes"

	"vperf/lib/record"
)

// separators are tried in this order on a line while the separator is not known.
var separators = [][]byte{
	[]byte(";"), []byte("\t"), []byte("|"), []byte(","), []byte("!"), []byte("@"),
	[]byte("~"), []byte("^"), []byte("#"), []byte("&"), []byte("$"), []byte(":"), []byte(" "),
}

func (r *Reader) parseCSV(line []byte) verdict {
	if r.sep != nil {
		if v := r.parseRow(line, r.sep); v != isNothing {
			return v
		}
		if r.Separator != "" {
			return isNothing
		}
	}
	found := isNothing
	for _, sep := range separators {
		switch v := r.parseRow(line, sep); {
		case v == isCount:
			r.sep = sep
			return v
		case v == isMetric && sep[0] != ' ': // any indented line would be one
			found = v
		}
	}
	if sep := unusualSeparator(line); sep != nil && r.parseRow(line, sep) == isCount {
		r.sep = sep
		return isCount
	}
	return found
}

// unusualSeparator returns what parts the first count from what follows it: a separator
// of several characters.
func unusualSeparator(line []byte) []byte {
	line = bytes.TrimLeft(line, " ")
	start := 0
	for start < len(line) && (isDigit(line[start]) || line[start] == '.') {
		start++
	}
	end := start
	for end < len(line) && !isLetter(line[end]) && !isDigit(line[end]) && line[end] != '<' {
		end++
	}
	if start == 0 || end == len(line) || end == start {
		return nil
	}
	sep := line[start:end]
	if half := len(sep) / 2; bytes.Equal(sep[:half], sep[half:]) { // an empty unit stands between
		sep = sep[:half]
	}
	return bytes.Clone(sep)
}

func (r *Reader) parseRow(line, sep []byte) verdict {
	if !bytes.Contains(line, sep) {
		return isNothing
	}
	r.fields = split(r.fields[:0], line, sep)
	if v := r.parseFields(sep); v != isNothing {
		return v
	}
	if len(sep) != 1 || sep[0] != ',' {
		return isNothing
	}
	// Perhaps a locale with decimal commas wrote it: every number with decimals was split.
	r.fields = joinDecimals(split(r.fields[:0], line, sep))
	v := r.parseFields(sep)
	if v == isCount && !r.byGuess {
		r.byGuess = true
		r.report("decimal commas between separating commas: read by guess; run perf stat with LC_ALL=C, or with -x ';'")
	}
	return v
}

func split(fields [][]byte, line, sep []byte) [][]byte {
	for {
		i := bytes.Index(line, sep)
		if i < 0 {
			return append(fields, line)
		}
		fields = append(fields, line[:i])
		line = line[i+len(sep):]
	}
}

// joinDecimals joins what decimal commas split: a number with the two digits behind it
// (nine behind the seconds of an interval), where the field after them confirms it.
func joinDecimals(fields [][]byte) [][]byte {
	out := fields[:0]
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		if i+1 < len(fields) && isInteger(bytes.TrimLeft(f, " ")) && splitNumber(fields, i) {
			// The comma still stands between the two in the line's memory.
			f = f[: len(f)+1+len(fields[i+1]) : len(f)+1+len(fields[i+1])]
			i++
		}
		out = append(out, f)
	}
	return out
}

// splitNumber reports whether fields[i] and the next one are the halves of a number.
func splitNumber(fields [][]byte, i int) bool {
	decimals := fields[i+1]
	switch {
	case i == 0 && len(decimals) == 9 && isInteger(decimals): // an interval
		return true
	case len(decimals) == 3 && decimals[2] == '%' && isInteger(decimals[:2]): // noise
		return true
	case len(decimals) != 2 || !isInteger(decimals):
		return false
	case i+2 < len(fields) && isUnit(fields[i+2]): // a count with decimals has a unit
		return true
	}
	return i > 0 && isInteger(fields[i-1]) && len(fields[i]) <= 3 // percent behind running time
}

// parseFields finds the count among the fields and what stands around it.
func (r *Reader) parseFields(sep []byte) verdict {
	fields := r.fields
	if len(fields) < 2 {
		return isNothing
	}
	// A thread's name has 15 bytes at most, so no more than 16 pieces; the time and the
	// word "summary" may stand before it.
	blank := r.count
	for i := range min(len(fields)-1, 18) {
		if r.parseCount(fields[i:], sep) && r.parsePrefix(fields[:i], sep) {
			return isCount
		}
		r.count = blank // an attempt that failed leaves nothing behind
	}
	if isPrintedMetric(fields) {
		return isMetric
	}
	return isNothing
}

// parseCount reads count, unit, event and times from the start of fields.
func (r *Reader) parseCount(fields [][]byte, sep []byte) bool {
	c := &r.count
	if _, time := parseSeconds(fields[0]); time || !parseValue(fields[0], c) {
		return false
	}
	if len(fields) > 2 && (len(fields[1]) == 0 || isUnit(fields[1])) && r.parseEvent(fields[2:], sep, true) {
		c.Unit = r.word(fields[1])
		return true
	}
	c.Unit = ""
	return r.parseEvent(fields[1:], sep, false) // before 3.13 there was no unit
}

// parseEvent reads the event, which the separator may have split, and what follows it.
// Without a unit before it the columns in between have to be none, or any word could be
// the event.
func (r *Reader) parseEvent(fields [][]byte, sep []byte, unit bool) bool {
	if len(fields[0]) == 0 || !isLetter(fields[0][0]) && fields[0][0] != '_' {
		return false
	}
	n := 1 // fields that belong to the event: a PMU's name and terms stand between two slashes
	slashes := bytes.Count(fields[0], []byte("/"))
	for slashes%2 == 1 && n < len(fields) {
		slashes += bytes.Count(fields[n], []byte("/"))
		n++
	}
	c := &r.count
	rest := fields[n:]
	if len(rest) == 0 { // perf before 3.13 prints no times where nothing was multiplexed
		c.Event = r.word(bytes.Join(fields[:n], sep))
		return slashes%2 == 0 && sep[0] != ' '
	}
	for i := 0; i+1 < len(rest) && i < 4; i++ {
		if !isInteger(rest[i]) || !isPercent(rest[i+1]) {
			continue
		}
		between := rest[:i]
		if k := len(between); k > 0 && bytes.HasSuffix(between[k-1], []byte("%")) {
			noise, ok := parseNumber(between[k-1][:len(between[k-1])-1])
			if !ok {
				return false
			}
			c.Noise = noise
			between = between[:k-1]
		}
		switch {
		case len(between) == 0:
		case sep[0] == ':': // it parts the names of tracepoints and the modifiers, too
			n += len(between)
		case len(between) == 1 && unit:
			if len(between[0]) > 0 { // -G leaves it empty for an event that has none
				c.Scope = "cgroup:" + r.word(between[0])
			}
		default:
			return false
		}
		c.Event = r.word(bytes.Join(fields[:n], sep))
		running, _ := parseNumber(rest[i])
		c.RunningNS = int64(running)
		c.Percent, _ = parseNumber(rest[i+1])
		if tail := rest[i+2:]; len(tail) >= 2 && len(tail[1]) > 0 {
			if v, ok := parseNumber(tail[0]); ok {
				c.Printed = Printed{v, r.word(bytes.Join(tail[1:], sep))}
			}
		}
		return true
	}
	return false
}

// parsePrefix reads what the options put in front of a count.
func (r *Reader) parsePrefix(fields [][]byte, sep []byte) bool {
	c := &r.count
	if len(fields) > 0 {
		if ns, ok := parseSeconds(fields[0]); ok {
			c.TimeNS = ns
			fields = fields[1:]
		}
	}
	if len(fields) > 0 && string(bytes.TrimSpace(fields[0])) == "summary" {
		c.Summary = true
		fields = fields[1:]
	}
	if len(fields) == 0 {
		return true
	}
	if scope := aggregate(bytes.TrimSpace(fields[0])); scope != "" {
		c.Scope = r.word([]byte(scope))
		switch {
		case len(fields) == 1:
			return true
		case len(fields) == 2 && isInteger(bytes.TrimSpace(fields[1])):
			n, _ := parseNumber(bytes.TrimSpace(fields[1]))
			c.CPUs = int(n)
			return true
		}
		return false
	}
	return r.parseThread(bytes.Join(fields, sep))
}

// parseThread reads "name-tid".
func (r *Reader) parseThread(text []byte) bool {
	i := bytes.LastIndexByte(text, '-')
	if i < 0 || !isInteger(text[i+1:]) {
		return false
	}
	r.count.Scope = r.word(append([]byte("tid:"), text[i+1:]...))
	r.count.Thread = r.word(bytes.TrimSpace(text[:i]))
	return true
}

// isPrintedMetric reports whether a line holds only a metric, or the name of a group of
// them: every field but the last is empty or a number, or names the scope.
func isPrintedMetric(fields [][]byte) bool {
	name := bytes.TrimSpace(fields[len(fields)-1])
	if len(name) == 0 || !isLetter(name[0]) && name[0] != '%' {
		return false
	}
	empty := 0
	for _, f := range fields[:len(fields)-1] {
		f = bytes.TrimSpace(f)
		if len(f) == 0 {
			empty++
			continue
		}
		if _, ok := parseNumber(f); !ok && string(f) != "nan" && string(f) != "inf" && aggregate(f) == "" && !isThread(f) {
			return false
		}
	}
	return empty >= 2
}

func isThread(f []byte) bool {
	i := bytes.LastIndexByte(f, '-')
	return i > 0 && isInteger(f[i+1:])
}

// parseValue reads a count or why there is none.
func parseValue(f []byte, c *Count) bool {
	f = bytes.TrimSpace(f)
	c.Missing = ""
	switch string(f) {
	case "<not supported>":
		c.Missing = record.CauseEventUnsupported
	case "<not counted>", "nan", "-nan":
		c.Missing = record.CauseEventNotCounted
	default:
		v, ok := parseNumber(f)
		c.Value = v
		return ok
	}
	return true
}
