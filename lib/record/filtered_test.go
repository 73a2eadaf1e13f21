package record

import (
	"slices"
	"testing"
)

func TestFilters(t *testing.T) {
	for arg, want := range map[string]bool{
		"--tid=101":       true,
		"--function=^a=b": true,
		"--to=1.5":        true,
		"--from":          true,
		"--event=cycles":  false,
		"--tids=1":        false,
		"--root=--tid=1":  false,
		"--freq=99":       false,
	} {
		s := Stream{Args: []string{"--no-inline=true", arg}}
		if got := s.Filters(); want != slices.Equal(got, []string{arg}) || !want && got != nil {
			t.Errorf("%s: %q", arg, got)
		}
	}
}
