package machine

import (
	"cmp"
	"slices"

	"vperf/lib/symbol"
)

// Missing is a module in which samples were taken in code without a name.
type Missing struct {
	Module  string
	Samples uint64
	Problem *symbol.Problem // why there is none, nil where the module has symbols, but none there
}

// Missing returns the modules in which a share of the samples, 0 to 1, lacks names, those
// with the most first. It is to be called when Next has returned false. Finding out what is
// wrong with a module takes time, so it is done for these alone.
func (s *Source) Missing(share float64) []Missing {
	samples := map[string]uint64{}
	for stack, n := range s.taken {
		if n == 0 || stack == 0 {
			continue
		}
		if leaf := s.Frame(s.stacks.At(stack)[0]); leaf.Symbol == "" && leaf.Module != "" {
			samples[leaf.Module] += n
		}
	}
	var list []Missing
	for name, n := range samples {
		if float64(n) < share*float64(s.tally.Samples) {
			continue
		}
		list = append(list, Missing{name, n, s.frames.modules.problem(name)})
	}
	slices.SortFunc(list, func(a, b Missing) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.Module, b.Module))
	})
	return list
}

// problem returns what is wrong with the names of a module.
func (s *modules) problem(name string) *symbol.Problem {
	for _, list := range s.byPath {
		for _, m := range list {
			if t, ok := m.names.(interface{ Problem() *symbol.Problem }); ok && m.name == name {
				if p := t.Problem(); p != nil {
					return p
				}
			}
		}
	}
	return nil
}
