package signature

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAppendSet: sets are the sorted distinct hashes, however many there are and however uneven they are.
func TestAppendSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, hash := range map[string]func() uint64{
		"even":        random.Uint64,
		"few":         func() uint64 { return random.Uint64N(20) * 0x0123456789abcdef },
		"one bucket":  func() uint64 { return random.Uint64N(1 << 40) },
		"one":         func() uint64 { return 7 },
		"the largest": func() uint64 { return ^uint64(0) - random.Uint64N(3) },
	} {
		for _, n := range []int{0, 1, 2, 23, 24, 25, 100, 3000, 4096, 20_000} {
			var signatures []Signature
			counts := map[uint64]int{}
			for range n {
				h := hash()
				counts[h]++
				signatures = append(signatures, Signature{Hash: h})
			}
			var want []uint64
			for h := range counts {
				want = append(want, h)
			}
			slices.Sort(want)
			got := AppendSet([]uint64{42}, signatures)
			if got[0] != 42 || !slices.Equal(got[1:], want) {
				t.Errorf("%s, %d: %d hashes, want %d", name, n, len(got)-1, len(want))
			}
			// Folding tells hashes apart that are no neighbours, as hashes are not.
			if bag := AppendBag(nil, signatures); len(bag) != n && name != "the largest" || !slices.IsSorted(bag) {
				t.Errorf("%s, %d: a bag of %d", name, n, len(bag))
			}
		}
	}
}

func BenchmarkAppendSet(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{20, 200, 2000, 20_000} {
		signatures := make([]Signature, n)
		for i := range signatures {
			signatures[i].Hash = random.Uint64()
		}
		var set []uint64
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				set = AppendSet(set[:0], signatures)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/signature")
		})
	}
}
