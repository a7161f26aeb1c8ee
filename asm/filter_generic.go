package asm

// filterGeneric is the specification of filter: the bit of a word is the number that the
// upper bits of its low half are, less shift ones. A word is written whether it is kept or not, to where the next one
// goes then.
func filterGeneric(dst, words, bitmap []uint64, shift uint64) (n int) {
	for _, w := range words {
		bit := uint32(w) >> shift
		dst[n] = w
		n += int(bitmap[bit>>6] >> (bit & 63) & 1)
	}
	return n
}
