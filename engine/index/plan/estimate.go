package plan

import (
	"math"

	"ndd/asm"
	"ndd/permute"
)

// An estimate counts pairs of a sample's sorted keys that agree. It counts its
// steps, each of which looks at a key and takes some nanoseconds: what they are bounded by is what
// a plan is quick by, on any machine.
type estimate struct {
	keys  []uint64
	steps uint64
}

// agreeing returns how many pairs of keys agree in their leading bits.
func (e *estimate) agreeing(leading int) (pairs float64) {
	keys := e.keys
	e.steps += uint64(len(keys))
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
	// pairsEnough is how many pairs make a count one to believe.
	pairsEnough = 64
	// pairsTrend is how many pairs show how the share falls from one bit to the next, and trendBits from
	// how many bits that is told.
	pairsTrend = 1024
	trendBits  = 4
)

// exactShare returns the share of pairs that agree in all leading bits. Where a sample
// shows too few pairs to count them, the share goes on falling as it fell where there were enough,
// unless more pairs are seen: under a long mask, skewed fingerprints agree far more often than
// uniform ones, and a sample of 65,536 shows none of it.
func (e *estimate) exactShare(leading int) float64 {
	n := float64(len(e.keys))
	all := n * (n - 1) / 2
	pairs := e.agreeing(leading)
	if pairs >= pairsEnough {
		return pairs / all
	}
	from, seen := leading, pairs
	for from > trendBits && seen < pairsTrend {
		from--
		seen = e.agreeing(from)
	}
	before := e.agreeing(max(0, from-trendBits))
	falls := math.Pow(seen/max(before, 1), 1.0/trendBits)
	trend := seen / all * math.Pow(max(falls, 0.5), float64(leading-from))
	return min(1, max(math.Ldexp(1, -leading), trend, (pairs-math.Sqrt(pairs))/all))
}

// scannedMost keys are compared with all: 2 ms.
const scannedMost = 1 << 8

// nearShare returns the share of pairs that agree in the leading bits but for radius flips, of some of the
// keys and all others. Few pairs have little weight against those that uniform keys would show.
func (e *estimate) nearShare(leading, radius int) float64 {
	keys := e.keys
	cut := make([]uint64, len(keys))
	for i, k := range keys {
		cut[i] = k >> (64 - leading)
	}
	found := make([]uint32, 1024)
	count, pairs := min(len(keys), scannedMost), 0
	for q := range count {
		for rest := cut; len(rest) > 0; {
			n, done := asm.Within64(found, rest, cut[q*len(keys)/count], radius)
			pairs += n
			e.steps += uint64(done)
			rest = rest[done:]
		}
		pairs-- // itself
	}
	all := float64(count) * float64(len(keys)-1)
	if pairs >= pairsEnough {
		return float64(pairs) / all
	}
	uniform := float64(permute.Ball(leading, radius)) * math.Ldexp(1, -leading)
	const prior = 2 // pairs
	return min(1, uniform*(float64(pairs)+prior)/(all*uniform+prior))
}
