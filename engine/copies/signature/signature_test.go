package signature

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSet checks that sets are the sorted distinct hashes, for any number and distribution of hashes.
func TestSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, hash := range map[string]func() uint64{
		"even":        random.Uint64,
		"few":         func() uint64 { return random.Uint64N(20) * 0x0123456789abcdef },
		"one bucket":  func() uint64 { return random.Uint64N(1 << 40) },
		"one":         func() uint64 { return 7 },
		"the largest": func() uint64 { return ^uint64(0) - random.Uint64N(3) },
	} {
		for _, n := range []int{0, 1, 2, 23, 24, 25, 100, 3000, 4096, 20_000, 70_000} {
			var signatures []Signature
			all := map[uint64]bool{}
			for range n {
				h := hash()
				all[h] = true
				signatures = append(signatures, Signature{Hash: h})
			}
			want := slices.Sorted(maps.Keys(all))
			// Folding tells hashes apart that are no neighbours, as hashes are not.
			set, bag := Gatherer{}, Gatherer{Bag: true}
			for range 2 { // the second time in the space of the first
				for _, s := range signatures {
					set.Add(s)
					bag.Add(s)
				}
				if got := set.Set(); !slices.Equal(got, want) {
					t.Errorf("%s, %d again: %d hashes, want %d", name, n, len(got), len(want))
				}
				if got := bag.Set(); len(got) != n && name != "the largest" || !slices.IsSorted(got) {
					t.Errorf("%s, %d: a bag of %d", name, n, len(got))
				}
			}
		}
	}
}
