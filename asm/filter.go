package asm

import (
	"fmt"
	"math/bits"
)

// Filter copies those words to dst whose bit is set in the bitmap, in their order, and returns how many. A word's
// bit has the number with which its low half begins: as many bits as number those of the bitmap, of which there must
// be a power of two from 128 to 2^32. dst must be as long as words, and may be words; the rest of dst may
// be overwritten. Lengths that do not fit are a programmer's error and panic.
//
// A word takes 1.5 cycles, and a line of the bitmap from wherever that is.
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

// filterCall is how many words one call into assembly takes: some 20 microseconds.
const filterCall = 8192
