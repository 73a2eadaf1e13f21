package record

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-json"
)

// This file joins the records of types.go to the library that encodes them.

// appendJSON appends {"type":"<t>", and the fields of v. The type comes first, always,
// so that no reader has to parse a line to know what it is.
func appendJSON(dst []byte, t Type, v any) ([]byte, error) {
	b, err := json.MarshalWithOption(v, json.DisableHTMLEscape())
	if err != nil {
		return dst, err
	}
	dst = append(dst, `{"type":"`...)
	dst = append(dst, typeNames[t]...)
	dst = append(dst, '"')
	if len(b) > len("{}") {
		dst = append(dst, ',')
	}
	return append(dst, b[1:]...), nil
}

// parseJSON replaces *v by what line says.
func parseJSON[T any](line []byte, v *T) error {
	var fresh T
	if err := json.Unmarshal(line, &fresh); err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) { // the library speaks of Go's types
			return fmt.Errorf("field %q does not take %s", strings.TrimPrefix(mismatch.Field, "."), mismatch.Value)
		}
		return errors.New(shorten(err.Error()))
	}
	*v = fresh
	return nil
}

// shorten keeps a library's error readable: it may quote the whole line.
func shorten(s string) string {
	const most = 160
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// Type returns [TypeStream].
func (*Stream) Type() Type                            { return TypeStream }
func (r *Stream) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeStream, r) }
func (r *Stream) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeEnd].
func (*End) Type() Type                            { return TypeEnd }
func (r *End) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeEnd, r) }
func (r *End) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeMeta].
func (*Meta) Type() Type                            { return TypeMeta }
func (r *Meta) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeMeta, r) }
func (r *Meta) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeCapability].
func (*Capability) Type() Type { return TypeCapability }

func (r *Capability) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeCapability, r) }
func (r *Capability) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeDump].
func (*Dump) Type() Type                            { return TypeDump }
func (r *Dump) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeDump, r) }

// Type returns [TypeEvent].
func (*Event) Type() Type                            { return TypeEvent }
func (r *Event) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeEvent, r) }
func (r *Event) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeThread].
func (*Thread) Type() Type                            { return TypeThread }
func (r *Thread) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeThread, r) }
func (r *Thread) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeMem].
func (*Mem) Type() Type                            { return TypeMem }
func (r *Mem) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeMem, r) }
func (r *Mem) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeRSS].
func (*RSS) Type() Type                            { return TypeRSS }
func (r *RSS) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeRSS, r) }
func (r *RSS) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeFreq].
func (*Freq) Type() Type                            { return TypeFreq }
func (r *Freq) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeFreq, r) }
func (r *Freq) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeCounter].
func (*Counter) Type() Type                            { return TypeCounter }
func (r *Counter) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeCounter, r) }
func (r *Counter) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeMetric].
func (*Metric) Type() Type                            { return TypeMetric }
func (r *Metric) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeMetric, r) }
func (r *Metric) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeFinding].
func (*Finding) Type() Type                            { return TypeFinding }
func (r *Finding) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeFinding, r) }
func (r *Finding) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeRemark].
func (*Remark) Type() Type                            { return TypeRemark }
func (r *Remark) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeRemark, r) }
func (r *Remark) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeRun].
func (*Run) Type() Type                            { return TypeRun }
func (r *Run) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeRun, r) }
func (r *Run) parse(line []byte) error             { return parseJSON(line, r) }

// Type returns [TypeNotice].
func (*Notice) Type() Type                            { return TypeNotice }
func (r *Notice) appendTo(dst []byte) ([]byte, error) { return appendJSON(dst, TypeNotice, r) }
func (r *Notice) parse(line []byte) error             { return parseJSON(line, r) }
