package cluster

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"example.org/ndd/asm"
	"example.org/ndd/permute"
)

// costs are the costs of a join in ns a fingerprint and table, on one thread (BenchmarkJoin,
// asm.BenchmarkKernels): for the partition into buckets, for the comparison with a bucket, and for each key of it.
type costs struct{ partition, bucket, key float64 }

var (
	costsWide = costs{partition: 9, bucket: 1.3, key: 0.064} // AVX-512
	costsGo   = costs{partition: 15, bucket: 4, key: 0.49}
)

// bucketMin is the size below which buckets are not split.
const bucketMin = 6

// Choose returns the design with the lowest estimated cost for a join of n distinct fingerprints. Its tables have
// radius 0.
func Choose(n, k int) permute.Design {
	d, _ := choose(n, k, 1, uniformShare)
	return d
}

// CPUTime estimates the CPU time of [Find] for n distinct, uniform fingerprints and distance k, from 0 to 8. For k = 8
// and more than a few million fingerprints, it grows with the square of n.
func CPUTime(n, k int) time.Duration {
	_, cost := choose(n, k, 1, uniformShare)
	return time.Duration(float64(n) * cost)
}

// uniformShare returns the share of pairs of uniform fingerprints that agree in the bits of a mask.
func uniformShare(mask uint64) float64 { return math.Ldexp(1, -bits.OnesCount64(mask)) }

// choose returns the design of [Choose] and its cost. share returns the share of pairs of fingerprints that agree in
// the bits of a mask.
func choose(n, k int, seed uint64, share func(mask uint64) float64) (best permute.Design, lowestCost float64) {
	c := costsGo
	if asm.Accelerated(asm.KernelNearRows) {
		c = costsWide
	}
	lowestCost = math.Inf(1)
	for _, d := range permute.Catalogue(k, seed) {
		cost := 0.0
		for _, t := range d.Tables {
			if t.Radius > 0 {
				cost = math.Inf(1)
				break
			}
			bucket := max(bucketMin, float64(n)*share(t.Mask))
			cost += c.partition + c.bucket + c.key*bucket
		}
		if cost < lowestCost {
			best, lowestCost = d, cost
		}
	}
	return best, lowestCost
}

const (
	sampleKeys  = 128     // keys of a sample; their 8,128 pairs reveal a bucket of n/8,000 keys
	sampleSeeds = 4       // number of seeds to compare; each selects different bits
	sampleMany  = 1 << 16 // number of keys from which several seeds are compared, in 2 ms
)

// chooseForSample returns the design for a join of n fingerprints that resemble a sample. They are far from uniform:
// many bits may be the same in all of them. So the cost depends mainly on the choice of the leading bits.
func chooseForSample(sample []uint64, n, k int) (best permute.Design) {
	// Take some keys of the sample.
	drawn := make([]uint64, 0, sampleKeys)
	for i := range min(sampleKeys, len(sample)) {
		drawn = append(drawn, sample[i*len(sample)/min(sampleKeys, len(sample))])
	}
	masked := make([]uint64, len(drawn))
	// The share of a mask is the share of pairs of these keys that agree in it.
	share := func(mask uint64) float64 {
		for i, f := range drawn {
			masked[i] = f & mask
		}
		slices.Sort(masked)
		equal, before := 0, 0
		for i := 1; i < len(masked); i++ {
			if masked[i] != masked[i-1] {
				before = 0
				continue
			}
			before++
			equal += before
		}
		return max(float64(equal)/float64(max(1, len(drawn)*(len(drawn)-1)/2)), math.Ldexp(1, -bits.OnesCount64(mask)))
	}
	// Compare the best designs of several seeds.
	seeds := uint64(1)
	if n >= sampleMany {
		seeds = sampleSeeds
	}
	lowest, base := math.Inf(1), permute.RandomSeed() // random, so that an attacker cannot fill a bucket
	for seed := range seeds {
		if d, cost := choose(n, k, base+seed, share); cost < lowest {
			best, lowest = d, cost
		}
	}
	return best
}
