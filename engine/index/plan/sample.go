package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/index/succinct"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/huffman"
	"example.org/ndd/permute"
)

// A Sample is a sample of the fingerprints that the index will contain, or of similar ones. It is used by one
// goroutine.
type Sample struct {
	fingerprints []uint64 // distinct, in random order
	steps        uint64   // steps of all estimates, without sorting keys. Each reads one key and takes a few nanoseconds
}

// SampleSize is the recommended number of fingerprints in a sample: they form 5e8 pairs, and a plan takes a few
// tenths of a second.
const SampleSize = 1 << 15

// sampleMin is the minimum size of a sample for estimates of rare agreement.
const sampleMin = 1000

// NewSample returns a sample of the given fingerprints: all of them, or limit of them chosen at random by the seed.
// Equal ones count once. It fails if fewer than a thousand are distinct.
func NewSample(fingerprints []uint64, limit int, seed uint64) (*Sample, error) {
	rng := rand.New(rand.NewPCG(seed, 0x5a3b1e))
	s := new(Sample)
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

// estimates returns the estimate for each table of a design of n fingerprints.
func (s *Sample) estimates(d *permute.Design, n float64) (list []*estimate) {
	for _, t := range d.Tables {
		list = append(list, s.estimate(t.Mask, n))
	}
	return list
}

// estimate permutes the sample by the mask of a table of n fingerprints, and sorts it.
//
// It extrapolates the length of a key in huffman blocks from the change since a smaller part of the sample: uniform
// keys lose a bit with every doubling, clustered ones less or more.
func (s *Sample) estimate(mask uint64, n float64) *estimate {
	e := &estimate{sample: s, keys: make([]uint64, len(s.fingerprints)), shares: make(map[[2]int]float64)}
	radix.Keys(e.keys, s.fingerprints, mask, 1)
	e.entry = measureEntry(e.keys, 0)
	doublings := math.Log2(max(1, n/float64(len(e.keys))))
	e.entry.mean = max(2, e.entry.mean+doublings*(e.entry.mean-measureEntry(e.keys, 2).mean)/2)
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

// wideBytes estimates the bytes of the wide lines of a planar table with n keys like those of the sample. A line is
// wide if its keys and buckets do not fit in it; uniform keys have almost none. A line with at least wideSeen sample
// keys has their share of the n keys. For the other lines, the share of pairs in one line gives the number of keys that
// share a line.
func (e *estimate) wideBytes(n float64) uint64 {
	b, perLine := table.PlanarWidths(uint64(n))
	lineMax := float64(asm.PlanarLineBits - perLine) // maximum number of keys of a line that is not wide
	keys := e.keys
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
	leading := int(b) - succinct.WidthFor(perLine) + 1
	if group := 1 + n*e.exactShare(max(leading, 1)); otherShare > 0 && group > lineMax {
		lines += otherShare / group
		largest = max(largest, group)
	}
	width := succinct.WidthFor(uint64(largest))
	return 8 * succinct.WordsFor(uint64(lines)*perLine, width)
}
