package plan

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"ndd/asm"
	"ndd/engine/index/radix"
	"ndd/engine/index/table"
	"ndd/huffman"
	"ndd/permute"
)

// A Sample is some of the fingerprints that the index will hold, or is like
// them. It is safe for many goroutines.
type Sample struct {
	prints []uint64 // distinct, in random order

	mu      sync.Mutex
	shares  map[shareOf]shareValue
	sorted  map[uint64][]uint64 // under a mask
	entryN  float64             // what entries are for
	entries map[uint64]entry    // under a mask
}

// SampleSize is how many fingerprints of a collection a plan should be shown: they make 5e8 pairs, and a
// plan with them takes a few tenths of a second.
const SampleSize = 1 << 15

// sortedMost is how many orders of a sample are kept: 512 KiB each.
const sortedMost = 16

// sampleMin is what a sample must have to say anything about rare agreement.
const sampleMin = 1000

// NewSample returns a sample of the fingerprints given: all of them, or so many of them
// chosen at random, by the seed; equal ones count once. It is an error if fewer than a
// thousand are distinct.
func NewSample(prints []uint64, most int, seed uint64) (*Sample, error) {
	rng := rand.New(rand.NewPCG(seed, 0x5a3b1e))
	s := &Sample{shares: make(map[shareOf]shareValue), sorted: make(map[uint64][]uint64), entries: make(map[uint64]entry)}
	if len(prints) <= most {
		s.prints = slices.Clone(prints)
	} else {
		// One of each of so many equal ranges.
		s.prints = make([]uint64, most)
		for i := range s.prints {
			from := uint64(i) * uint64(len(prints)) / uint64(most)
			to := uint64(i+1) * uint64(len(prints)) / uint64(most)
			s.prints[i] = prints[from+rng.Uint64N(to-from)]
		}
	}
	slices.Sort(s.prints)
	s.prints = slices.Compact(s.prints)
	if len(s.prints) < sampleMin {
		return nil, fmt.Errorf("a sample of %d distinct fingerprints: at least %d are needed", len(s.prints), sampleMin)
	}
	rng.Shuffle(len(s.prints), func(i, j int) { s.prints[i], s.prints[j] = s.prints[j], s.prints[i] })
	return s, nil
}

// under is the sample under a mask's permutation, sorted.
func (s *Sample) under(mask uint64) []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := s.sorted[mask]
	if keys == nil {
		keys = make([]uint64, len(s.prints))
		radix.Keys(keys, s.prints, mask, 1)
		if len(s.sorted) >= sortedMost {
			clear(s.sorted)
		}
		s.sorted[mask] = keys
	}
	return keys
}

// share returns the chance that two different fingerprints agree, but for radius
// flips, in the first leading bits under mask, and the part of all that are in
// the longest run of those that agree in all of them. It takes some milliseconds at most, whatever the
// radius, and is remembered.
func (s *Sample) share(mask uint64, leading, radius int) (share, longest float64) {
	at := shareOf{mask, leading, radius}
	s.mu.Lock()
	known, ok := s.shares[at]
	s.mu.Unlock()
	if !ok {
		keys := s.under(mask)
		var most float64
		known.share, most = exactShare(keys, leading)
		if radius > 0 {
			known.share = nearShare(keys, leading, radius)
		}
		// A run of a few is what chance makes.
		if n := float64(len(keys)); most > 8+4*n*math.Ldexp(1, -leading) {
			known.longest = most / n
		}
		s.mu.Lock()
		s.shares[at] = known
		s.mu.Unlock()
	}
	return known.share, known.longest
}

// shareOf names what [Sample.share] remembers.
type shareOf struct {
	mask            uint64
	leading, radius int
}

type shareValue struct{ share, longest float64 }

