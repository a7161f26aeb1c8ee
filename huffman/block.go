package huffman

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

const (
	// BlockBytesDefault is the paper's block size. Half of it takes another 0.3 bits per key in the block, and 0.3
	// for the second search key. Twice the size takes twice the time per probe.
	BlockBytesDefault = 1024
	BlockBytesMin     = 64
	BlockBytesMax     = 32768

	headBytes = 2         // head of a half: its number of keys
	stepsMax  = 1<<16 - 2 // maximum number of keys of a half: the limit of asm.Decode, without the first key
)

// MaxKeys returns the maximum number of keys in a block of blockBytes, for all keys.
func MaxKeys(blockBytes int) int {
	return maxSteps(blockBytes/2) + 1 + maxSteps(blockBytes-blockBytes/2)
}

// maxSteps returns the maximum number of keys in half a block. Among m steps at least m/2^j have h >= j. So the raw
// bits of m steps are at least m - popcount(m), and the codes take at least m more.
func maxSteps(halfBytes int) int { return min(4*halfBytes, stepsMax) }

// AppendBlock packs the keys after the first of keys, as many as fit, into one block of blockBytes. It appends the
// block to dst, and returns the extended slice and the number n of packed keys. n is at least 1, unless keys has
// fewer than two elements: then AppendBlock appends nothing. A decoder needs keys[0] and the last packed key as
// fences. keys[n:] begins the next block. AppendBlock panics if keys are not strictly ascending, or if blockBytes is
// outside BlockBytesMin..BlockBytesMax.
//
// A key whose position has no code ends its half.
func AppendBlock(dst []byte, code *Code, keys []uint64, blockBytes int) ([]byte, int) {
	if blockBytes < BlockBytesMin || blockBytes > BlockBytesMax {
		panic(fmt.Sprintf("huffman: block of %d bytes", blockBytes))
	}
	if len(keys) < 2 {
		return dst, 0
	}
	start := len(dst)
	dst = append(dst, make([]byte, blockBytes)...)
	block := dst[start:]
	// The last packed key does not belong to the first half.
	n := packUp(Up.half(block), code, keys[:len(keys)-1])
	ascending(keys[n], keys[n+1])
	return dst, n + 1 + packDown(Down.half(block), code, keys[n+1:])
}

// packUp writes the steps upwards from keys[0] that fit into a half, and returns their number.
func packUp(half []byte, code *Code, keys []uint64) (n int) {
	w := newWriter(half)
	for free := w.free(); n+1 < len(keys) && n < stepsMax; n++ {
		ascending(keys[n], keys[n+1])
		if free -= code.step(keys[n], keys[n+1]); free < 0 {
			break
		}
		w.step(code, keys[n]^keys[n+1])
	}
	w.flush(n)
	return n
}

// packDown writes the steps downwards to keys[0] from the last key that fits into a half. It returns their number.
func packDown(half []byte, code *Code, keys []uint64) (n int) {
	w := newWriter(half)
	for free := w.free(); n+1 < len(keys) && n < stepsMax; n++ {
		ascending(keys[n], keys[n+1])
		if free -= code.step(keys[n], keys[n+1]); free < 0 {
			break
		}
	}
	for i := n; i > 0; i-- {
		w.step(code, keys[i]^keys[i-1])
	}
	w.flush(n)
	return n
}

func ascending(a, b uint64) {
	if b <= a {
		panic(fmt.Sprintf("huffman: a key does not ascend: %#016x after %#016x", b, a))
	}
}

// step returns the number of bits of a step between two keys. Without a code, it is more than a half has.
func (c *Code) step(a, b uint64) int { return int(c.costs[63-bits.LeadingZeros64(a^b)]) }

// A writer fills half a block from both ends. Bits wait in a word at each end until they form complete bytes. Such
// bytes never contain bits of the other end.
type writer struct {
	half []byte

	codes       uint64 // waiting codes, the first one in the lowest bits
	codeBits    uint   // number of waiting bits in codes: < 32 between calls
	codesOffset int    // byte offset of codes

	raws       uint64 // waiting raw bits, the first ones highest
	rawBits    uint   // number of waiting bits in raws: < 64 between calls
	rawsOffset int    // byte offset of the end of raws
}

func newWriter(half []byte) writer {
	return writer{half: half, codesOffset: headBytes, rawsOffset: len(half)}
}

// free returns the number of free bits in an empty half.
func (w *writer) free() int { return 8 * (len(w.half) - headBytes) }

// step writes the difference of two neighbours.
func (w *writer) step(code *Code, change uint64) {
	h := uint(63 - bits.LeadingZeros64(change))
	w.code(uint64(code.words[h]), uint(code.lengths[h]))
	w.raw(change&(1<<h-1), h)
}

// code appends a code of at most lengthMax bits to the codes.
func (w *writer) code(word uint64, length uint) {
	w.codes |= word << w.codeBits
	w.codeBits += length
	if w.codeBits >= 32 {
		binary.LittleEndian.PutUint32(w.half[w.codesOffset:], uint32(w.codes))
		w.codes >>= 32
		w.codeBits -= 32
		w.codesOffset += 4
	}
}

// raw writes h <= 63 raw bits below the previous ones.
func (w *writer) raw(v uint64, h uint) {
	if w.rawBits+h < 64 {
		w.rawBits += h
		w.raws |= v << (64 - w.rawBits)
		return
	}
	w.rawBits = w.rawBits + h - 64 // bits of v that go into the next word
	w.rawsOffset -= 8
	binary.LittleEndian.PutUint64(w.half[w.rawsOffset:], w.raws|v>>w.rawBits)
	w.raws = v << (64 - w.rawBits) // 0 if none are left: Go shifts by 64 to 0
}

// flush writes the number of steps and the waiting bits. It works byte by byte, because both ends may share a byte.
func (w *writer) flush(steps int) {
	binary.LittleEndian.PutUint16(w.half, uint16(steps))
	for ; w.codes != 0; w.codes >>= 8 {
		w.half[w.codesOffset] |= byte(w.codes)
		w.codesOffset++
	}
	for ; w.raws != 0; w.raws <<= 8 {
		w.rawsOffset--
		w.half[w.rawsOffset] |= byte(w.raws >> 56)
	}
}
