package asm

import (
	"fmt"
	"math/bits"
	"slices"
)

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

// checkCountDigits compares the kernel in use with a known answer: the numbers below 100 by their bits 1, 4 and 6.
func checkCountDigits() error {
	keys, counts := make([]uint64, 100), make([]uint64, 8)
	for i := range keys {
		keys[i] = uint64(i)
	}
	CountDigits(counts, keys, 0b1010010)
	if want := []uint64{16, 16, 16, 16, 10, 10, 8, 8}; !slices.Equal(counts, want) {
		return fmt.Errorf("%d, want %d", counts, want)
	}
	return nil
}
