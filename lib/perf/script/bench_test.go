package script

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// profileText makes the text of a profile: samples in stacks that were drawn from a random
// walk over a call graph, as deep and with names as long as a C++ program has them.
func profileText(samples, sites, stacks int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	lines := make([]string, sites)
	for i := range lines {
		lines[i] = fmt.Sprintf("\t%16x acme::query::detail::Stage<%d>::run<std::allocator<unsigned long> >+0x%x (/opt/acme/bin/engine)\n",
			0x401000+16*i, i%997, i%251)
	}
	callers := make([][2]int, sites)
	for i := range callers {
		callers[i] = [2]int{rnd.IntN(sites), rnd.IntN(sites)}
	}
	chains := make([]string, stacks)
	for i := range chains {
		var b strings.Builder
		site := rnd.IntN(sites)
		for range 20 + rnd.IntN(20) {
			b.WriteString(lines[site])
			site = callers[site][rnd.IntN(8)/7]
		}
		chains[i] = b.String()
	}
	common := rand.NewZipf(rnd, 1.2, 8, uint64(stacks-1))
	var b bytes.Buffer
	for s := range samples {
		fmt.Fprintf(&b, "worker-%d %d/%d %d.%09d:     250000 cpu-clock: \n%s\n",
			s%8, 4000, 4000+s%8, 950+s/4000, s%4000*250000, chains[common.Uint64()])
	}
	return b.Bytes()
}

func BenchmarkReader(b *testing.B) {
	for _, c := range []struct {
		name          string
		sites, stacks int
	}{{"repetitive", 2000, 2000}, {"diverse", 60000, 20000}} {
		text := profileText(20000, c.sites, c.stacks)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r := NewReader(bytes.NewReader(text))
				n := 0
				for r.Next() {
					n++
				}
				if n != 20000 || r.Err() != nil {
					b.Fatal(n, r.Err())
				}
				b.ReportMetric(float64(r.stack.Len()), "stacks")
			}
		})
	}
}

// TestNoAllocationPerSample reads a text twice as long, which has no new frames, without
// more allocations than growing tables makes.
func TestNoAllocationPerSample(t *testing.T) {
	text := profileText(500, 50, 100)
	read := func(times int) float64 {
		long := bytes.Repeat(text, times)
		return testing.AllocsPerRun(3, func() {
			r := NewReader(bytes.NewReader(long))
			for r.Next() {
			}
		})
	}
	if once, twenty := read(1), read(20); twenty > once+10 {
		t.Errorf("%v allocations for 500 samples, %v for 10,000 with the same stacks", once, twenty)
	}
}
