package asm

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// decodeGeneric is the specification. It processes chunks of symbols: stage 1 writes symbols, and stage 2 reads them.
// The race detector ignores it, like assembly, because Decode annotates all accesses.
//
//go:norace
func decodeGeneric(dst []uint64, half []byte, key uint64, w *Window) bool {
	var (
		symbols [decodeChunk + decodeSlack]byte
		le      = binary.LittleEndian
		codeBit = uint(headBits)      // offset of the next code
		rawBit  = uint(8 * len(half)) // end of the next raw bits
		ordered = uint64(1)           // 0 once a key did not ascend
	)
	dst[0] = key
	dst = dst[1:]
	for len(dst) > 0 {
		// Decode the codes of the next chunk.
		want := min(len(dst), decodeChunk)
		codeBit = decodeSymbols(&symbols, half, codeBit, want, w)
		for i, h := range symbols[:want] {
			// The raw bits [rawBit-h, rawBit) end in byte (rawBit-1)/8. The eight bytes that end there contain at
			// least 57 of these bits.
			h := uint(h)
			if rawBit < headBits+h {
				return false
			}
			// Read 64 bits whose top bits are the raw bits.
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
			key ^= (v>>1 | 1<<63) >> (^h & 63) // 63-h
			ordered &= key >> (h & 63)         // the most significant change must be a 0 that became a 1
			rawBit -= h
			dst[i] = key
		}
		dst = dst[want:]
	}
	return ordered&1 != 0 && codeBit <= rawBit
}

// decodeSymbols fills symbols[:want] from the codes at codeBit and returns the end of their codes. After the half it
// reads zeros.
//
//go:norace
func decodeSymbols(symbols *[decodeChunk + decodeSlack]byte, half []byte, codeBit uint, want int, w *Window) uint {
	last := uint(len(half) - 8)
	n := 0
	for n < want {
		// At least 57 bits, enough for four look-ups.
		offset := min(codeBit/8, last)
		codes := binary.LittleEndian.Uint64(half[offset:]) >> (codeBit - 8*offset)
		out := (*[decodeSlack]byte)(symbols[n:])
		// Sum the entries of four look-ups. Their lengths and counts, in bytes 0 and 7, do not overflow. The symbols
		// in between sum to at most 4*63, so no byte carries.
		a := w.entries[codes%(1<<WindowBits)]
		codes >>= a & 63
		b := w.entries[codes%(1<<WindowBits)]
		codes >>= b & 63
		c := w.entries[codes%(1<<WindowBits)]
		codes >>= c & 63
		d := w.entries[codes%(1<<WindowBits)]
		binary.LittleEndian.PutUint64(out[:], a>>8)
		binary.LittleEndian.PutUint64(out[a>>56&7:], b>>8)
		a += b
		binary.LittleEndian.PutUint64(out[a>>56&15:], c>>8)
		a += c
		binary.LittleEndian.PutUint64(out[a>>56%24:], d>>8)
		a += d
		codeBit += uint(a & 0xff)
		n += int(a >> 56)
	}
	// Return the symbols that are not needed.
	for _, h := range symbols[want:n] {
		codeBit -= uint(w.lengths[h&63])
	}
	return codeBit
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
