package record

import (
	"bytes"
	stdjson "encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// samples of every record type, with and without optional fields, names with everything
// that JSON escapes.
func everyRecord() []Record {
	hostile := "a\"b\\c\n\t\x00\u2028</script>é日本\U0001f600;"
	return []Record{
		&Stream{Schema: Schema, By: "vp-test 1", Profile: "p", Clock: "monotonic", Args: []string{"--x=1"}},
		&Meta{}, &Meta{
			Target: &Target{Cmd: []string{"a", hostile}, PID: Int(0), Launcher: "l", StartNS: Int(1), ExitCode: Int(0), Signal: "SIGSEGV", DurationNS: Int(5)},
			Host:   &Host{Name: "h", CPU: &CPU{Vendor: "AuthenticAMD", Family: Int(25), Model: Int(1), Stepping: Int(0), Name: "x"}, NCPU: 2, SMT: new(bool)},
			Events: []string{"cpu/event=1,umask=2/"}, Callgraph: "fp", Options: map[string]string{"b": "1", "a": "2"},
		},
		&Capability{Name: "perf", Status: OK, Detail: hostile},
		&Dump{Of: DumpPerfStat, Text: hostile}, &Dump{Of: DumpPerfData, Seq: 3, Encoding: EncodingZstd, Data: "AAAA"},
		&Event{ID: 1, Name: "cycles:P", Unit: "cycles", Kind: KindCPU},
		&Thread{TID: 0, PID: Int(0), Name: hostile, StartNS: Int(0)},
		&Frame{ID: 1}, &Frame{ID: 2, Symbol: hostile, Module: "/a b", Kind: KindUser, File: "x.c", Line: 3, Inlined: true, Address: "0xffffffffffffffff"},
		&Frame{ID: 4294967295, Symbol: strings.Repeat("x", 1000), Kind: "other"},
		&Stack{ID: 1, Frame: 1}, &Stack{ID: 2, Frame: 1, Parent: 1},
		&Sample{Event: 1, TID: None, TimeNS: None, Weight: 0, CPU: None, PID: None},
		&Sample{Event: 1, TID: 0, TimeNS: 0, Weight: 18446744073709551615, Stack: 2, CPU: 0, PID: 0},
		&Wait{TID: 3, StartNS: -5, DurationNS: 6, State: "sleep", Stack: 1}, &Wait{TID: None},
		&Mem{Count: 0, LatencyCycles: Float(0.5), Locked: new(bool), Stack: 7, Address: "0x1"},
		&RSS{PID: 1, TimeNS: 2, Bytes: 3}, &Freq{TimeNS: 1, CPU: 0, KHz: 2},
		&Counter{Event: "cycles", Scope: "all", Value: Float(0), Quality: Count},
		&Counter{Event: "cycles", Scope: "tid:3", Missing: CauseNoPMU},
		&Metric{Name: "ipc", Scope: "all", Value: Float(1.25), Formula: "a / b", Inputs: map[string]float64{"b": 4, "a": 5}, Quality: Derived},
		&Finding{Rule: "r", Verdict: "v", Evidence: []Evidence{{Metric: "m", Value: Float(0)}}},
		&Remark{File: "f", Line: 1}, &Run{Run: 1, Values: map[string]float64{"x": 0.1}, ExitCode: Int(0)},
		&Notice{Severity: Warning, Cause: CauseLostSamples, Text: hostile},
		&End{By: "vp-test 1", Counts: map[string]int{"frame": 3}, Complete: true},
	}
}

func fresh(r Record) Record { return reflect.New(reflect.TypeOf(r).Elem()).Interface().(Record) }

func TestWriteReadWriteIsIdentity(t *testing.T) {
	seen := map[Type]bool{}
	for _, r := range everyRecord() {
		seen[r.Type()] = true
		line, err := r.appendTo(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !stdjson.Valid(line) {
			t.Errorf("not JSON: %s", line)
		}
		if got, ok := sniff(line); !ok || got != r.Type() {
			t.Errorf("sniff(%s) = %v, %v", line, got, ok)
		}
		back := fresh(r)
		if err := back.parse(line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if !reflect.DeepEqual(back, r) {
			t.Errorf("read back\n %#v\nwrote\n %#v", back, r)
		}
		again, _ := back.appendTo(nil)
		if !bytes.Equal(again, line) {
			t.Errorf("written again\n %s\nfirst\n %s", again, line)
		}
	}
	for typ := TypeStream; typ < NumTypes; typ++ {
		if !seen[typ] {
			t.Errorf("no %v record is tested", typ)
		}
		if TypeOf(typ.String()) != typ {
			t.Errorf("TypeOf(%q) = %v", typ.String(), TypeOf(typ.String()))
		}
	}
}

// Decoding into a record that was used before must not leave anything of it behind.
func TestDecodeReplaces(t *testing.T) {
	full := map[Type]Record{}
	for _, r := range everyRecord() {
		full[r.Type()] = r // the last one of its type
	}
	for _, r := range everyRecord() {
		line, _ := r.appendTo(nil)
		used := fresh(r)
		l, _ := full[r.Type()].appendTo(nil)
		if err := used.parse(l); err != nil {
			t.Fatal(err)
		}
		if err := used.parse(line); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(used, r) {
			t.Errorf("a used record read\n %#v\nwant\n %#v", used, r)
		}
	}
}

func TestHotRecordsReadWhatOthersWrite(t *testing.T) {
	for _, c := range []struct {
		line string
		want Record
	}{
		{`{"event":1,"type":"sample"}`, &Sample{Event: 1, TID: None, TimeNS: None, Weight: 1, CPU: None, PID: None}},
		{` { "type" : "sample", "event" : 2, "cpu" : null, "tid":-1, "weight": 3 } `, &Sample{Event: 2, TID: None, TimeNS: None, Weight: 3, CPU: None, PID: None}},
		{`{"type":"sample","event":1,"time_ns":1e3,"later":{"a":[1]}}`, nil},
		{`{"type":"sample","event":1,"later":{"a":[1,"}"]},"cpu":4}`, &Sample{Event: 1, TID: None, TimeNS: None, Weight: 1, CPU: 4, PID: None}},
		{`{"type":"sample","event":1,"later":-7,"more":true,"text":"x","cpu":4}`, &Sample{Event: 1, TID: None, TimeNS: None, Weight: 1, CPU: 4, PID: None}},
		{`{"type":"sample","event":-1}`, nil},
		{`{"type":"sample","event":4294967296}`, nil},
		{`{"type":"sample","event":01}`, nil},
		{`{"type":"sample","event":1,"cpu":"0"}`, nil},
		{`{"type":"sample","event":1,"weight":18446744073709551615}`, &Sample{Event: 1, TID: None, TimeNS: None, Weight: 18446744073709551615, CPU: None, PID: None}},
		{`{"type":"sample","event":1,"weight":18446744073709551616}`, nil},
		{`{"type":"sample","event":1,}`, nil},
		{`{"type":"sample","event":1}}`, nil},
		{`{"type":"sample","event":1`, nil},
		{`{"type":"sample"}`, nil},
		{`{"type":"stack","id":1}`, nil},
		{`{"type":"frame","id":1,"sym\u0062ol":"a"}`, &Frame{ID: 1, Symbol: "a"}},
		{`{"type":"frame","id":1,"symbol":"a\u0062\"c"}`, &Frame{ID: 1, Symbol: `ab"c`}},
		{"{\"type\":\"frame\",\"id\":1,\"symbol\":\"a\xffb\"}", &Frame{ID: 1, Symbol: "a\ufffdb"}},
		{`{"type":"frame","id":1,"symbol":"日本語 names"}`, &Frame{ID: 1, Symbol: "日本語 names"}},
		{"{\"type\":\"frame\",\"id\":1}\r", &Frame{ID: 1}},
	} {
		var got Record = &Sample{}
		typ, ok := sniff([]byte(c.line))
		if ok {
			for _, r := range []Record{&Sample{}, &Stack{}, &Frame{}} {
				if r.Type() == typ {
					got = r
				}
			}
		}
		err := got.parse([]byte(c.line))
		switch {
		case c.want == nil && err == nil:
			t.Errorf("%s was read as %+v", c.line, got)
		case c.want != nil && err != nil:
			t.Errorf("%s: %v", c.line, err)
		case c.want != nil && !reflect.DeepEqual(got, c.want):
			t.Errorf("%s\n read as %+v\n want    %+v", c.line, got, c.want)
		}
	}
}

// Random values through the hand-written pair, with encoding/json as the judge of what
// the line says.
func TestHotRecordsAgreeWithEncodingJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		n := rng.IntN(40)
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.IntN(256))
			if rng.IntN(4) > 0 {
				b[i] = byte(' ' + rng.IntN(95))
			}
		}
		return string(b)
	}
	for range 20_000 {
		f := Frame{ID: ID(rng.Uint32() | 1), Symbol: text(), Module: text(), Kind: KindKernel, Line: int(rng.Int32()), Inlined: rng.IntN(2) == 0}
		line, _ := f.appendTo(nil)
		var judge struct {
			ID             ID
			Symbol, Module string
			Line           int
			Inlined        bool
		}
		if err := stdjson.Unmarshal(line, &judge); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var got Frame
		if err := got.parse(line); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(f.Symbol, "\ufffd"); judge.Symbol != got.Symbol || len(got.Symbol) < len(want) {
			t.Fatalf("%q: symbol %q, encoding/json %q", line, got.Symbol, judge.Symbol)
		}
		if judge.ID != got.ID || judge.Module != got.Module || judge.Line != got.Line || judge.Inlined != got.Inlined {
			t.Fatalf("%q: %+v, encoding/json %+v", line, got, judge)
		}
	}
}
