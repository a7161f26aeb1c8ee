package plan

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/huffman"
	"example.org/ndd/permute"
)

// bruteShare compares every two of the fingerprints.
func bruteShare(fingerprints []uint64, mask uint64, leading, radius int) float64 {
	p := permute.New(mask)
	keys := make([]uint64, len(fingerprints))
	for i, x := range fingerprints {
		keys[i] = p.Apply(x)
	}
	agree := 0.0
	for i, a := range keys {
		for _, b := range keys[:i] {
			if bits.OnesCount64((a^b)>>(64-leading)) <= radius {
				agree++
			}
		}
	}
	n := float64(len(fingerprints))
	return agree / (n * (n - 1) / 2)
}

// TestShare compares the estimate with a comparison of all pairs.
func TestShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	centre := rng.Uint64()
	shapes := map[string]func(int) uint64{
		"uniform":    func(int) uint64 { return rng.Uint64() },
		"clustered":  func(int) uint64 { return sets.Flip(rng, centre*rng.Uint64N(50), rng.IntN(9)) },
		"equal bits": func(int) uint64 { return rng.Uint64() | 0xffff<<48 },
	}
	for name, shape := range shapes {
		s, err := NewSample(sets.Generate(3000, shape), 3000, 1)
		must.Do(t, err)
		for _, mask := range []uint64{0xffff << 48, 0xffffffff, 0x5555555555555555} {
			for _, ask := range [][2]int{{4, 0}, {9, 0}, {12, 1}, {16, 3}} {
				leading, radius := ask[0], ask[1]
				want := bruteShare(s.fingerprints, mask, leading, radius)
				got := s.estimate(mask, 3000).share(leading, radius)
				// The effect of chance on a count of pairs, and the prior.
				pairs := want * float64(len(s.fingerprints)) * float64(len(s.fingerprints)) / 2
				if want > 0 && math.Abs(got-want) > want*(0.05+8/math.Sqrt(pairs)) {
					t.Errorf("%s, mask %#x, %d bits, radius %d: %.3g, by all pairs %.3g", name, mask, leading, radius, got, want)
				}
			}
		}
	}
}

// TestEntry estimates the size of 16 times as many keys from a sample.
func TestEntry(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	shapes := map[string]func(int) uint64{
		"uniform":    func(int) uint64 { return rng.Uint64() },
		"equal bits": func(int) uint64 { return rng.Uint64() | 0xfff<<52 },
		"few values": func(int) uint64 { return rng.Uint64()<<32 | rng.Uint64N(1<<20) },
	}
	for name, shape := range shapes {
		all := sets.Generate(1<<19, shape)
		s, err := NewSample(all, 1<<15, 1)
		must.Do(t, err)
		whole, err := NewSample(all, len(all), 1)
		must.Do(t, err)
		const mask = 0xffffffff
		var counts [huffman.Positions]uint64
		huffman.Count(&counts, whole.estimate(mask, 1).keys)
		want := entryOf(&counts).mean
		if got := s.estimate(mask, float64(len(whole.fingerprints))).entry.mean; math.Abs(got-want) > 0.03*want+0.3 {
			t.Errorf("%s: %.2f bits a key, want %.2f", name, got, want)
		}
	}
}

func TestSampleSizes(t *testing.T) {
	if _, err := NewSample(make([]uint64, 1<<20), 1<<10, 1); err == nil {
		t.Error("a sample of one distinct fingerprint")
	}
	s, err := NewSample(uniformKeys(10_000, 1), 4000, 1)
	if err != nil || len(s.fingerprints) != 4000 {
		t.Errorf("%d of 10,000 fingerprints (%v), want 4,000", len(s.fingerprints), err)
	}
}
