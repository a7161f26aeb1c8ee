// Package distribution measures the distribution of fingerprints. It determines the size of tables and the number of
// candidates of a probe.
//
// The fraction of a bit is the share of the fingerprints in which the bit is 1. An interval is one of 128 equal parts
// of the space of 2^64 fingerprints, by the leading 7 bits (figure 2b of the paper). Bit 63 is the leading bit.
// [LeadingOnes] computes figure 2a of the paper (section 4.2).
//
// An ideal hash of unlike texts gives fractions of 1/2 and n/128 fingerprints per interval. Short texts, templates and
// empty pages appear as bits far from 1/2 and as full intervals.
//
// Cost: about 3 ns per fingerprint. A [Counts] is used by one goroutine.
package distribution

import (
	"fmt"
	"math"
	"slices"

	"example.org/ndd/asm"
)

const (
	intervalBits = 7
	// Intervals is the number of intervals.
	Intervals = 1 << intervalBits
)

// Counts is the distribution of some fingerprints. The zero value is empty.
type Counts struct {
	Fingerprints uint64
	Ones         [64]uint64        // number of fingerprints with that bit set, from bit 0
	Leading      [Intervals]uint64 // number of fingerprints in that interval
}

// units is a list of weights of 1.
var units = slices.Repeat([]uint32{1}, 1<<10)

// Add counts fingerprints, in 3 ns each.
func (c *Counts) Add(fingerprints []uint64) {
	c.Fingerprints += uint64(len(fingerprints))
	for part := range slices.Chunk(fingerprints, len(units)) {
		asm.WeightedVotes(&c.Ones, part, units[:len(part)])
	}
	for _, f := range fingerprints {
		c.Leading[f>>(64-intervalBits)]++
	}
}

// Fraction returns the fraction of a bit, or 0.5 if nothing was counted.
func (c *Counts) Fraction(bit int) float64 {
	if c.Fingerprints == 0 {
		return 0.5
	}
	return float64(c.Ones[bit]) / float64(c.Fingerprints)
}

// Share returns the number of fingerprints in an interval, relative to an equal share.
func (c *Counts) Share(interval int) float64 {
	if c.Fingerprints == 0 {
		return 1
	}
	return float64(c.Leading[interval]) * Intervals / float64(c.Fingerprints)
}

// Bound returns the minimum number of bits per fingerprint that distinguish a set of n distinct 64-bit fingerprints,
// if all sets are equally likely: log2(2^64 choose n) / n, about 64 - log2 n + 1.44.
func Bound(n uint64) float64 {
	if n == 0 {
		return 0
	}
	// ln(N choose n) = n (ln N - ln n + 1) - ln(2 pi n) / 2 + O(n/N) by Stirling.
	f := float64(n)
	b := 64 - math.Log2(f) + math.Log2E - math.Log2(2*math.Pi*f)/(2*f)
	return max(b, 0)
}

// Words describes the distribution in sentences: bits, leading bits, and a verdict.
func (c *Counts) Words() []string {
	if c.Fingerprints == 0 {
		return []string{"no fingerprints"}
	}
	// Find the bits with the lowest and the highest fraction.
	low, high := 0, 0
	for b := range c.Ones {
		if c.Ones[b] < c.Ones[low] {
			low = b
		}
		if c.Ones[b] > c.Ones[high] {
			high = b
		}
	}
	// Find the fullest interval, and count the empty ones.
	fullWords, emptyWords := 0, 0
	for i, n := range c.Leading {
		if n > c.Leading[fullWords] {
			fullWords = i
		}
		if n == 0 {
			emptyWords++
		}
	}
	// Describe them.
	words := []string{
		fmt.Sprintf("bits: bit %d is set least often (%.1f %%), bit %d most often (%.1f %%); the ideal is 50 %%",
			low, 100*c.Fraction(low), high, 100*c.Fraction(high)),
		fmt.Sprintf("leading bits: the fullest of %d intervals (%#02x in the top %d bits) has %.2f times its share; "+
			"%d are empty",
			Intervals, fullWords, intervalBits, c.Share(fullWords), emptyWords),
	}
	return append(words, "distribution: "+c.verdict(c.Share(fullWords)))
}

// verdict compares the fullest interval and the farthest bit with a uniform set of that size, with a tolerance of
// five standard deviations.
func (c *Counts) verdict(maxShare float64) string {
	n := float64(c.Fingerprints)
	maximum := 0.0
	for b := range c.Ones {
		maximum = max(maximum, math.Abs(c.Fraction(b)-0.5))
	}
	switch chance := 5 * 0.5 / math.Sqrt(n); {
	case maximum <= chance && maxShare <= 1+5*math.Sqrt(Intervals/n):
		return "not distinguishable from uniform"
	case maximum < 0.1 && maxShare < 4:
		return "nearly uniform; tables have the size and speed that uniform fingerprints give"
	default:
		return "skewed; some probes find many candidates; look for empty or templated documents"
	}
}
