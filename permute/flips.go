package permute

import (
	"iter"
	"math"
	"math/bits"
)

// A FlipSet is a set of patterns to XOR a query with: Base with at most Radius of Width neighbouring bits flipped.
// The set may have 2^40 patterns. It does not list them: a [FlipWalk] visits them in constant memory. A negative
// Radius makes the set empty. The zero value contains only the pattern 0. A FlipSet is a value, and its methods do
// not change it.
type FlipSet struct {
	Base   uint64 // pattern without flips
	Shift  int    // lowest bit that may flip; Shift + Width is at most 64
	Width  int    // number of bits that may flip
	Radius int    // maximum number of flips
}

// Flips returns the patterns that visit every value of a query's leading bits within radius flips. They are all words
// with at most radius bits set, all among the top leading bits. leading is limited to 0..64. A negative radius gives
// an empty set.
func Flips(leading, radius int) FlipSet {
	leading = min(max(leading, 0), 64)
	return FlipSet{Shift: 64 - leading, Width: leading, Radius: radius}
}

// Len returns the number of patterns, at most math.MaxInt.
func (s FlipSet) Len() int {
	if s.Radius < 0 {
		return 0
	}
	return Ball(s.Width, s.Radius)
}

// Walk returns a walk that begins at the first pattern.
func (s FlipSet) Walk() FlipWalk { return FlipWalk{set: s} }

// All returns an iterator over the patterns, by ascending number of flips and then by ascending value. The first one
// is Base.
func (s FlipSet) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		w := s.Walk()
		for base, low := w.Next(); low != nil; base, low = w.Next() {
			for _, flip := range low {
				if !yield(base ^ flip<<s.Shift) {
					return
				}
			}
		}
	}
}

// Groups returns an iterator over parts of the set. Each part has the patterns that agree in the upper bits.
func (s FlipSet) Groups(upper int) iter.Seq[FlipSet] {
	upper = min(max(upper, 0), s.Width)
	lower := s.Width - upper
	tops := FlipSet{Base: s.Base, Shift: s.Shift + lower, Width: upper, Radius: s.Radius}
	return func(yield func(FlipSet) bool) {
		for top := range tops.All() {
			used := bits.OnesCount64(top ^ s.Base)
			if !yield(FlipSet{Base: top, Shift: s.Shift, Width: lower, Radius: s.Radius - used}) {
				return
			}
		}
	}
}

// A FlipWalk visits the patterns of a [FlipSet] in the order of [FlipSet.All], some hundreds at a time and without
// allocating. A pattern with more than two flips consists of its upper flips and of two flips below them. The words
// with two flips are in a list of 16 KiB that all walks share. A FlipWalk is used by one goroutine.
//
//	weight 4, width 8:   ..high..  low: the words of 2 bits below the lowest of high
//	                     00001100  11
//	                     00010100  011 101 110     the first 3 of the list
//	                     00011000  011 101 110
//	                     ...
type FlipWalk struct {
	set    FlipSet
	weight int    // number of flips of the next patterns
	high   uint64 // all flips except the lowest two, if there are more; 0 before the first pattern
}

// Next returns the next patterns: base ^ low[i] << set.Shift for every i. low is nil at the end, and is read-only.
// Patterns with no flip and with one flip come together.
func (w *FlipWalk) Next() (base uint64, low []uint64) {
	s := &w.set
	switch {
	case w.weight > min(s.Radius, s.Width):
		return 0, nil
	case w.weight == 0:
		w.weight = 2
		return s.Base, fewFlips[:1+min(s.Radius, 1)*s.Width]
	case w.weight == 2:
		w.weight = 3
		return s.Base, twoFlips[:s.Width*(s.Width-1)/2]
	}
	return w.manyPatterns()
}

// manyPatterns returns the patterns of more than two flips with the same upper flips.
func (w *FlipWalk) manyPatterns() (base uint64, low []uint64) {
	s := &w.set
	upper := w.weight - 2
	first := (uint64(1)<<upper - 1) << 2
	last := first >> 2 << (s.Width - upper)
	if w.high == 0 {
		w.high = first
	}
	high := w.high
	if w.high = nextWord(high); high == last {
		w.weight, w.high = w.weight+1, 0
	}
	shift := bits.TrailingZeros64(high)
	return s.Base ^ high<<s.Shift, twoFlips[:shift*(shift-1)/2]
}

// fewFlips are the words with at most one bit set, twoFlips those with two. Both ascend, so the words that only use
// the lowest n bits come first.
var fewFlips, twoFlips = func() (few, two []uint64) {
	few = []uint64{0}
	for high := range 64 {
		few = append(few, 1<<high)
		for low := range high {
			two = append(two, 1<<high|1<<low)
		}
	}
	return few, two
}()

// nextWord returns the next larger word with the same number of bits set. The lowest run of ones moves its top bit to
// the zero above it, and its other bits to the bottom (HAKMEM 175).
func nextWord(x uint64) uint64 {
	low := x & -x
	carried := x + low
	return carried | (x^carried)>>2>>bits.TrailingZeros64(low)
}

// Ball returns the number of words of that many bits within radius flips of a given word: the sum of C(bits, i) for i
// = 0..radius. The result is at most math.MaxInt.
func Ball(bits, radius int) int {
	sum := uint64(0)
	for i := 0; i <= min(radius, bits); i++ {
		sum += Binomial(bits, i)
		if sum > math.MaxInt {
			return math.MaxInt
		}
	}
	return int(sum)
}

// Binomial returns C(n, k) for n <= 64, and 0 for k outside 0..n.
func Binomial(n, k int) uint64 {
	if k < 0 || k > n {
		return 0
	}
	c := uint64(1)
	for i := 1; i <= min(k, n-k); i++ {
		// c*(n-i+1) may need more than 64 bits; the quotient never does.
		high, low := bits.Mul64(c, uint64(n-i+1))
		c, _ = bits.Div64(high, low, uint64(i))
	}
	return c
}
