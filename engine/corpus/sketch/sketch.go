package sketch

import (
	"math"
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/engine/corpus/token"
)

// The form of sketches.
const (
	// Words are the words of a Sketch.
	Words = 8
	// Bytes are its bytes.
	Bytes = 8 * Words
	// Bins are the bins of the min-hash.
	Bins = 64 * Words
	// Version is that of the rules by which a text gets its sketch. Files of sketches name it.
	Version = 1

	binBits = 9 // of a hash, that tell its bin

	setMax = Words - 1 // shingles of a text whose sketch is their set

	// Near are the words in a row after a character that are taken as characters.
	Near = 8
)

// Width returns the units of a shingle: 3 words or 5 characters.
func Width(kind token.Kind) int {
	if kind == token.Char {
		return 5
	}
	return 3
}

// A Sketch is that of a text. The top bit of its last word is set in a min-hash; otherwise it is a set of at most setMax
// shingles, and the last word is their number.
type Sketch [Words]uint64

const minHash = 1 << 63

// isSet returns whether a sketch is a set.
func (s *Sketch) isSet() bool { return s[Words-1] < minHash }

// isEmpty returns whether a sketch is that of a text without shingles.
func (s *Sketch) isEmpty() bool { return s.isSet() && len(s.set()) == 0 }

// IsZero returns whether it is the zero sketch, which stands for an unknown text.
func (s *Sketch) IsZero() bool { return *s == Sketch{} }

// set returns the shingles of a set. Whatever the last word is, they are fewer than Words.
func (s *Sketch) set() []uint64 { return s[:s[Words-1]%Words] }

// ofSet returns the sketch of a set of shingles, which ascend.
func ofSet(set []uint64) (s Sketch) {
	s[Words-1] = uint64(copy(s[:], set))
	return s
}

// Estimate returns an estimate of the Jaccard similarity of the shingles of two texts, and its standard error. Of two sets
// it is exact.
func Estimate(a, b *Sketch) (jaccard, deviation float64) {
	switch {
	case a.isSet() && b.isSet():
		return exact(a.set(), b.set()), 0
	case a.isEmpty() || b.isEmpty():
		return 0, 0
	}
	one, other := a.minHash(), b.minHash()
	var differing [1]uint32
	asm.Differ(differing[:], one[:], other[:], []uint32{0})
	j := similarity(differing[0])
	return j, math.Sqrt((1 - j*j) / comparedBits)
}

// exact returns the similarity of two sets, which ascend; 1 if both are empty.
func exact(a, b []uint64) float64 {
	both := 0
	for _, x := range a {
		if slices.Contains(b, x) {
			both++
		}
	}
	if len(a)+len(b) == 0 {
		return 1
	}
	return min(float64(both)/float64(len(a)+len(b)-both), 1) // a forged set may have a shingle twice
}

// minHash returns the min-hash of a text that has shingles, given its sketch.
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
