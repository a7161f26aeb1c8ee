package table

import "math/bits"

// leadingMask has the first n bits set.
func leadingMask(n int) uint64 {
	if n <= 0 {
		return 0
	}
	return ^uint64(0) << (64 - n)
}

// bitsFor is how many leading bits tell n equal parts apart, rounded up.
func bitsFor(n int) int { return bits.Len(uint(max(n, 1) - 1)) }
