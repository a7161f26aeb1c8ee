package plan

import (
	"math"

	"example.org/ndd/asm"
	"example.org/ndd/permute"
)

// An estimate has a sample in the order of a table: permuted by its mask, and sorted. It counts pairs of keys that
// agree.
type estimate struct {
	sample *Sample
	keys   []uint64
	entry  entry
	shares map[[2]int]float64 // known results of share, by leading bits and radius
}

// share returns the probability that two different fingerprints differ in at most radius of the first leading bits. It
// takes at most some milliseconds, for every radius.
func (e *estimate) share(leading, radius int) float64 {
	key := [2]int{leading, radius}
	share, ok := e.shares[key]
	switch {
	case ok:
		return share
	case radius > 0:
		share = e.nearShare(leading, radius)
	default:
		share = e.exactShare(leading)
	}
	e.shares[key] = share
	return share
}

// agreeing returns the number of pairs of keys that agree in their leading bits.
func (e *estimate) agreeing(leading int) (pairs float64) {
	keys := e.keys
	e.sample.steps += uint64(len(keys))
	shift := 64 - leading
	run := 0
	for i := range keys {
		if i > 0 && keys[i]>>shift == keys[i-1]>>shift {
			run++
		} else {
			run = 0
		}
		pairs += float64(run)
	}
	return pairs
}

const (
	// pairsEnough is the number of pairs for a reliable count.
	pairsEnough = 64
	// pairsTrend is the number of pairs that shows how fast the share decreases from bit to bit. trendBits is the
	// number of bits for that trend.
	pairsTrend = 1024
	trendBits  = 4
)

// exactShare returns the share of pairs that agree in all leading bits. If the sample has too few pairs, it
// extrapolates the trend of shorter prefixes with enough pairs, unless it counts more pairs. Under a long mask,
// skewed fingerprints agree far more often than uniform ones, and a sample of 65,536 does not show this.
func (e *estimate) exactShare(leading int) float64 {
	n := float64(len(e.keys))
	total := n * (n - 1) / 2
	pairs := e.agreeing(leading)
	if pairs >= pairsEnough {
		return pairs / total
	}
	level, agreeing := leading, pairs
	for level > trendBits && agreeing < pairsTrend {
		level--
		agreeing = e.agreeing(level)
	}
	previous := e.agreeing(max(0, level-trendBits))
	ratio := math.Pow(agreeing/max(previous, 1), 1.0/trendBits)
	trend := agreeing / total * math.Pow(max(ratio, 0.5), float64(leading-level))
	return min(1, max(math.Ldexp(1, -leading), trend, (pairs-math.Sqrt(pairs))/total))
}

// scanKeysMax is the number of keys that are compared with all others, in 2 ms.
const scanKeysMax = 1 << 8

// nearShare estimates the share of key pairs whose leading bits differ in at most radius bits. It compares some keys
// with all others. If there are few pairs, the expectation for uniform keys dominates.
func (e *estimate) nearShare(leading, radius int) float64 {
	keys := e.keys
	cut := make([]uint64, len(keys))
	for i, k := range keys {
		cut[i] = k >> (64 - leading)
	}
	positions := make([]uint32, 1024)
	count, pairs := min(len(keys), scanKeysMax), 0
	for q := range count {
		for low := cut; len(low) > 0; {
			n, done := asm.Within64(positions, low, cut[q*len(keys)/count], radius)
			pairs += n
			e.sample.steps += uint64(done)
			low = low[done:]
		}
		pairs-- // the key itself
	}
	total := float64(count) * float64(len(keys)-1)
	if pairs >= pairsEnough {
		return float64(pairs) / total
	}
	uniform := float64(permute.Ball(leading, radius)) * math.Ldexp(1, -leading)
	const prior = 2 // pairs
	return min(1, uniform*(float64(pairs)+prior)/(total*uniform+prior))
}
