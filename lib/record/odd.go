package record

import "errors"

// This file reads the lines of hot records that the hand parsers leave alone: names with
// escapes, blanks between the tokens, numbers written as 1e3, fields of later versions.

func (f *Frame) parseOdd(line []byte) error {
	var v struct {
		ID      ID        `json:"id"`
		Symbol  string    `json:"symbol"`
		Module  string    `json:"module"`
		Kind    FrameKind `json:"kind"`
		File    string    `json:"file"`
		Line    int       `json:"line"`
		Inlined bool      `json:"inlined"`
		Address string    `json:"address"`
	}
	if err := parseJSON(line, &v); err != nil {
		return err
	}
	*f = Frame(v)
	return requireID(f.ID, "frame", "id")
}

func (k *Stack) parseOdd(line []byte) error {
	var v struct {
		ID     ID `json:"id"`
		Frame  ID `json:"frame"`
		Parent ID `json:"parent"`
	}
	if err := parseJSON(line, &v); err != nil {
		return err
	}
	*k = Stack(v)
	return k.check()
}

func (p *Sample) parseOdd(line []byte) error {
	var v struct {
		Event  ID      `json:"event"`
		TID    *int64  `json:"tid"`
		TimeNS *int64  `json:"time_ns"`
		Weight *uint64 `json:"weight"`
		Stack  ID      `json:"stack"`
		CPU    *int64  `json:"cpu"`
		PID    *int64  `json:"pid"`
	}
	if err := parseJSON(line, &v); err != nil {
		return err
	}
	*p = Sample{Event: v.Event, Stack: v.Stack, Weight: 1, TID: or(v.TID), TimeNS: or(v.TimeNS), CPU: or(v.CPU), PID: or(v.PID)}
	if v.Weight != nil {
		p.Weight = *v.Weight
	}
	return requireID(p.Event, "sample", "event")
}

func (w *Wait) parseOdd(line []byte) error {
	var v struct {
		TID        *int64 `json:"tid"`
		StartNS    int64  `json:"start_ns"`
		DurationNS int64  `json:"duration_ns"`
		State      string `json:"state"`
		Stack      ID     `json:"stack"`
	}
	if err := parseJSON(line, &v); err != nil {
		return err
	}
	*w = Wait{TID: or(v.TID), StartNS: v.StartNS, DurationNS: v.DurationNS, State: v.State, Stack: v.Stack}
	return nil
}

func or(p *int64) int64 {
	if p == nil {
		return None
	}
	return *p
}

func requireID(id ID, record, field string) error {
	if id == 0 {
		return errors.New(record + " record without " + field)
	}
	return nil
}
