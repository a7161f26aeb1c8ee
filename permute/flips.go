package permute

import (
	"math"
	"math/bits"
)

// Flips lists the patterns that a query is XORed with to visit every value of its leading bits
// within radius flips: all words with at most radius bits set, all of them among the top leading
// bits. Ascending by number of flips, so the query's own value (pattern 0) comes first and the
// likeliest hits next; within one weight ascending as numbers. leading is held to 0..64; a negative
// radius has no pattern. The list has Ball(leading, radius) words: look there before asking for it.
func Flips(leading, radius int) []uint64 {
	leading = min(max(leading, 0), 64)
	if radius < 0 {
		return nil
	}
	list := make([]uint64, 0, Ball(leading, radius))
	for weight := 0; weight <= min(radius, leading); weight++ {
		list = appendWeight(list, leading, weight)
	}
	return list
}

// appendWeight appends the words with exactly weight of the top width bits set, in ascending order.
// The next larger word of equal weight: the lowest run of ones gives its top bit to the zero above
// it and drops the rest to the bottom (HAKMEM 175).
func appendWeight(list []uint64, width, weight int) []uint64 {
	if weight == 0 {
		return append(list, 0)
	}
	first := ^uint64(0) >> (64 - uint(weight))
	last := first << (width - weight)
	for x := first; ; {
		list = append(list, x<<(64-uint(width)))
		if x == last {
			return list
		}
		low := x & -x
		carried := x + low
		x = carried | (x^carried)>>2>>bits.TrailingZeros64(low)
	}
}

// Ball is the number of words of the given number of bits within radius flips of one of them: the
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

// Binomial is C(n, k) for n <= 64, and 0 for k outside 0..n.
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
