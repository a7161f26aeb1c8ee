package asm

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// decodeGeneric is the specification. It decodes one code, and the key that its raw bits give, after the other. The
// race detector ignores it, like assembly, because Decode annotates all accesses.
//
//go:norace
func decodeGeneric(dst []uint64, half []byte, key uint64, w *Window) bool {
	var (
		le      = binary.LittleEndian
		last    = uint(len(half) - 8)
		codeBit = uint(headBits)      // offset of the next code
		rawBit  = uint(8 * len(half)) // end of the next raw bits
		ordered = uint64(1)           // 0 once a key did not ascend
	)
	dst[0] = key
	dst = dst[1:]
	for i := range dst {
		// Decode the next code. After the half, zeros are read.
		offset := min(codeBit/8, last)
		codes := le.Uint64(half[offset:]) >> (codeBit - 8*offset)
		h := uint(w.entries[codes%(1<<WindowBits)] >> 8 & 63)
		codeBit += uint(w.lengths[h])
		if rawBit < headBits+h {
			return false
		}
		// Read 64 bits whose top bits are the raw bits [rawBit-h, rawBit). The eight bytes that end in byte
		// (rawBit-1)/8 contain at least 57 of these bits.
		var v uint64
		if rawBit < 64 {
			v = le.Uint64(half) << (64 - rawBit)
		} else {
			first := rawBit - 57
			high := ^first & 7 // number of bits of the last byte above the raw bits
			v = le.Uint64(half[first/8:]) << high
			if h > 57 {
				v |= uint64(half[first/8-1] >> (8 - high))
			}
		}
		// Flip the leading bit of the change, and the raw bits.
		key ^= (v>>1 | 1<<63) >> (63 - h)
		ordered &= key >> h // the most significant change must be a 0 that became a 1
		rawBit -= h
		dst[i] = key
	}
	return ordered&1 != 0 && codeBit <= rawBit
}

// rulerBlock returns a block with the keys 1 to n-1 after key 0. n is at most 1<<17. Their h are the ruler sequence 0
// 1 0 2 0 1 0 3 ..., and all raw bits are ones.
func rulerBlock(n, blockBytes int) []byte {
	block := make([]byte, blockBytes)
	code, raw := headBits, 8*blockBytes
	for i := 1; i < n; i++ {
		h := bits.TrailingZeros(uint(i))
		word, length := rulerCode(h)
		for ; length > 0; length-- {
			block[code/8] |= byte(word&1) << (code % 8)
			word >>= 1
			code++
		}
		for range h {
			raw--
			block[raw/8] |= 1 << (raw % 8)
		}
	}
	return block
}

// rulerCode returns a code without a tree: h ones and a zero for h below 9. The next eight symbols have nine ones and
// the three bits of h-9.
func rulerCode(h int) (word uint16, length uint8) {
	if h < 9 {
		return 1<<h - 1, uint8(h + 1)
	}
	return 1<<9 - 1 | uint16(h-9)<<9, 12
}

// rulerWindow returns the window of rulerCode.
var rulerWindow = sync.OnceValue(func() *Window {
	var (
		w       Window
		words   [64]uint16
		lengths [64]uint8
	)
	for h := range 17 {
		words[h], lengths[h] = rulerCode(h)
	}
	w.Fill(&words, &lengths)
	return &w
})
