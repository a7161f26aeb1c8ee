package asm

// Decode unpacks half a block of Huffman-coded neighbouring keys (package huffman describes the
// format and its errors):
//
//	bit 0   16                                                           8*len(half)
//	 |  n  | code h1 | code h2 | ... ->    0    <- ... | raw 2 | raw 1 |
//
//	key[i] = key[i-1] XOR (1<<h[i] | raw[i]),   raw[i] in the h[i] bits below raw[i-1]
//
// It writes len(dst) keys to dst, where dst[0] is key. It returns true if the block is valid: codes and raw bits do
// not overlap, and keys ascend. After false, the content of dst is undefined. For all input, nothing outside half is
// read, and nothing outside dst is written. The caller has compared the n of the half with len(dst).
//
// Keys that descend from K are keys that ascend from ^K, with all bits flipped.
//
// len(dst) must be 1..65535 and len(half) at least 32. Decode does not allocate, and is safe for concurrent use with
// disjoint dst.
//
// Stage 1 turns codes into the bytes h[1], h[2], ... It looks up twelve bits of code in w, about four symbols at a
// time. This is a chain of three instructions, 7 cycles per look-up and 2 per key. Stage 2 turns these into keys:
// prefix sums of h give the positions of the raw bits, a gather reads them, and a prefix XOR gives the keys. Measured
// with AVX-512: 4.6 cycles per key for 2^30 uniform keys. A block of 32 KiB of consecutive keys takes 76 us with
// AVX-512 and 105 with AVX2, in four calls of the kernel. All other blocks take less than 20.
func Decode(dst []uint64, half []byte, key uint64, w *Window) bool {
	if len(dst) == 0 || len(dst) > 1<<16-1 || len(half) < halfMin {
		panic("asm: Decode needs 1 to 65535 keys and half a block of at least 32 bytes")
	}
	raceRead(half)
	raceWrite(dst)
	return decode(dst, half, key, w)
}

const (
	halfMin     = 32 // bytes
	headBits    = 16 // the count
	decodeChunk = 256
	decodeSpare = 4 // symbols that the forecast of rounds adds to the wanted ones
)

// Results of a decode kernel.
const (
	decodeCorrupt = 0
	decodeDone    = 1
	decodeOther   = 2 // a case left to the generic form
)

// WindowBits is the number of bits of code per look-up, and the maximum length of a code.
const WindowBits = 12

// windowSymbols is the maximum number of symbols in one entry of a Window.
const windowSymbols = 6

// A Window is a prefix code in the form of a table that decodes several symbols at a time. An entry, for the next
// twelve bits of code, LSB first, lists the complete symbols at the beginning of these bits, at most six:
//
//	bits  0-7    8-15  16-23      48-55   56-63
//	      bits    h1    h2   ...   h6     count of symbols
//
// Here bits is the total length of the codes of these symbols. A Window takes a little more than 32 KiB. Fill builds
// it once per table, and then it is read-only.
type Window struct {
	entries [1 << WindowBits]uint64
	lengths [64]uint8
	pace    uint64 // average number of rounds of three look-ups per symbol over the entries, times 2^16

	// For each value of the next six bits of code: the symbol and the length of its code, or 0 and 0 for a longer
	// code (see Seek).
	quick        [1 << quickBits]uint8
	quickLengths [1 << quickBits]uint8
}

// Fill builds the window of a code. codes[h] has the lengths[h] bits of symbol h's code, LSB first. A length of 0
// means that h has no code. The code must be complete (its Kraft sum is 1), prefix-free and at most WindowBits long.
func (w *Window) Fill(codes *[64]uint16, lengths *[64]uint8) {
	w.lengths = *lengths
	// First one symbol per entry: the code is in the low bits, and the other bits have all values.
	for h, length := range lengths {
		if length == 0 {
			continue
		}
		for v := int(codes[h]); v < len(w.entries); v += 1 << length {
			w.entries[v] = 1<<56 | uint64(h)<<8 | uint64(length)
		}
	}
	// Then add the following symbols. After s used bits, the rest of the window v is entry v>>s, with zeros as its
	// unknown high bits. The first symbol of that entry is complete if it ends within the window. Entries are
	// processed from the top down, so that smaller entries still have one symbol.
	for v := len(w.entries) - 1; v >= 0; v-- {
		entry := w.entries[v]
		used, count := entry&0xff, uint64(1)
		for count < windowSymbols {
			next := w.entries[v>>used]
			if used += next & 0xff; used > WindowBits {
				break
			}
			entry += next&0xff | 1<<56 | next>>8&0xff<<(8+8*count)
			count++
		}
		w.entries[v] = entry
	}
	symbols := uint64(0)
	for _, entry := range w.entries {
		symbols += entry >> 56
	}
	w.pace = 1<<16*uint64(len(w.entries))/(3*symbols) + 1
	for v := range w.quick {
		h := uint8(w.entries[v] >> 8)
		if length := w.lengths[h]; h <= hMax && length <= quickBits {
			w.quick[v], w.quickLengths[v] = h, length
		}
	}
}
