package asm

// filterGeneric is the specification of filter. The number of a word's bit is its low half without the lowest shift
// bits. Every word is written to the next position, which advances only if the word is kept.
func filterGeneric(dst, words, bitmap []uint64, shift uint64) (n int) {
	for _, w := range words {
		bit := uint32(w) >> shift
		dst[n] = w
		n += int(bitmap[bit>>6] >> (bit & 63) & 1)
	}
	return n
}
