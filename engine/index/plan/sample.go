package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"ndd/asm"
	"ndd/engine/index/radix"
	"ndd/engine/index/succinct"
	"ndd/engine/index/table"
	"ndd/huffman"
)

// A Sample is some of the fingerprints that the index will hold, or is like
// them. It is safe for many goroutines.
type Sample struct {
	prints []uint64 // distinct, in random order

	mu      sync.Mutex
	shares  map[shareOf]float64
	sorted  map[uint64][]uint64 // under a mask
	entryN  float64             // what entries are for
	entries map[uint64]entry    // under a mask
	steps   uint64              // of all estimates, the sorting of keys aside
}

// SampleSize is how many fingerprints of a collection a plan should be shown: they make 5e8 pairs, and a
// plan with them takes a few tenths of a second.
const SampleSize = 1 << 15

// sortedMost is how many orders of a sample are kept: 512 KiB each.
const sortedMost = 16

// sampleMin is what a sample must have to say anything about rare agreement.
const sampleMin = 1000

// NewSample returns a sample of the fingerprints given: all of them, or most of them
// chosen at random, by the seed; equal ones count once. It is an error if fewer than a
// thousand are distinct.
func NewSample(prints []uint64, most int, seed uint64) (*Sample, error) {
	rng := rand.New(rand.NewPCG(seed, 0x5a3b1e))
	s := &Sample{shares: make(map[shareOf]float64), sorted: make(map[uint64][]uint64), entries: make(map[uint64]entry)}
	if len(prints) <= most {
		s.prints = slices.Clone(prints)
	} else {
		// One of each of most equal ranges.
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

// under returns the sample under a mask's permutation, sorted.
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
// flips, in the first leading bits under mask. It takes some milliseconds at most, whatever the
// radius, and is remembered.
func (s *Sample) share(mask uint64, leading, radius int) float64 {
	at := shareOf{mask, leading, radius}
	s.mu.Lock()
	share, ok := s.shares[at]
	s.mu.Unlock()
	if !ok {
		e := estimate{keys: s.under(mask)}
		if radius > 0 {
			share = e.nearShare(leading, radius)
		} else {
			share = e.exactShare(leading)
		}
		s.mu.Lock()
		s.steps += e.steps
		s.shares[at] = share
		s.mu.Unlock()
	}
	return share
}

// shareOf names what [Sample.share] remembers.
type shareOf struct {
	mask            uint64
	leading, radius int
}

// entry returns the length of a key in huffman blocks when the table under mask has
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

// measureEntry returns the entry of a random 2^-halvings part of the sorted keys.
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

// wideSeen is how many keys of a sample on one line show that the line has its share of all keys.
const wideSeen = 4

// wideBytes returns what the wide lines of a planar table under a mask take, of n keys like those
// of the sample: lines with more keys than fit beside their buckets. Uniform keys have next to
// none. Lines of which the sample has wideSeen keys or more have their share of the n; how many
// keys share a line with one of the others is told from the share of pairs that do, as far as the
// sample shows it.
func (s *Sample) wideBytes(mask uint64, n float64) uint64 {
	b, perLine := table.PlanarWidths(uint64(n))
	most := float64(asm.PlanarLineBits - perLine) // keys of a line that is not wide
	keys := s.under(mask)
	each := n / float64(len(keys)) // keys that one of the sample stands for
	var lines, widest, others float64
	line := func(i int) uint64 { return keys[i] >> (64 - b) / perLine }
	for from := 0; from < len(keys); {
		to := from + 1
		for to < len(keys) && line(to) == line(from) {
			to++
		}
		switch held := float64(to-from) * each; {
		case to-from < wideSeen:
			others += held
		case held > most:
			lines++
			widest = max(widest, held)
		}
		from = to
	}
	e := estimate{keys: keys}
	leading := int(b) - succinct.WidthFor(perLine) + 1
	if together := 1 + n*e.exactShare(max(leading, 1)); others > 0 && together > most {
		lines += others / together
		widest = max(widest, together)
	}
	width := succinct.WidthFor(uint64(widest))
	return 8 * succinct.WordsFor(uint64(lines)*perLine, width)
}