// agreeing returns how many pairs of sorted keys agree in their leading bits, and how many keys the
// longest run of those has.
func agreeing(keys []uint64, leading int) (pairs, most float64) {
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

// exactShare is the share of pairs that agree in all leading bits, and the longest run. Where a sample
// shows too few pairs to count them, the share goes on falling as it fell where there were enough,
// unless more pairs are seen: under a long mask, skewed fingerprints agree far more often than
// uniform ones, and a sample of 65,536 shows none of it.
func exactShare(keys []uint64, leading int) (share, most float64) {
	n := float64(len(keys))
	all := n * (n - 1) / 2
	pairs, most := agreeing(keys, leading)
	if pairs >= pairsEnough {
		return pairs / all, most
	}
	from, seen := leading, pairs
	for from > trendBits && seen < pairsTrend {
		from--
		seen, _ = agreeing(keys, from)
	}
	before, _ := agreeing(keys, max(0, from-trendBits))
	falls := math.Pow(seen/max(before, 1), 1.0/trendBits)
	trend := seen / all * math.Pow(max(falls, 0.5), float64(leading-from))
	return min(1, max(math.Ldexp(1, -leading), trend, (pairs-math.Sqrt(pairs))/all)), most
}

const (
	lookupsMost = 1 << 17 // of flipped keys in one estimate: 5 ms
	lookupsEach = 256     // of a query: with more, comparing it with all keys takes less
	scannedMost = 1 << 8  // queries that are compared with all keys: 2 ms
)

// nearShare is the share of pairs that agree in the leading bits but for radius flips, of some of the
// keys and all others. The few pairs that uniform keys would show have little weight.
func nearShare(keys []uint64, leading, radius int) float64 {
	uniform := float64(permute.Ball(leading, radius)) * math.Ldexp(1, -leading)
	var pairs, queries float64
	if flips := permute.Ball(leading, radius); flips <= lookupsEach {
		pairs, queries = lookUp(keys, leading, radius, max(1, lookupsMost/flips))
	} else {
		pairs, queries = scanNear(keys, leading, radius)
	}
	const prior = 2 // pairs
	expected := queries * float64(len(keys)-1) * uniform
	return min(1, uniform*(pairs+prior)/(expected+prior))
}

// lookUp looks for flipped leading bits of some of the keys among all.
func lookUp(keys []uint64, leading, radius, most int) (pairs, queries float64) {
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
func scanNear(keys []uint64, leading, radius int) (pairs, queries float64) {
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
			rest = rest[done:]
		}
		pairs-- // itself
	}
	return pairs, float64(count)
}

// keySample returns some of the sample's keys under a mask, equally far apart in their order.
func (s *Sample) keySample(mask uint64) (k table.KeySample) {
	keys := s.under(mask)
	const most = 1 << 11
	step := max(1, len(keys)/most)
	for i := 0; i < len(keys); i += step {
		k.Keys = append(k.Keys, keys[i])
	}
	return k
}

// entry is the length of a key in huffman blocks when the table under mask has
// n keys, told from how it falls as the sample grows: uniform keys lose a bit
// with every doubling, clustered ones less or more.
func (s *Sample) entry(mask uint64, n float64) entry {
	keys := s.under(mask)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entryN != n {
		clear(s.entries)
		s.entryN = n
	}
	e, ok := s.entries[mask]
	if !ok {
		e = measureEntry(keys, 0)
		fewer := measureEntry(keys, 2)
		doublings := math.Log2(max(1, n/float64(len(keys))))
		e.mean = max(2, e.mean+doublings*(e.mean-fewer.mean)/2)
		s.entries[mask] = e
	}
	return e
}

// measureEntry is the entry of a random 2^-halvings part of the sorted keys.
func measureEntry(keys []uint64, halvings int) entry {
	part := keys
	if halvings > 0 {
		part = nil
		for _, k := range keys {
			if k*0x9e3779b97f4a7c15>>(64-halvings) == 0 {
				part = append(part, k)
			}
		}
	}
	var counts [huffman.Positions]uint64
	huffman.Count(&counts, part)
	return entryOf(&counts)
}
