package record

import (
	"slices"
	"strings"
)

// Filtered reports whether the producer was told to leave samples out, as vp-fold is by --tid
// or --from: the samples are then fewer than what was counted over the run stands for.
// --event is no such flag: of the events that it chooses all samples are there.
func (s *Stream) Filtered() bool {
	return slices.ContainsFunc(s.Args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		switch name {
		case "--tid", "--pid", "--cpu", "--comm", "--module", "--function", "--from", "--to":
			return true
		}
		return false
	})
}
