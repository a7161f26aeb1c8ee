package permute

import (
	"iter"
	"math"
	"math/bits"
)

// A FlipSet is a set of patterns that a query is XORed with: Base, with at most Radius of Width
// neighbouring bits flipped in it. It says which patterns there are and does not list them, of which there
// may be 2^40: a [FlipWalk] visits them in constant memory. A negative Radius makes the set empty. The
// zero value holds the pattern 0 alone. A FlipSet is a value; all methods only read it.
type FlipSet struct {
	Base   uint64 // the pattern without further flips
	Shift  int    // the lowest bit that may flip; Shift + Width is at most 64
	Width  int    // how many bits may flip
	Radius int    // how many of them may flip at once
}

// Flips returns the patterns that visit every value of a query's leading bits within radius flips: all
// words with at most radius bits set, all of them among the top leading bits. leading is held to 0..64;
// with a negative radius there is no pattern.
func Flips(leading, radius int) FlipSet {
	leading = min(max(leading, 0), 64)
	return FlipSet{Shift: 64 - leading, Width: leading, Radius: radius}
}

// Len returns the number of patterns. It stops at math.MaxInt.
func (s FlipSet) Len() int {
	if s.Radius < 0 {
		return 0
	}
	return Ball(s.Width, s.Radius)
}

// Walk returns a walk over the patterns, before the first.
func (s FlipSet) Walk() FlipWalk { return FlipWalk{set: s} }

// All returns an iterator over the patterns, by ascending number of flips and by ascending value
// within one number: Base itself comes first.
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

// Groups returns an iterator over parts of the set: for each pattern of the upper of its Width bits, the
// patterns that agree with it there.
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

// A FlipWalk visits the patterns of a [FlipSet], in the order of [FlipSet.All], some hundreds at
// a time and without allocating: a pattern of more than two flips is one of its upper flips and one of
// two flips below them, and those are in a list of 16 KiB that all walks share. It belongs to one
// goroutine.
//
//	weight 4, width 8:   ..high..  low: the words of 2 bits below the lowest of high
//	                     00001100  11
//	                     00010100  011 101 110     the first 3 of the list
//	                     00011000  011 101 110
//	                     ...
type FlipWalk struct {
	set    FlipSet
	weight int    // flips of the patterns that come next
	high   uint64 // all but two of them, where there are more; 0 before the first
}

// Next returns the next patterns: base ^ low[i] << set.Shift for every i. low is nil at the
// end, and must not be written to. The patterns of no flip and of one come together.
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
	return w.many()
}

// many returns the patterns of more than two flips that have the same upper ones.
func (w *FlipWalk) many() (base uint64, low []uint64) {
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
	below := bits.TrailingZeros64(high)
	return s.Base ^ high<<s.Shift, twoFlips[:below*(below-1)/2]
}

// fewFlips are the words with at most one bit set, twoFlips those with two, both ascending: the words
// that have their bits among the lowest n come first.
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

// nextWord returns the next larger word with as many bits set: the lowest run of ones gives its top
// bit to the zero above it and drops the rest to the bottom (HAKMEM 175).
func nextWord(x uint64) uint64 {
	low := x & -x
	carried := x + low
	return carried | (x^carried)>>2>>bits.TrailingZeros64(low)
}

// Ball returns the number of words of the given number of bits within radius flips of one of them: the
// sum of C(bits, i) for i = 0..radius. It stops at math.MaxInt.
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
