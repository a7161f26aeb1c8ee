package asm

import "encoding/binary"

// decodeGeneric is the specification, a chunk of symbols at a time: stage 1 into symbols, stage 2 out of them.
func decodeGeneric(dst []uint64, block []byte, w *Window) bool {
	var (
		symbols [decodeChunk + decodeSlack]byte
		le      = binary.LittleEndian
		key     = le.Uint64(block[2:])
		codeBit = uint(headBits)       // the next code begins here
		rawBit  = uint(8 * len(block)) // the last raw bits end here
		ordered = uint64(1)            // 0 once a key did not ascend
	)
	dst[0] = key
	dst = dst[1:]
	for len(dst) > 0 {
		want := min(len(dst), decodeChunk)
		codeBit = decodeSymbols(&symbols, block, codeBit, want, w)
		for i, h := range symbols[:want] {
			// The raw bits [rawBit-h, rawBit) end in byte (rawBit-1)/8; the eight bytes that end there hold 57 bits of them at least.
			h := uint(h)
			if rawBit < headBits+h {
				return false
			}
			at := rawBit - 57
			high := ^at & 7 // bits of the last byte that lie above the raw ones
			v := le.Uint64(block[at/8:]) << high
			if h > 57 {
				v |= uint64(block[at/8-1] >> (8 - high))
			}
			key ^= (v>>1 | 1<<63) >> (63 - h&63)
			ordered &= key >> (h & 63) // the most significant change must be a 0 that became a 1
			rawBit -= h
			dst[i] = key
		}
		dst = dst[want:]
	}
	return ordered&1 != 0 && codeBit <= rawBit
}

// decodeSymbols fills symbols[:want] from the codes at codeBit and returns where their codes end. Beyond the block it reads zeros.
func decodeSymbols(symbols *[decodeChunk + decodeSlack]byte, block []byte, codeBit uint, want int, w *Window) uint {
	last := uint(len(block) - 8)
	n := 0
	for n < want {
		// 57 bits or more, enough for four look-ups.
		at := min(codeBit/8, last)
		codes := binary.LittleEndian.Uint64(block[at:]) >> (codeBit - 8*at)
		for range 4 {
			entry := w.entries[codes%(1<<WindowBits)]
			binary.LittleEndian.PutUint64(symbols[n:], entry>>8)
			codes >>= entry & 63
			codeBit += uint(entry & 63)
			n += int(entry >> 56)
		}
	}
	// Give back the symbols that were too many.
	for _, h := range symbols[want:n] {
		codeBit -= uint(w.lengths[h&63])
	}
	return codeBit
}
