//go:build !purego && (amd64 || arm64)

package asm

// decodeCall is the maximum number of keys per kernel call: 19 us of the densest block with AVX-512, 26 with AVX2. It
// is a multiple of the step of a kernel, so that only the last call has a remainder.
const decodeCall = 64 * decodeChunk

// A cursor is the position of a decoder in a half, between two calls.
type cursor struct {
	codeBit int    // offset of the next code
	rawBit  int    // end of the next raw bits; negative if they would begin before the block
	key     uint64 // last decoded key
}

func decode(dst []uint64, half []byte, key uint64, w *Window) bool {
	if !decodeServed() {
		return decodeGeneric(dst, half, key, w)
	}
	c := cursor{headBits, 8 * len(half), key}
	dst[0] = key
	for keys := dst[1:]; len(keys) > 0; {
		n := min(len(keys), decodeCall)
		switch decodeKeys(keys[:n], half, w, &c) {
		case decodeCorrupt:
			return false
		case decodeOther:
			return decodeGeneric(dst, half, key, w)
		}
		keys = keys[n:]
	}
	return true
}
