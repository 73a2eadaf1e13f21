package record

// This file holds the records that occur rarely enough for a JSON library: see hot.go
// for the others. The field order is the order in the line.

// Stream opens what one producer wrote.
type Stream struct {
	Schema  int      `json:"schema"`            // [Schema]; Begin sets it
	By      string   `json:"by"`                // tool and version
	Profile string   `json:"profile,omitempty"` // the run that the records describe: an id that vp-collect makes, or vp-fold from a foreign recording
	Part    int      `json:"part,omitempty"`    // 2, 3, ... tell the streams apart that one producer makes of several recordings
	Clock   string   `json:"clock,omitempty"`   // of the times that follow: "monotonic", or what the recording names
	Args    []string `json:"args,omitempty"`    // options only, never paths: replay must not depend on them
}

// End closes what one producer wrote.
type End struct {
	By       string         `json:"by"`
	Counts   map[string]int `json:"counts"` // records by type, Stream and End left out
	Complete bool           `json:"complete"`
	Cause    Cause          `json:"cause,omitempty"` // why it is not complete
}

// Meta describes a profiled run. A second Meta of the same stream adds what only the end
// of the run knows; its absent fields leave the first one's values standing.
type Meta struct {
	Target      *Target           `json:"target,omitempty"`
	Host        *Host             `json:"host,omitempty"`
	PerfVersion string            `json:"perf_version,omitempty"`
	Events      []string          `json:"events,omitempty"`    // sampled events, as perf was asked for them
	Callgraph   string            `json:"callgraph,omitempty"` // fp, dwarf, lbr, none
	Options     map[string]string `json:"options,omitempty"`
}

// Target is the process that was profiled.
type Target struct {
	Cmd        []string `json:"cmd,omitempty"`
	PID        *int64   `json:"pid,omitempty"`
	Launcher   string   `json:"launcher,omitempty"` // name of the process before it became Cmd: samples under it are not the target's
	StartNS    *int64   `json:"start_ns,omitempty"` // when it was let go, on the stream's clock
	ExitCode   *int64   `json:"exit_code,omitempty"`
	Signal     string   `json:"signal,omitempty"` // name of the signal that ended it: "SIGSEGV"
	DurationNS *int64   `json:"duration_ns,omitempty"`
}

// Host is the machine that the profile was taken on.
type Host struct {
	Name       string `json:"name,omitempty"`
	Kernel     string `json:"kernel,omitempty"`
	CPU        *CPU   `json:"cpu,omitempty"`
	NCPU       int    `json:"ncpu,omitempty"`  // logical CPUs online
	Cores      int    `json:"cores,omitempty"` // physical cores
	SMT        *bool  `json:"smt,omitempty"`
	NUMANodes  int    `json:"numa_nodes,omitempty"`
	LineBytes  int    `json:"line_bytes,omitempty"` // of a data cache line
	Governor   string `json:"governor,omitempty"`
	Hypervisor string `json:"hypervisor,omitempty"`
}

// CPU names a processor.
type CPU struct {
	Vendor   string `json:"vendor,omitempty"` // as /proc/cpuinfo: AuthenticAMD, GenuineIntel
	Family   *int64 `json:"family,omitempty"`
	Model    *int64 `json:"model,omitempty"`
	Stepping *int64 `json:"stepping,omitempty"`
	Name     string `json:"name,omitempty"`
}

// Status says whether a capability is there.
type Status string

// The answers of a probe.
const (
	OK          Status = "ok"
	Missing     Status = "missing"
	Denied      Status = "denied"
	Unsupported Status = "unsupported"
)

// Capability is one thing that a host can or cannot do, found out by trying it.
type Capability struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Group  string `json:"group,omitempty"` // heading it is shown under
	Detail string `json:"detail,omitempty"`
	Cause  Cause  `json:"cause,omitempty"`
	Fix    string `json:"fix,omitempty"` // a command to paste
}

// What a Dump holds.
const (
	DumpPerfData      = "perf.data"
	DumpPerfScript    = "perf-script"
	DumpPerfStat      = "perf-stat"
	DumpPerfMemReport = "perf-mem-report"
)

// EncodingZstd is the only Encoding of Dump.Data so far: a whole zstd frame, in base64.
const EncodingZstd = "zstd+base64"

