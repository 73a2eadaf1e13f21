package record

import "strings"

// Filters returns the arguments by which the producer was told to leave samples out, as vp-fold
// is by --tid or --from: the samples are then fewer than what was counted over the run stands
// for. --event is none of them: of the events that it chooses all samples are there.
func (s *Stream) Filters() []string {
	var filters []string
	for _, arg := range s.Args {
		name, _, _ := strings.Cut(arg, "=")
		switch name {
		case "--tid", "--pid", "--cpu", "--comm", "--module", "--function", "--from", "--to":
			filters = append(filters, arg)
		}
	}
	return filters
}
