package table

import (
	"math/bits"
	"slices"

	"ndd/asm"
)

// leadingMask has the first n bits set.
func leadingMask(n int) uint64 {
	if n <= 0 {
		return 0
	}
	return ^uint64(0) << (64 - n)
}

// bitsFor is how many leading bits tell n equal parts apart, rounded up.
func bitsFor(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// inRange is the part of ascending keys from low to high.
func inRange(keys []uint64, low, high uint64) []uint64 {
	from, _ := slices.BinarySearch(keys, low)
	to, found := slices.BinarySearch(keys[from:], high)
	if to += from; found {
		to++
	}
	return keys[from:to]
}

// scan appends the keys within distance K of the query.
func scan(dst []Match, keys []uint64, s *Search, query int, c *Scratch) []Match {
	if cap(c.found) == 0 {
		c.found = make([]uint32, 256)
	}
	for len(keys) > 0 {
		n, done := asm.Within64(c.found, keys, s.Queries[query], s.K)
		for _, i := range c.found[:n] {
			dst = append(dst, Match{0, query, keys[i]})
		}
		keys = keys[done:]
	}
	return dst
}
