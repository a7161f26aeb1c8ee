//go:build !purego && (amd64 || arm64)

package asm

// decodeCall is how many keys one call of a kernel makes: 19 us of the densest block with AVX-512, 26
// with AVX2. It is a multiple of what a kernel makes in a step: only the last call has a rest.
const decodeCall = 64 * decodeChunk

// cursor is how far a half is decoded: all that a call leaves to the next.
type cursor struct {
	codeBit int    // the next code begins here
	rawBit  int    // the last raw bits end here; negative if they ran out of the block
	key     uint64 // the last key
}

func decode(dst []uint64, half []byte, key uint64, w *Window) bool {
	if !decodeServed() {
		return decodeGeneric(dst, half, key, w)
	}
	at := cursor{headBits, 8 * len(half), key}
	dst[0] = key
	for rest := dst[1:]; len(rest) > 0; {
		n := min(len(rest), decodeCall)
		switch decodeKeys(rest[:n], half, w, &at) {
		case decodeCorrupt:
			return false
		case decodeOther:
			return decodeGeneric(dst, half, key, w)
		}
		rest = rest[n:]
	}
	return true
}
