package asm

import (
	"fmt"
	"math/bits"
)

// Filter copies the words whose bit is set in the bitmap to dst, in their order, and returns their number. The
// leading bits of a word's low half are the number of its bit. The bitmap must have a power of two of bits, from 128
// to 2^32. dst must have the length of words, and may be words. The rest of dst may be overwritten. Filter panics if
// the lengths are inconsistent.
//
// A word takes 1.5 cycles, and the cost of reading its line of the bitmap.
func Filter(dst, words, bitmap []uint64) int {
	n := bits.Len(uint(len(bitmap))) + 5
	if len(bitmap) < 2 || len(bitmap)&(len(bitmap)-1) != 0 || n > 32 || len(dst) < len(words) {
		panic(fmt.Sprintf("asm: %d words to %d by a bitmap of %d words", len(words), len(dst), len(bitmap)))
	}
	raceRead(words)
	raceRead(bitmap)
	raceWrite(dst[:len(words)])
	kept := 0
	for done := 0; done < len(words); done += filterCall {
		part := words[done:min(done+filterCall, len(words))]
		kept += filter(dst[kept:], part, bitmap, uint64(32-n))
	}
	return kept
}

// filterCall is the maximum number of words per call of assembly: some 20 microseconds.
const filterCall = 8192
