package asm

import "math/bits"

// withinGeneric is the specification of within64 and within32: it writes base plus the index of every element within
// k bits of q. It stops before the first one that does not fit. The other backends may stop earlier, but only if dst
// may not have space for the hits of the next block of at most 64 elements.
func withinGeneric[T uint32 | uint64](dst []uint32, xs []T, base uint32, q T, k int) (n, scanned int) {
	for i, x := range xs {
		if bits.OnesCount64(uint64(x^q)) > k {
			continue
		}
		if n == len(dst) {
			return n, i
		}
		dst[n] = base + uint32(i)
		n++
	}
	return n, len(xs)
}
