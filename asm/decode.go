package asm

// Decode unpacks half a block of Huffman-coded neighbouring keys (package huffman describes the
// format and its errors):
//
//	bit 0   16                                                           8*len(half)
//	 |  n  | code h1 | code h2 | ... ->    0    <- ... | raw 2 | raw 1 |
//
//	key[i] = key[i-1] XOR (1<<h[i] | raw[i]),   raw[i] in the h[i] bits below raw[i-1]
//
// It fills dst with len(dst) keys, of which dst[0] is key, and returns whether all of it held: the
// codes and raw bits do not meet, and the keys ascend. After false, dst holds anything. Whatever
// the bytes, nothing outside half is read and nothing outside dst is written. The caller has
// compared the n of the half with len(dst).
//
// Keys that descend from a key K are keys that ascend from ^K, all of whose bits are flipped.
//
// len(dst) must be 1..65535 and len(half) at least 32. Nothing is allocated; safe for concurrent
// use on disjoint dst.
//
// Stage 1 turns codes into the bytes h[1], h[2], ... by looking twelve bits of code up in w, about
// four symbols at a time: a chain of three instructions, 7 cycles a look-up, 2 a key. Stage 2 turns
// those into keys: prefix sums of h give the places of the raw bits, a gather fetches them, a prefix
// XOR makes them keys. Measured with AVX-512: 4.6 cycles a key of 2^30 uniform ones. A block of
// 32 KiB of consecutive keys takes 76 us with AVX-512 and 105 with AVX2, in four calls of the
// kernel; any other takes less than 20.
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
	// bytes that look-ups may write past a chunk: 16 + 3*6 symbols, or 4*6, and the rest of the
	// last store
	decodeSlack = 64
	decodeSpare = 4 // symbols to spare in a forecast of look-ups
)

// What a decode kernel answers.
const (
	decodeCorrupt = 0
	decodeDone    = 1
	decodeOther   = 2 // a case left to the generic form
)

// WindowBits is how many bits of code one look-up sees, and so the longest code allowed.
const WindowBits = 12

// windowSymbols is how many symbols fit in one entry of a Window.
const windowSymbols = 6

// Window is a prefix code made ready for decoding several symbols at a time. For the next twelve
// bits of code, LSB first, an entry lists the whole symbols that these begin with, at most six:
//
//	bits  0-7    8-15  16-23      48-55   56-63
//	      bits    h1    h2   ...   h6     count of symbols
//
// where bits is the length of those symbols' codes together. It is 32 KiB and a little, made once
// per table, read-only afterwards. Fill makes it.
type Window struct {
	entries [1 << WindowBits]uint64
	lengths [64]uint8
	pace    uint64 // rounds of three look-ups a symbol takes, on average over the entries, times 2^16

	// By the next six bits of code: the symbol and the length of its code, or 0 and 0 if that is
	// longer (see Seek).
	quick        [1 << quickBits]uint8
	quickLengths [1 << quickBits]uint8
}

// Fill makes w the window of a code: codes[h] holds the lengths[h] bits of symbol h's code, LSB
// first, and a length of 0 says that h has none. The code must be complete (its Kraft sum is 1),
// prefix-free and at most WindowBits long.
func (w *Window) Fill(codes *[64]uint16, lengths *[64]uint8) {
	w.lengths = *lengths
	// One symbol an entry first: the code in the low bits, anything above.
	for h, length := range lengths {
		if length == 0 {
			continue
		}
		for v := int(codes[h]); v < len(w.entries); v += 1 << length {
			w.entries[v] = 1<<56 | uint64(h)<<8 | uint64(length)
		}
	}
	// Then the symbols that follow: with s bits used, the rest of the window v is entry v>>s, whose
	// unknown high bits read as zeros. That entry's first symbol is whole if it ends inside the
	// window. From the top down, so that the smaller entries still hold one symbol.
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
	w.fillQuick()
}

// fillQuick makes the table of short codes out of the entries.
func (w *Window) fillQuick() {
	for v := range w.quick {
		h := uint8(w.entries[v] >> 8)
		if length := w.lengths[h]; h <= hMax && length <= quickBits {
			w.quick[v], w.quickLengths[v] = h, length
		}
	}
}
