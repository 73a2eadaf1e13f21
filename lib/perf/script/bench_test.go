package script

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// profileText makes the text of a profile: samples in stacks of a random walk over a call
// graph, as deep and with names as long as a C++ program has them. Few call sites make a
// repetitive text, many a diverse one.
func profileText(samples, sites int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	lines := make([]string, sites)
	for i := range lines {
		lines[i] = fmt.Sprintf("\t%16x acme::query::detail::Stage<%d, acme::query::detail::Tag>::run<std::allocator<unsigned long> >+0x%x (/opt/acme/bin/engine)\n",
			0x401000+16*i, i%997, i%251)
	}
	// Every site has a few callers, one of which is the usual one.
	callers := make([][3]int, sites)
	for i := range callers {
		callers[i] = [3]int{rnd.IntN(sites), rnd.IntN(sites), rnd.IntN(sites)}
	}
	var b bytes.Buffer
	for s := range samples {
		fmt.Fprintf(&b, "worker-%d %d/%d %d.%09d:     250000 cpu-clock: \n", s%8, 4000, 4000+s%8, 950+s/4000, s%4000*250000)
		site := rnd.IntN(min(sites, 200))
		for range 20 + rnd.IntN(20) {
			b.WriteString(lines[site])
			pick := 0
			if rnd.IntN(20) == 0 {
				pick = 1 + rnd.IntN(2)
			}
			site = callers[site][pick]
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func BenchmarkReader(b *testing.B) {
	for _, c := range []struct {
		name  string
		sites int
	}{{"repetitive", 2000}, {"diverse", 60000}} {
		text := profileText(20000, c.sites)
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
				b.ReportMetric(float64(len(r.stack.stacks)-1), "stacks")
			}
		})
	}
}

// TestNoAllocationPerSample reads a text twice as long, which has no new frames, without
// more allocations than growing tables makes.
func TestNoAllocationPerSample(t *testing.T) {
	text := profileText(500, 50)
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
