package table

import (
	"math/bits"

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

// scan appends the keys from low to high that are within distance K of the query.
// All keys of a block are compared: that takes less than finding the range.
func scan(dst []Match, keys []uint64, low, high uint64, s *Search, query int, c *Scratch) []Match {
	if cap(c.found) == 0 {
		c.found = make([]uint32, 256)
	}
	for len(keys) > 0 {
		n, done := asm.Within64(c.found, keys, s.Queries[query], s.K)
		for _, i := range c.found[:n] {
			if key := keys[i]; low <= key && key <= high {
				dst = append(dst, Match{0, query, key})
			}
		}
		keys = keys[done:]
	}
	return dst
}
