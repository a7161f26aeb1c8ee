package distribution

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/sets"
)

// TestDistinct counts sets of every kind: exactly if they are small, within five standard errors if they are large.
func TestDistinct(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	const n = 1 << 20
	for _, c := range []struct {
		name string
		at   func(i int) uint64
	}{
		{"uniform", func(int) uint64 { return rng.Uint64() }},
		{"each twice, far apart", func(i int) uint64 { return uint64(i % (n / 2)) }},
		{"each ten times, together", func(i int) uint64 { return uint64(i/10) << 20 }},
		{"one", func(int) uint64 { return 7 }},
		{"zeros", func(int) uint64 { return 0 }},
		{"half zeros", func(i int) uint64 { return rng.Uint64() * uint64(i&1) }},
		{"few", func(int) uint64 { return rng.Uint64N(60_000) << 40 }},
		{"sequence", func(i int) uint64 { return uint64(i) }},
	} {
		fingerprints := sets.Generate(n, c.at)
		var d Distinct
		for part := range slices.Chunk(fingerprints, 10_007) {
			d.Add(part)
		}
		slices.Sort(fingerprints)
		want := len(slices.Compact(fingerprints))
		within := 0.0
		if want > distinctKept {
			within = 5 / math.Sqrt(distinctKept/2)
		}
		if got := d.Count(); math.Abs(float64(got)-float64(want)) > within*float64(want) {
			t.Errorf("%s: %d, want %d within %.1f %%", c.name, got, want, 100*within)
		}
	}
	if n := new(Distinct).Count(); n != 0 {
		t.Errorf("%d of none", n)
	}
}

// TestDistinctEdge exceeds the number of stored hashes.
func TestDistinctEdge(t *testing.T) {
	var d Distinct
	for i := range uint64(distinctKept) {
		d.Add([]uint64{i, i / 2})
		if got := d.Count(); got != i+1 {
			t.Fatalf("%d of %d", got, i+1)
		}
	}
	d.Add([]uint64{distinctKept})
	if got := float64(d.Count()); math.Abs(got/distinctKept-1) > 0.03 {
		t.Errorf("%.0f of %d", got, distinctKept+1)
	}
}

func BenchmarkDistinct(b *testing.B) {
	for _, same := range []int{1, 10} {
		fingerprints := sets.Uniform(1<<23, 1)
		for i := range fingerprints {
			if i%same > 0 {
				fingerprints[i] = fingerprints[0]
			}
		}
		b.Run(fmt.Sprintf("same=%d", same), func(b *testing.B) {
			for b.Loop() {
				var d Distinct
				d.Add(fingerprints)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(fingerprints)), "ns/fingerprint")
		})
	}
}
