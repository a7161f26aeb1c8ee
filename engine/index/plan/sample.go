package plan

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"ndd/engine/index/radix"
	"ndd/huffman"
	"ndd/permute"
)

// A Sample is some of the fingerprints that the index will hold, or is like
// them. It is safe for many goroutines.
type Sample struct {
	prints []uint64 // distinct, in random order

	mu      sync.Mutex
	sorted  map[uint64][]uint64 // under a mask
	entryN  float64             // what entries are for
	entries map[uint64]entry    // under a mask
}

// SampleMax is how many fingerprints are worth keeping in a sample: they make
// 3e10 pairs, and a plan with them takes a second or two.
const SampleMax = 1 << 18

// sampleMin is what a sample must have to say anything about rare agreement.
const sampleMin = 1000

// NewSample is a sample of the fingerprints given: all of them, or most of them
// chosen at random; equal ones count once. It is an error if fewer than a
// thousand are distinct.
func NewSample(prints []uint64, most int, seed uint64) (*Sample, error) {
	rng := rand.New(rand.NewPCG(seed, 0x5a3b1e))
	s := &Sample{sorted: make(map[uint64][]uint64), entries: make(map[uint64]entry)}
	if len(prints) <= most {
		s.prints = slices.Clone(prints)
	} else {
		// One of each of so many equal stretches.
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
		if len(s.sorted) >= 128 {
			clear(s.sorted) // 2 MiB each
		}
		s.sorted[mask] = keys
	}
	return keys
}

// share is the chance that two different fingerprints agree, but for radius
// flips, in the first leading bits under mask, and the part of all that are in
// the longest run of those that agree in all of them.
//
// Radius 0 counts every pair of the sample. Else some thousand of its
// fingerprints probe the rest. Where uniform fingerprints would show only a few
// pairs, these few are given the weight that they have: what is reported is
// the uniform share times (pairs seen + 16) / (pairs expected + 16).
func (s *Sample) share(mask uint64, leading, radius int) (share, longest float64) {
	keys := s.under(mask)
	n := float64(len(keys))
	shift := 64 - leading
	pairs, run, most := 0.0, 0, 0
	for i := range keys {
		if i > 0 && keys[i]>>shift == keys[i-1]>>shift {
			run++
		} else {
			run = 0
		}
		pairs += float64(run)
		most = max(most, run+1)
	}
	expected := n * (n - 1) / 2 * math.Ldexp(1, -leading)
	if radius > 0 {
		var probes float64
		pairs, probes = s.probe(keys, leading, radius)
		expected = probes * (n - 1) * math.Ldexp(1, -leading)
	}
	uniform := float64(permute.Ball(leading, radius)) * math.Ldexp(1, -leading)
	const prior = 16
	share = min(1, uniform*(pairs+prior)/(expected+prior))
	// A run of a few is what chance makes.
	if float64(most) > 8+4*n*math.Ldexp(1, -leading) {
		longest = float64(most) / n
	}
	return share, longest
}

// probeLookups bounds the work of one estimate: a second at most, mostly far less.
const probeLookups = 1 << 20

// probe looks for flipped leading bits of some of the keys among all.
func (s *Sample) probe(keys []uint64, leading, radius int) (pairs, probes float64) {
	flips := flipsOf(leading, radius)
	queries := max(1, min(len(keys), probeLookups/len(flips)))
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
	for q := range queries {
		prefix := keys[q*len(keys)/queries] >> shift
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
	return pairs, float64(queries) * float64(len(flips))
}

// flipsOf are the patterns within radius flips, a random part of them where
// there are very many: the pattern without flips is always among them.
func flipsOf(leading, radius int) []uint64 {
	const most = 1 << 14
	for ; radius > 1 && permute.Ball(leading, radius) > most; radius-- {
	}
	return slices.Collect(permute.Flips(leading, radius).All())
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
