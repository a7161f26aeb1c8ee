package asm

import "math/bits"

// countDigitsGeneric is the specification of countDigits.
func countDigitsGeneric(counts, keys []uint64, mask uint64) {
	digit := bits.OnesCount64(mask)
	var permuted [2048]uint64 // so many that the permutation is looked up
	for len(keys) > 0 {
		n := min(len(keys), len(permuted))
		permuteGeneric(permuted[:n], keys[:n], mask, forward)
		for _, k := range permuted[:n] {
			counts[k>>(64-digit)]++ // 0 where digit is
		}
		keys = keys[n:]
	}
}
