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

// scan appends the keys from low to high that are within distance K of the query. As a
// rule they are few, and the last of the ascending keys or not far before: those are looked at one by one. All
// keys are compared where many may be among them.
func scan(dst []Match, keys []uint64, low, high, fingerprint uint64, k, query int, c *Scratch) []Match {
	const few = 32
	if len(keys) <= few || keys[len(keys)-few] < low {
		for i := len(keys) - 1; i >= 0 && keys[i] >= low; i-- {
			if key := keys[i]; key <= high && bits.OnesCount64(key^fingerprint) <= k {
				dst = append(dst, Match{0, query, key})
			}
		}
		return dst
	}
	if cap(c.found) == 0 {
		c.found = make([]uint32, 256)
	}
	for len(keys) > 0 {
		n, done := asm.Within64(c.found, keys, fingerprint, k)
		for _, i := range c.found[:n] {
			if key := keys[i]; low <= key && key <= high {
				dst = append(dst, Match{0, query, key})
			}
		}
		keys = keys[done:]
	}
	return dst
}
