package table

import (
	"math/rand/v2"
	"testing"

	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/permute"
)

// skewed returns sets of n distinct keys. Their groups are longer than the directory expects.
func skewed(n int) (all []sets.Set) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, c := range []struct {
		name string
		at   func(i int) uint64
	}{
		{"40 equal leading bits", func(int) uint64 { return 0xa5a5a5a5a5<<24 | rng.Uint64()>>40 }},
		{"a sequence", func(i int) uint64 { return uint64(i) }},
		{"half in one group", func(i int) uint64 { return rng.Uint64() >> (i % 2 * 40) }},
		{"a long group between short", func(i int) uint64 { return rng.Uint64()>>(i%2*40) ^ 1<<63 }},
		{"equal trailing bits", func(int) uint64 { return rng.Uint64() &^ 0xffff }},
		{"powers", func(i int) uint64 { return rng.Uint64() >> (i % 64) }},
	} {
		keys := distinct(sets.Generate(n, c.at))
		queries := []uint64{0, keys[0], ^uint64(0)}
		for i := range 8 {
			queries = append(queries, sets.Flip(rng, keys[rng.IntN(len(keys))], i))
		}
		all = append(all, sets.Set{Name: c.name, Base: keys, Queries: queries})
	}
	return all
}

// TestSkewBounds checks that a planar table of skewed keys takes at most 5 bytes a key more than its widths. A probe
// fixes more bits if a group would be long.
func TestSkewBounds(t *testing.T) {
	for _, set := range skewed(300000) {
		name, keys := set.Name, set.Base
		tab := build(t, keys, Options{Layout: LayoutPlanar})
		if bytes := float64(Bytes(tab)) / float64(len(keys)); bytes > 12 {
			t.Errorf("%s: %.1f bytes a key", name, bytes)
		}
		leading := tab.PlanProbes(64, 1, 3).Leading
		s := &Search{Queries: keys[len(keys)/2:][:1], Leading: leading, Flips: permute.Flips(leading, 1), K: 3}
		reads := 0
		mask := leadingMask(s.Leading)
		for _, key := range keys {
			for flip := range s.Flips.All() {
				if (key^s.Queries[0]^flip)&mask == 0 {
					reads++
				}
			}
		}
		if reads > 40000 {
			t.Errorf("%s: a query with %d leading bits reads %d keys of %d", name, s.Leading, reads, len(keys))
		}
	}
	if tab := build(t, distinct(sets.Uniform(300000, 4)), Options{Layout: LayoutPlanar}); bucketBitsFor(300000) != 19 ||
		tab.PlanProbes(64, 1, 3).Leading != 19 {
		t.Errorf("uniform keys: a probe fixes %d bits, the bucket's 19 are due", tab.PlanProbes(64, 1, 3).Leading)
	}
}
