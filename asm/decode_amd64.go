//go:build !purego

package asm

// What a decode kernel answers.
const (
	decodeCorrupt = 0
	decodeDone    = 1
	decodeOther   = 2 // a case left to the generic form
)

func decode(dst []uint64, block []byte, w *Window) bool {
	answer := decodeOther
	if useAVX512 {
		answer = decodeAVX512(&dst[0], len(dst), &block[0], len(block), w)
	} else if useAVX2 {
		answer = decodeAVX2(&dst[0], len(dst), &block[0], len(block), w)
	}
	if answer == decodeOther {
		return decodeGeneric(dst, block, w)
	}
	raceRead(block)
	raceWrite(dst)
	return answer == decodeDone
}

// decodeAVX512 is Decode, but answers decodeOther, having written anything to dst, when an h is
// above 57, whose raw bits may need nine bytes, or when codes come within 15 bytes of the end of
// the block. Neither happens in more than a few blocks of a table: sorted keys change one of their
// top six bits at most 63 times.
//
//go:noescape
func decodeAVX512(dst *uint64, n int, block *byte, blockBytes int, w *Window) int

// decodeAVX2 is decodeAVX512, four keys at a time.
//
//go:noescape
func decodeAVX2(dst *uint64, n int, block *byte, blockBytes int, w *Window) int
