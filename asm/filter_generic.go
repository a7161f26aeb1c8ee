package asm

import (
	"fmt"
	"slices"
)

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

// checkFilter compares the kernel in use with a known answer: a bitmap of 256 bits, of which a word's number is the leading byte of its low half.
func checkFilter() error {
	bitmap := []uint64{1 << 1, 2, 1 << 63, 1<<63 | 1<<62}
	words := []uint64{0xabd_00_0123_4567, 0xabc_01_8000_0000, 0xabe_34_ff00_0012, 0xabc_00_4000_0001, 0xabd_67_fe00_0000, 0xabe_12_8000_0034}
	want := []uint64{words[0], words[2], words[4]}
	if n := Filter(words, words, bitmap); !slices.Equal(words[:n], want) {
		return fmt.Errorf("kept %#x, want %#x", words[:n], want)
	}
	return nil
}
