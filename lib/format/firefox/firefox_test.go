package firefox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vperf/lib/format"
	"vperf/lib/format/internal/sample"
	"vperf/lib/perf/recording"
	"vperf/lib/record"
)

// A profile is what version 60 of the format has, as far as it is not JavaScript's. Every
// field is required. A column is a slice, and a nil in it null.
type profile struct {
	Meta struct {
		Interval                   float64
		StartTime                  float64
		ProcessType                int
		Categories                 []struct{ Name, Color string }
		Product                    string
		Stackwalk                  int
		Version                    int
		PreprocessedProfileVersion int
		MarkerSchema               []any
	}
	Libs []struct {
		Arch, Name, Path, DebugName, DebugPath, BreakpadID string
		CodeID                                             *string
	}
	Shared struct {
		StackTable struct {
			Frame  []int
			Prefix []*int
			Length int
		}
		FrameTable struct {
			Address, InlineDepth, Category, Subcategory, Func []int
			NativeSymbol, InnerWindowID, Line, Column         []*int
			Length                                            int
		}
		FuncTable struct {
			Name                []int
			IsJS, RelevantForJS []bool
			Resource            []int
			Source              []*int
			LineNumber          []*int
			ColumnNumber        []*int
			Length              int
		}
		ResourceTable struct {
			Lib    []*int
			Name   []int
			Host   []*int
			Type   []int
			Length int
		}
		NativeSymbols struct {
			LibIndex, Address, Name, FunctionSize []int
			Length                                int
		}
		StringArray []string
		Sources     struct {
			UUID     []*string
			Filename []int
			Length   int
		}
	}
	Threads []struct {
		ProcessType        string
		ProcessStartupTime float64
		RegisterTime       float64
		PausedRanges       []any
		Name               string
		IsMainThread       bool
		PID, TID           string
		Samples            struct {
			Stack      []*int
			Time       []float64
			Weight     []float64
			WeightType string
			Length     int
		}
		Markers struct {
			Data, Name, StartTime, EndTime, Phase, Category []any
			Length                                          int
		}
	}
}

// columns checks that the columns of a table are as long as it says.
func columns(t *testing.T, name string, table any) {
	t.Helper()
	v := reflect.ValueOf(table)
	length := int(v.FieldByName("Length").Int())
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice && (f.IsNil() || f.Len() != length) {
			t.Errorf("%s.%s has %d of %d values", name, v.Type().Field(i).Name, f.Len(), length)
		}
	}
}

// read checks what holds for every profile.
func read(t *testing.T, data []byte) *profile {
	t.Helper()
	var p profile
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	s := &p.Shared
	for name, table := range map[string]any{
		"stackTable": s.StackTable, "frameTable": s.FrameTable, "funcTable": s.FuncTable,
		"resourceTable": s.ResourceTable, "nativeSymbols": s.NativeSymbols, "sources": s.Sources,
	} {
		columns(t, name, table)
	}
	within := func(name string, i, n int) {
		t.Helper()
		if i < 0 || i >= n {
			t.Fatalf("%s: %d is not below %d", name, i, n)
		}
	}
	for i := range s.StackTable.Length {
		within("stackTable.frame", s.StackTable.Frame[i], s.FrameTable.Length)
		if prefix := s.StackTable.Prefix[i]; prefix != nil {
			within("stackTable.prefix", *prefix, i) // callers come first
		}
	}
	for i := range s.FrameTable.Length {
		within("frameTable.func", s.FrameTable.Func[i], s.FuncTable.Length)
		within("frameTable.category", s.FrameTable.Category[i], len(p.Meta.Categories))
	}
	for i := range s.FuncTable.Length {
		within("funcTable.name", s.FuncTable.Name[i], len(s.StringArray))
		within("funcTable.resource", s.FuncTable.Resource[i]+1, s.ResourceTable.Length+1)
		if source := s.FuncTable.Source[i]; source != nil {
			within("funcTable.source", *source, s.Sources.Length)
		}
	}
	for i := range s.ResourceTable.Length {
		within("resourceTable.name", s.ResourceTable.Name[i], len(s.StringArray))
		within("resourceTable.lib", *s.ResourceTable.Lib[i], len(p.Libs))
	}
	for _, i := range s.Sources.Filename {
		within("sources.filename", i, len(s.StringArray))
	}
	for i, th := range p.Threads {
		columns(t, "samples", th.Samples)
		columns(t, "markers", th.Markers)
		for _, id := range th.Samples.Stack {
			within("samples.stack", *id, s.StackTable.Length)
		}
		if !slices.IsSorted(th.Samples.Time) {
			t.Errorf("thread %d: times go back: %v", i, th.Samples.Time)
		}
		if th.PID == "" || th.TID == "" || th.PausedRanges == nil {
			t.Errorf("thread %d lacks an id or pausedRanges", i)
		}
	}
	if p.Meta.Interval <= 0 {
		t.Errorf("interval %v", p.Meta.Interval)
	}
	if !slices.ContainsFunc(p.Meta.Categories, func(c struct{ Name, Color string }) bool { return c.Color == "grey" }) {
		t.Error("no category is the default")
	}
	if p.Meta.PreprocessedProfileVersion != 60 || p.Meta.MarkerSchema == nil {
		t.Errorf("version %d, marker schema %v", p.Meta.PreprocessedProfileVersion, p.Meta.MarkerSchema)
	}
	return &p
}

