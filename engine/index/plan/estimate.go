package plan

import (
	"math"
	"math/bits"
	"slices"

	"ndd/asm"
	"ndd/permute"
)

// An estimate counts pairs of a sample\'s sorted keys that agree. It counts its
// steps, each of which looks at a key and takes some nanoseconds: what they are bounded by is what
// a plan is quick by, on any machine.
type estimate struct {
	keys  []uint64
	steps uint64
}

// agreeing returns how many pairs of keys agree in their leading bits, and how many keys the
// longest run of those has.
func (e *estimate) agreeing(leading int) (pairs, most float64) {
	keys := e.keys
	e.steps += uint64(len(keys))
	shift := 64 - leading
	run := 0
	longest := 0
	for i := range keys {
		if i > 0 && keys[i]>>shift == keys[i-1]>>shift {
			run++
		} else {
			run = 0
		}
		pairs += float64(run)
		longest = max(longest, run+1)
	}
	return pairs, float64(longest)
}

const (
	// pairsEnough is how many pairs make a count one to believe.
	pairsEnough = 64
	// pairsTrend is how many pairs show how the share falls from one bit to the next, and trendBits from
	// how many bits that is told.
	pairsTrend = 1024
	trendBits  = 4
)

// exactShare returns the share of pairs that agree in all leading bits, and the longest run. Where a sample
// shows too few pairs to count them, the share goes on falling as it fell where there were enough,
// unless more pairs are seen: under a long mask, skewed fingerprints agree far more often than
// uniform ones, and a sample of 65,536 shows none of it.
func (e *estimate) exactShare(leading int) (share, most float64) {
	n := float64(len(e.keys))
	all := n * (n - 1) / 2
	pairs, most := e.agreeing(leading)
	if pairs >= pairsEnough {
		return pairs / all, most
	}
	from, seen := leading, pairs
	for from > trendBits && seen < pairsTrend {
		from--
		seen, _ = e.agreeing(from)
	}
	before, _ := e.agreeing(max(0, from-trendBits))
	falls := math.Pow(seen/max(before, 1), 1.0/trendBits)
	trend := seen / all * math.Pow(max(falls, 0.5), float64(leading-from))
	return min(1, max(math.Ldexp(1, -leading), trend, (pairs-math.Sqrt(pairs))/all)), most
}

const (
	lookupsMost = 1 << 17 // of flipped keys in one estimate: 5 ms
	lookupsEach = 256     // of a query: with more, comparing it with all keys takes less
	scannedMost = 1 << 8  // queries that are compared with all keys: 2 ms
)

// nearShare returns the share of pairs that agree in the leading bits but for radius flips, of some of the
// keys and all others. The few pairs that uniform keys would show have little weight.
func (e *estimate) nearShare(leading, radius int) float64 {
	uniform := float64(permute.Ball(leading, radius)) * math.Ldexp(1, -leading)
	var pairs, queries float64
	if flips := permute.Ball(leading, radius); flips <= lookupsEach {
		pairs, queries = e.lookUp(leading, radius, max(1, lookupsMost/flips))
	} else {
		pairs, queries = e.scanNear(leading, radius)
	}
	const prior = 2 // pairs
	expected := queries * float64(len(e.keys)-1) * uniform
	return min(1, uniform*(pairs+prior)/(expected+prior))
}

// lookUp looks for flipped leading bits of some of the keys among all.
func (e *estimate) lookUp(leading, radius, most int) (pairs, queries float64) {
	keys := e.keys
	flips := slices.Collect(permute.Flips(leading, radius).All())
	count := min(len(keys), most)
	shift := 64 - leading
	// A directory of the sample's own density makes look-ups short.
	width := max(1, bits.Len(uint(len(keys)))-2)
	starts := make([]int, 1<<width+1)
	for _, k := range keys {
		starts[k>>(64-width)+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	// below is how many keys are less than x.
	below := func(x uint64) int {
		from, to := starts[x>>(64-width)], starts[x>>(64-width)+1]
		e.steps += uint64(1 + bits.Len(uint(to-from)))
		i, _ := slices.BinarySearch(keys[from:to], x)
		return from + i
	}
	for q := range count {
		prefix := keys[q*len(keys)/count] >> shift
		for _, f := range flips {
			low := (prefix ^ f>>shift) << shift
			to := len(keys)
			if next := low + 1<<shift; next > low {
				to = below(next)
			}
			pairs += float64(to - below(low))
		}
		pairs-- // itself
	}
	return pairs, float64(count)
}

// scanNear compares the leading bits of some of the keys with those of all.
func (e *estimate) scanNear(leading, radius int) (pairs, queries float64) {
	keys := e.keys
	cut := make([]uint64, len(keys))
	for i, k := range keys {
		cut[i] = k >> (64 - leading)
	}
	found := make([]uint32, 1024)
	count := min(len(keys), scannedMost)
	for q := range count {
		for rest := cut; len(rest) > 0; {
			n, done := asm.Within64(found, rest, cut[q*len(keys)/count], radius)
			pairs += float64(n)
			e.steps += uint64(done)
			rest = rest[done:]
		}
		pairs-- // itself
	}
	return pairs, float64(count)
}
