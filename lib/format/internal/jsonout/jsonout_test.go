package jsonout

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
)

func TestMilliseconds(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0", 1: "0.000001", 1500000: "1.5", 12000000: "12", 100: "0.0001", -2500000: "-2.5",
		math.MaxInt64: "9223372036854.775807", math.MinInt64: "-9223372036854.775808",
	} {
		var out bytes.Buffer
		w := New(&out)
		w.Milliseconds(ns)
		w.Flush()
		if out.String() != want {
			t.Errorf("%d: %s, want %s", ns, out.String(), want)
		}
	}
}

// TestString writes names that a hostile program could have.
func TestString(t *testing.T) {
	for in, want := range map[string]string{
		"</script><!--":    "</script><!--",
		"a\"b\\c\n\x00":    "a\"b\\c\n\x00",
		"\xff\u2028\u202e": "\ufffd\u2028\u202e",
	} {
		var out bytes.Buffer
		w := New(&out)
		w.Array(2, func(int) { w.String(in) })
		w.Flush()
		var got []string
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got) != 2 || got[0] != want {
			t.Errorf("%q became %s: %q, %v", in, out.String(), got, err)
		}
		if bytes.ContainsAny(out.Bytes(), "<>\u2028") {
			t.Errorf("%q became markup: %s", in, out.String())
		}
	}
}
