// Package record is the vocabulary that the vperf filters speak: newline-delimited
// JSON, one object per line, whose first key is "type".
//
// A stream is a run of records between a [Stream] and its [End]. Streams are closed
// under concatenation, so `cat a.ndjson b.ndjson` is a stream again, and so is
// `cat a.ndjson.zst b.ndjson`. Ids ([ID]) are scoped to the Stream record above them
// and defined before they are used.
//
// A filter passes on what it read, byte for byte ([Reader.Line], [Writer.Raw]), and
// decodes only the types that it wants ([Reader.Type], [Reader.Decode]). What it adds
// goes behind everything it read, in a stream of its own:
//
//	r := record.NewReader("stdin", os.Stdin)
//	w := record.NewWriter(os.Stdout)
//	for r.Next() {
//		w.Raw(r.Line())
//		if r.Type() == record.TypeRSS {
//			var rss record.RSS
//			if r.Decode(&rss) { peak = max(peak, rss.Bytes) }
//		}
//	}
//	w.Begin(record.Stream{By: "peak 1"})
//	w.Write(&record.Metric{Name: "peak_rss", Value: record.Float(float64(peak)), Unit: "bytes"})
//	w.End("")
//
// Times are integer nanoseconds of the clock that the Stream record names. Addresses
// are hex strings, because JavaScript and jq lose integers past 2^53. A value that is
// not known is absent from the line, never 0 and never "": in the structs of this
// package that is nil for pointers, the empty string, and [None] for the plain integers
// of the hot records, where a pointer per sample would cost more than the sample.
//
// The four hot records ([Frame], [Stack], [Sample], [Wait]) are written and read by
// hand, everything else by goccy/go-json.
package record

// Schema is the version of the stream that this package writes.
const Schema = 1

// ID names a frame, a stack or an event within its stream. Ids are positive: 0 is
// "absent" (a sample without a stack, a stack without a parent).
type ID uint32

// None stands for an absent integer in the hot records: a time, thread, process or cpu
// that the recording does not name.
const None = -1

// Type is the kind of a record.
type Type uint8

// The record types, in the order in which STREAM lists them. Unknown is a line of a type
// that this version does not know: pass it on.
const (
	Unknown Type = iota
	TypeStream
	TypeMeta
	TypeCapability
	TypeDump
	TypeEvent
	TypeThread
	TypeFrame
	TypeStack
	TypeSample
	TypeWait
	TypeMem
	TypeRSS
	TypeFreq
	TypeCounter
	TypeMetric
	TypeFinding
	TypeRemark
	TypeRun
	TypeEnd
	TypeNotice
	NumTypes // how many there are, for tables indexed by Type
)

var typeNames = [NumTypes]string{
	"unknown", "stream", "meta", "capability", "dump", "event", "thread", "frame", "stack",
	"sample", "wait", "mem", "rss", "freq", "counter", "metric", "finding", "remark", "run",
	"end", "notice",
}

// String returns the word that stands behind "type" in the line.
func (t Type) String() string {
	if t < NumTypes {
		return typeNames[t]
	}
	return typeNames[Unknown]
}

// TypeOf returns the Type that a word names, or Unknown.
func TypeOf(word string) Type { return typeOf([]byte(word)) }

func typeOf(word []byte) Type {
	switch string(word) { // compiled to a search by length and bytes, without allocation
	case "sample":
		return TypeSample
	case "stack":
		return TypeStack
	case "frame":
		return TypeFrame
	case "wait":
		return TypeWait
	case "mem":
		return TypeMem
	case "rss":
		return TypeRSS
	case "freq":
		return TypeFreq
	case "dump":
		return TypeDump
	case "thread":
		return TypeThread
	case "event":
		return TypeEvent
	case "counter":
		return TypeCounter
	case "metric":
		return TypeMetric
	case "stream":
		return TypeStream
	case "meta":
		return TypeMeta
	case "capability":
		return TypeCapability
	case "finding":
		return TypeFinding
	case "remark":
		return TypeRemark
	case "run":
		return TypeRun
	case "end":
		return TypeEnd
	case "notice":
		return TypeNotice
	}
	return Unknown
}

// Record is any record of this package; only pointers to its structs implement it.
type Record interface {
	Type() Type
	appendTo(dst []byte) ([]byte, error) // the line, without its newline
	parse(line []byte) error             // replaces the receiver by what the line says
}

// Int returns a pointer to n, for the optional integers of the records.
func Int(n int64) *int64 { return &n }

// Float returns a pointer to f, for the optional values of the records.
func Float(f float64) *float64 { return &f }
