package stat

import (
	"bytes"

	"vperf/lib/record"
)

// parseJSON reads one line of -j. It is no JSON parser, for the line need not be JSON (see
// the package comment): it takes what stands behind the names of the fields.
func (r *Reader) parseJSON(line []byte) verdict {
	c := &r.count
	value, metric := false, false
	for {
		key, text, rest, ok := nextPair(line)
		if !ok {
			break
		}
		line = rest
		switch string(key) {
		case "counter-value":
			value = parseValue(text, c)
		case "unit":
			c.Unit = r.word(text)
		case "event":
			c.Event = r.word(text)
		case "event-runtime":
			if n, ok := parseNumber(text); ok {
				c.RunningNS = int64(n)
			}
		case "pcnt-running":
			if n, ok := parseNumber(text); ok {
				c.Percent = n
			}
		case "variance":
			if n, ok := parseNumber(text); ok {
				c.Noise = n
			}
		case "interval":
			if ns, ok := parseSeconds(text); ok {
				c.TimeNS = ns
			}
		case "cpu":
			if isInteger(text) {
				c.Scope = "cpu:" + r.word(text)
			}
		case "core", "socket", "die", "node", "cache", "cluster":
			if scope := aggregate(text); scope != "" {
				c.Scope = r.word([]byte(scope))
			}
		case "aggregate-number", "counters":
			if n, ok := parseNumber(text); ok {
				c.CPUs = int(n)
			}
		case "thread":
			r.parseThread(text)
		case "cgroup":
			if len(text) > 0 {
				c.Scope = "cgroup:" + r.word(text)
			}
		case "metric-value":
			metric = true
			c.Printed.Value, _ = parseNumber(text)
		case "metric-unit":
			if string(text) != "(null)" {
				c.Printed.Name = r.word(text)
			}
		case "metricgroup":
			metric = true
		}
	}
	switch {
	case value && c.Event != "":
		return isCount
	case metric:
		return isMetric
	}
	return isNothing
}

// nextPair finds `"key" : value` and returns what follows it. A string ends at
// the quote that a comma, a brace, the next name (6.1 forgets a comma behind "core") or
// the end of the line follows, a number at the comma that a quote follows.
func nextPair(line []byte) (key, value, rest []byte, ok bool) {
	start := bytes.IndexByte(line, '"')
	if start < 0 {
		return nil, nil, nil, false
	}
	line = line[start+1:]
	end := bytes.IndexByte(line, '"')
	if end < 0 {
		return nil, nil, nil, false
	}
	key = line[:end]
	line = bytes.TrimLeft(line[end+1:], " \t")
	if len(line) == 0 || line[0] != ':' {
		return nil, nil, nil, false
	}
	line = bytes.TrimLeft(line[1:], " \t")
	if len(line) == 0 {
		return nil, nil, nil, false
	}
	if line[0] != '"' {
		end := len(line)
		for i, c := range line {
			if c == '}' || c == ',' && bytes.HasPrefix(bytes.TrimLeft(line[i+1:], " \t"), []byte(`"`)) {
				end = i
				break
			}
		}
		return key, bytes.TrimRight(line[:end], " \t,"), line[end:], true
	}
	line = line[1:]
	for i, c := range line {
		if c != '"' {
			continue
		}
		after := bytes.TrimLeft(line[i+1:], " \t")
		if len(after) == 0 || after[0] == ',' || after[0] == '}' || after[0] == '"' {
			return key, line[:i], line[i+1:], true
		}
	}
	return nil, nil, nil, false
}

// Sniff reports whether the beginning of a file looks like the output of perf stat -x or -j
// rather than like records; the table for people counts, so that the Reader can say what
// is wrong with it. head needs to hold the first line whole.
func Sniff(head []byte) bool {
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		head = rest
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		r := Reader{words: map[string]string{}, count: Count{TimeNS: record.None}}
		if r.parse(line) != isNothing {
			return true
		}
		return bytes.HasPrefix(line, []byte("Performance counter stats for"))
	}
	return false
}
