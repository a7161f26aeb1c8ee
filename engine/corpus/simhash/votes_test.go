package simhash

import (
	"testing"

	"pgregory.net/rapid"
)

// sumOracle is section 2 of the paper, word for word.
func sumOracle(hashes []uint64, weights []uint32) Fingerprint {
	var counters [64]int64
	for i, h := range hashes {
		w := int64(weights[i])
		for b := range counters {
			if h>>b&1 == 1 {
				counters[b] += w
			} else {
				counters[b] -= w
			}
		}
	}
	var f Fingerprint
	for b, c := range counters {
		if c > 0 {
			f |= 1 << b
		}
	}
	return f
}

// sum elects by these hashes, some of words and some of characters.
func sum(hashes []uint64, weights []uint32) Fingerprint {
	n := len(hashes) / 3
	return elect(&counter{hashes: hashes[:n], times: weights[:n]}, &counter{hashes: hashes[n:], times: weights[n:]})
}

// TestSum: ties are zeros, and weights count. Package asm holds the kernels of the votes against
// brute force.
func TestSum(t *testing.T) {
	for _, c := range []struct {
		name    string
		hashes  []uint64
		weights []uint32
		want    Fingerprint
	}{
		{"empty", nil, nil, 0},
		{"one", []uint64{5}, []uint32{1}, 5},
		{"one against one is a tie, a 0", []uint64{0b1100, 0b1010}, []uint32{1, 1}, 0b1000},
		{"weight breaks the tie", []uint64{0b1100, 0b1010}, []uint32{2, 1}, 0b1100},
		{"weight 0 does not vote", []uint64{0b1100, 0b1010}, []uint32{0, 1}, 0b1010},
	} {
		if got := sum(c.hashes, c.weights); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		// Few different hashes with many repeats make ties; sparse ones leave counters at zero.
		pool := rapid.SliceOfN(rapid.Uint64(), 1, 6).Draw(t, "pool")
		hashes := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 70).Draw(t, "hashes")
		weight := rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32(), rapid.Just(^uint32(0)))
		weights := rapid.SliceOfN(weight, len(hashes), len(hashes)).Draw(t, "weights")
		if got, want := sum(hashes, weights), sumOracle(hashes, weights); got != want {
			t.Fatalf("weights %v: %v, want %v", weights, got, want)
		}
	})
}
