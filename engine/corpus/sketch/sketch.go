package sketch

import (
	"math"
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/engine/corpus/token"
)

// Sizes and limits of sketches.
const (
	// Words is the number of words of a Sketch.
	Words = 8
	// Bytes is the number of bytes of a Sketch.
	Bytes = 8 * Words
	// Bins is the number of bins of the min-hash.
	Bins = 64 * Words
	// Version is the version of the rules that turn a text into its sketch. Files of sketches name it.
	Version = 1

	binBits = 9 // number of bits of a hash that select its bin

	setMax = Words - 1 // maximum number of shingles of a text whose sketch is a set

	// Near is the number of words after a character that are replaced by their characters.
	Near = 8
)

// DefaultThreshold is the minimum estimate for near-duplicates. It is more than a standard error above 0.7, so that at
// least 99 % of the removals of dedup are right in every genre; see bench/record/2026-11-28-defaults.md.
const DefaultThreshold = 0.74

// Width returns the number of units of a shingle: 3 words or 5 characters.
func Width(kind token.Kind) int {
	if kind == token.Char {
		return 5
	}
	return 3
}

// A Sketch is the sketch of a text. If the top bit of its last word is set, it is a min-hash. Otherwise it is a set
// of at most setMax shingles, and the last word is their number.
type Sketch [Words]uint64

const minHash = 1 << 63

// isSet reports whether a sketch is a set.
func (s *Sketch) isSet() bool { return s[Words-1] < minHash }

// isEmpty reports whether a sketch belongs to a text without shingles.
func (s *Sketch) isEmpty() bool { return s.isSet() && len(s.set()) == 0 }

// IsZero reports whether s is the zero sketch, which means an unknown text.
func (s *Sketch) IsZero() bool { return *s == Sketch{} }

// set returns the shingles of a set. It returns fewer than Words shingles for any value of the last word.
func (s *Sketch) set() []uint64 { return s[:s[Words-1]%Words] }

// ofSet returns the sketch of a set of shingles in ascending order.
func ofSet(set []uint64) (s Sketch) {
	s[Words-1] = uint64(copy(s[:], set))
	return s
}

// Estimate returns an estimate of the Jaccard similarity of the shingles of two texts, and its standard error. The
// estimate is exact for two sets.
func Estimate(a, b *Sketch) (jaccard, deviation float64) {
	switch {
	case a.isSet() && b.isSet():
		return exact(a.set(), b.set()), 0
	case a.isEmpty() || b.isEmpty():
		return 0, 0
	}
	x, y := a.minHash(), b.minHash()
	var differing [1]uint32
	asm.Differ(differing[:], x[:], y[:], []uint32{0})
	j := similarity(differing[0])
	return j, math.Sqrt((1 - j*j) / comparedBits)
}

// exact returns the similarity of two sets in ascending order, or 1 if both are empty.
func exact(a, b []uint64) float64 {
	shared := 0
	for _, x := range a {
		if slices.Contains(b, x) {
			shared++
		}
	}
	if len(a)+len(b) == 0 {
		return 1
	}
	return min(float64(shared)/float64(len(a)+len(b)-shared), 1) // a forged set may have a shingle twice
}

// minHash returns the min-hash for the sketch of a text that has shingles.
func (s *Sketch) minHash() Sketch {
	if !s.isSet() {
		return *s
	}
	var b bins
	for _, shingle := range s.set() {
		b.add(shingle)
	}
	return b.minHash()
}