// lines returns a line for every sample.
func (p *profile) lines() (lines []string) {
	s := &p.Shared
	for _, th := range p.Threads {
		for i, id := range th.Samples.Stack {
			var names []string
			for ; id != nil; id = s.StackTable.Prefix[*id] {
				f := s.StackTable.Frame[*id]
				names = append(names, s.StringArray[s.FuncTable.Name[s.FrameTable.Func[f]]]+"/"+p.Meta.Categories[s.FrameTable.Category[f]].Name)
			}
			slices.Reverse(names)
			lines = append(lines, fmt.Sprintf("%s %s/%s %v %s %v", th.Name, th.PID, th.TID, th.Samples.Time[i], strings.Join(names, ";"), th.Samples.Weight[i]))
		}
	}
	return lines
}

func write(t *testing.T, p *format.Profile) *profile {
	t.Helper()
	var out, again bytes.Buffer
	if err := Write(&out, p); err != nil {
		t.Fatal(err)
	}
	if err := Write(&again, p); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("the same profile makes different files (%v)", err)
	}
	if bytes.Contains(out.Bytes(), []byte("</script>")) {
		t.Error("a symbol is markup")
	}
	return read(t, out.Bytes())
}

func TestWrite(t *testing.T) {
	in := sample.Profile(record.Event{Name: "cpu-clock", Unit: "ns"}, true, sample.App)
	in.BuildIDs = map[string]string{"/opt/app": "0123456789abcdef0011223344556677deadbeef"}
	p := write(t, in)
	want := []string{
		"app 9/9 0 main/User;work/User;inner/User;sys_read/Kernel 10",
		"app 9/9 15.5 main/User;work/User;inner/User 4",
		"app 9/9 20 main/User;work/User;inner/User;sys_read/Kernel 20",
		"app 9/9 30 main/User;</script>\ufffd/User 1",
		"pool 9/10 10 thread/User;work/User;work/User;[unknown]/Other 5",
	}
	if got := p.lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if th := p.Threads[0]; !th.IsMainThread || th.Samples.WeightType != "tracing-ms" {
		t.Errorf("main thread %v, weights %s", th.IsMainThread, th.Samples.WeightType)
	}
	if p.Threads[1].IsMainThread {
		t.Error("thread 10 of process 9 is no main thread")
	}
	if p.Meta.Interval != 7.5 { // 4 samples in 30 ms
		t.Errorf("interval %v", p.Meta.Interval)
	}
	if lib := p.Libs[0]; lib.Name != "app" || lib.BreakpadID != "67452301AB89EFCD00112233445566770" || *lib.CodeID != in.BuildIDs["/opt/app"] {
		t.Errorf("%+v", lib)
	}
	if p.Libs[1].CodeID != nil {
		t.Errorf("%+v", p.Libs[1])
	}
	for i, depth := range p.Shared.FrameTable.InlineDepth {
		name := p.Shared.StringArray[p.Shared.FuncTable.Name[p.Shared.FrameTable.Func[i]]]
		if (depth == 1) != (name == "inner") {
			t.Errorf("%s has inline depth %d", name, depth)
		}
	}
}

// TestUntimed puts samples without times one behind the other.
func TestUntimed(t *testing.T) {
	const none = recording.None
	p := write(t, sample.Profile(record.Event{Name: "samples", Unit: "count"}, true, []sample.Sample{
		{PID: none, TID: none, TimeNS: none, Stack: "a;b", Weight: 3},
		{PID: none, TID: none, TimeNS: none, Stack: "a", Weight: 4},
	}))
	want := []string{"all threads unknown/unknown 0 a/User;b/User 3", "all threads unknown/unknown 1 a/User 4"}
	if got := p.lines(); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if w := p.Threads[0].Samples.WeightType; w != "samples" {
		t.Errorf("weights are %s", w)
	}
}