// Dump is a chunk of raw tool output: Text where the output is UTF-8, else Data. Chunks
// of one dump follow each other with Seq 0, 1, 2, ... and are cut anywhere.
type Dump struct {
	Of       string `json:"of"`
	Seq      int    `json:"seq"`
	Text     string `json:"text,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	Data     string `json:"data,omitempty"`
}

// Kind groups events by what may be concluded from them.
type Kind string

// The kinds of events. Only KindCPU events enter hotspots and flame graphs unasked.
const (
	KindCPU     Kind = "cpu"
	KindMemory  Kind = "memory"
	KindSched   Kind = "sched"
	KindCounter Kind = "counter"
)

// Event is an event of the recording that samples refer to.
type Event struct {
	ID   ID     `json:"id"`
	Name string `json:"name"`           // as perf prints it
	Unit string `json:"unit,omitempty"` // of the weight: cycles, ns, count
	Kind Kind   `json:"kind,omitempty"`
}

// Thread is a thread that was seen.
type Thread struct {
	TID     int64  `json:"tid"`
	PID     *int64 `json:"pid,omitempty"`
	Name    string `json:"name,omitempty"`
	StartNS *int64 `json:"start_ns,omitempty"`
	EndNS   *int64 `json:"end_ns,omitempty"`
}

// Mem is a slice of memory accesses that agree in every field but the counts.
type Mem struct {
	StartNS        *int64   `json:"start_ns,omitempty"`
	DurationNS     *int64   `json:"duration_ns,omitempty"`
	TID            *int64   `json:"tid,omitempty"`
	CPU            *int64   `json:"cpu,omitempty"`
	Node           *int64   `json:"node,omitempty"`
	Op             string   `json:"op,omitempty"`    // load, store
	Level          string   `json:"level,omitempty"` // L1, LFB, L2, L3, local_dram, ...
	Count          int64    `json:"count"`           // samples
	LatencySamples *int64   `json:"latency_samples,omitempty"`
	LatencyCycles  *float64 `json:"latency_cycles,omitempty"` // sum over LatencySamples
	Band           string   `json:"band,omitempty"`           // latency band, in cycles: "51-100"
	TLB            string   `json:"tlb,omitempty"`
	Snoop          string   `json:"snoop,omitempty"`
	Locked         *bool    `json:"locked,omitempty"`
	Blocked        string   `json:"blocked,omitempty"`
	Stack          ID       `json:"stack,omitempty"`
	Symbol         string   `json:"symbol,omitempty"`
	Address        string   `json:"address,omitempty"`
	Backend        string   `json:"backend,omitempty"` // ibs, pebs, spe
}

// RSS is a reading of the resident set of one process.
type RSS struct {
	PID    int64 `json:"pid"`
	TimeNS int64 `json:"time_ns"`
	Bytes  int64 `json:"bytes"`
}

// Freq is a reading of the clock of one CPU.
type Freq struct {
	TimeNS int64 `json:"time_ns"`
	CPU    int64 `json:"cpu"`
	KHz    int64 `json:"khz"`
}

// Quality says what kind of number a value is.
type Quality string

// The qualities. A count was counted or measured over the whole time; a derived value was
// computed from several counts; an estimate rests on samples, or on a multiplexed count
// that was scaled up; a model rests on assumptions that are printed beside it.
const (
	Count    Quality = "count"
	Estimate Quality = "estimate"
	Derived  Quality = "derived"
	Model    Quality = "model"
)

// Counter is a counted event, or the cause why it could not be counted.
type Counter struct {
	Event      string   `json:"event"`
	Expression string   `json:"expression,omitempty"` // what was really counted
	Scope      string   `json:"scope"`                // all, tid:N, cpu:N, range:NAME
	Value      *float64 `json:"value,omitempty"`
	Unit       string   `json:"unit,omitempty"`
	EnabledNS  *int64   `json:"enabled_ns,omitempty"`
	RunningNS  *int64   `json:"running_ns,omitempty"`
	Quality    Quality  `json:"quality,omitempty"`
	Missing    Cause    `json:"missing,omitempty"`
}

// Metric is a number derived from counters, samples or readings, with how it came about.
type Metric struct {
	Name    string             `json:"name"`
	Scope   string             `json:"scope"` // all, tid:N, cpu:N, group:NAME, core:TYPE, range:NAME
	Value   *float64           `json:"value,omitempty"`
	Unit    string             `json:"unit,omitempty"`
	Formula string             `json:"formula,omitempty"`
	Inputs  map[string]float64 `json:"inputs,omitempty"`
	Quality Quality            `json:"quality,omitempty"`
	Missing Cause              `json:"missing,omitempty"`
}

// Evidence is a number that a Finding rests on.
type Evidence struct {
	Metric    string   `json:"metric"`
	Value     *float64 `json:"value,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
}

// Severity ranks findings and notices.
type Severity string

// The severities.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Finding is a diagnosis.
type Finding struct {
	Rule     string     `json:"rule"`
	Verdict  string     `json:"verdict"`
	Severity Severity   `json:"severity,omitempty"`
	Scope    string     `json:"scope,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Advice   string     `json:"advice,omitempty"`
	Next     string     `json:"next,omitempty"` // a command
}

// Remark is what a compiler said about a line.
type Remark struct {
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Function string `json:"function,omitempty"`
	Pass     string `json:"pass,omitempty"`
	Status   string `json:"status,omitempty"` // applied, missed, analysis
	Text     string `json:"text,omitempty"`
}

// Run is one run of a repeated measurement.
type Run struct {
	Run      int                `json:"run"`
	Values   map[string]float64 `json:"values,omitempty"`
	CPU      *int64             `json:"cpu,omitempty"`
	ExitCode *int64             `json:"exit_code,omitempty"`
}

// Notice is a thing worth saying that is no number: what was lost, what was replaced.
type Notice struct {
	Severity Severity `json:"severity"`
	Cause    Cause    `json:"cause,omitempty"`
	Text     string   `json:"text"`
	Fix      string   `json:"fix,omitempty"`
}
