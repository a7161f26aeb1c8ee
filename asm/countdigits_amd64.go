//go:build !purego

package asm

func countDigits(counts, keys []uint64, mask uint64) {
	if slowExtract || !useAVX512 && !useAVX2 {
		countDigitsGeneric(counts, keys, mask)
		return
	}
	countDigitsBMI2(&counts[0], &keys[0], len(keys), mask)
}

//go:noescape
func countDigitsBMI2(counts, keys *uint64, n int, mask uint64)
