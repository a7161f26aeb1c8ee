package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/index/succinct"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/huffman"
)

// A Sample is a sample of the fingerprints that the index will contain, or of similar ones. It is safe for concurrent
// use.
type Sample struct {
	fingerprints []uint64 // distinct, in random order

	mu      sync.Mutex
	shares  map[shareOf]float64
	sorted  map[uint64][]uint64 // sorted copies by mask
	entryN  float64             // number of keys for which entries were computed
	entries map[uint64]entry    // cached entries by mask
	steps   uint64              // steps of all estimates, without sorting keys
}

// SampleSize is the recommended number of fingerprints in a sample: they form 5e8 pairs, and a plan takes a few
// tenths of a second.
const SampleSize = 1 << 15

// sortedMax is the maximum number of sorted copies of a sample, 512 KiB each.
const sortedMax = 16

// sampleMin is the minimum size of a sample for estimates of rare agreement.
const sampleMin = 1000

// NewSample returns a sample of the given fingerprints: all of them, or limit of them chosen at random by the seed.
// Equal ones count once. It fails if fewer than a thousand are distinct.
func NewSample(fingerprints []uint64, limit int, seed uint64) (*Sample, error) {
	rng := rand.New(rand.NewPCG(seed, 0x5a3b1e))
	s := &Sample{shares: make(map[shareOf]float64), sorted: make(map[uint64][]uint64), entries: make(map[uint64]entry)}
	if len(fingerprints) <= limit {
		s.fingerprints = slices.Clone(fingerprints)
	} else {
		// Choose one from each of limit equal ranges.
		s.fingerprints = make([]uint64, limit)
		for i := range s.fingerprints {
			start := uint64(i) * uint64(len(fingerprints)) / uint64(limit)
			end := uint64(i+1) * uint64(len(fingerprints)) / uint64(limit)
			s.fingerprints[i] = fingerprints[start+rng.Uint64N(end-start)]
		}
	}
	slices.Sort(s.fingerprints)
	s.fingerprints = slices.Compact(s.fingerprints)
	if len(s.fingerprints) < sampleMin {
		return nil, fmt.Errorf("a sample of %d distinct fingerprints: at least %d are needed", len(s.fingerprints), sampleMin)
	}
	rng.Shuffle(len(s.fingerprints), func(i, j int) { s.fingerprints[i], s.fingerprints[j] = s.fingerprints[j], s.fingerprints[i] })
	return s, nil
}

// permuted returns the sample, permuted by a mask and sorted.
func (s *Sample) permuted(mask uint64) []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := s.sorted[mask]
	if keys == nil {
		keys = make([]uint64, len(s.fingerprints))
		radix.Keys(keys, s.fingerprints, mask, 1)
		if len(s.sorted) >= sortedMax {
			clear(s.sorted)
		}
		s.sorted[mask] = keys
	}
	return keys
}

// share returns the probability that two different fingerprints differ in at most radius of the first leading bits
// under mask. It takes at most some milliseconds, for every radius. The result is cached.
func (s *Sample) share(mask uint64, leading, radius int) float64 {
	key := shareOf{mask, leading, radius}
	s.mu.Lock()
	share, ok := s.shares[key]
	s.mu.Unlock()
	if !ok {
		e := estimate{keys: s.permuted(mask)}
		if radius > 0 {
			share = e.nearShare(leading, radius)
		} else {
			share = e.exactShare(leading)
		}
		s.mu.Lock()
		s.steps += e.steps
		s.shares[key] = share
		s.mu.Unlock()
	}
	return share
}

// shareOf is the cache key of [Sample.share].
type shareOf struct {
	mask            uint64
	leading, radius int
}

// entry returns the length of a key in huffman blocks if the table under mask has n keys. It extrapolates the change
// from a smaller part of the sample: uniform keys lose a bit with every doubling, clustered ones less or more.
func (s *Sample) entry(mask uint64, n float64) entry {
	keys := s.permuted(mask)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entryN != n {
		clear(s.entries)
		s.entryN = n
	}
	e, ok := s.entries[mask]
	if !ok {
		e = measureEntry(keys, 0)
		second := measureEntry(keys, 2)
		doublings := math.Log2(max(1, n/float64(len(keys))))
		e.mean = max(2, e.mean+doublings*(e.mean-second.mean)/2)
		s.entries[mask] = e
	}
	return e
}

// measureEntry returns the entry of a random part of the sorted keys, 2^-halvings of them.
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

// wideSeen is the minimum number of sample keys in a line for a reliable estimate of the line's keys.
const wideSeen = 4

// wideBytes estimates the bytes of the wide lines of a planar table under a mask, with n keys like those of the
// sample. A line is wide if its keys and buckets do not fit in it; uniform keys have almost none. A line with
// at least wideSeen sample keys has their share of the n keys. For the other lines, the share of pairs in one line
// gives the number of keys that share a line.
func (s *Sample) wideBytes(mask uint64, n float64) uint64 {
	b, perLine := table.PlanarWidths(uint64(n))
	lineMax := float64(asm.PlanarLineBits - perLine) // maximum number of keys of a line that is not wide
	keys := s.permuted(mask)
	perKey := n / float64(len(keys)) // number of keys per sample key
	var lines, largest, otherShare float64
	line := func(i int) uint64 { return keys[i] >> (64 - b) / perLine }
	for start := 0; start < len(keys); {
		end := start + 1
		for end < len(keys) && line(end) == line(start) {
			end++
		}
		switch bytes := float64(end-start) * perKey; {
		case end-start < wideSeen:
			otherShare += bytes
		case bytes > lineMax:
			lines++
			largest = max(largest, bytes)
		}
		start = end
	}
	e := estimate{keys: keys}
	leading := int(b) - succinct.WidthFor(perLine) + 1
	if group := 1 + n*e.exactShare(max(leading, 1)); otherShare > 0 && group > lineMax {
		lines += otherShare / group
		largest = max(largest, group)
	}
	width := succinct.WidthFor(uint64(largest))
	return 8 * succinct.WordsFor(uint64(lines)*perLine, width)
}
