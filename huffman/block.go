package huffman

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

const (
	// BlockBytesDefault is the paper's block. Half of it costs another 0.3 bits a key in the block
	// and 0.3 for the second search key, twice of it twice the time of a probe.
	BlockBytesDefault = 1024
	BlockBytesMin     = 64
	BlockBytesMax     = 32768

	headBytes = 10 // n and the first key
	keysMax   = 1<<16 - 1
)

// MaxKeys is the most keys that a block of blockBytes can hold, whatever they are: among m
// neighbours, at least m/2^j have h >= j, so the raw bits of m are m - popcount(m) or more, and the
// codes at least m more.
func MaxKeys(blockBytes int) int {
	return min(4*blockBytes-31, keysMax)
}

// AppendBlock packs the first keys of keys, as many as fit, into one block of blockBytes bytes
// behind dst, and returns the extended slice and how many it took: at least 1 unless keys is empty,
// when it appends nothing. keys must be strictly ascending. It panics when they are not, or when
// blockBytes is outside BlockBytesMin..BlockBytesMax.
//
// A key whose position has no code ends the block.
func AppendBlock(dst []byte, code *Code, keys []uint64, blockBytes int) ([]byte, int) {
	if blockBytes < BlockBytesMin || blockBytes > BlockBytesMax {
		panic(fmt.Sprintf("huffman: block of %d bytes", blockBytes))
	}
	if len(keys) == 0 {
		return dst, 0
	}
	start := len(dst)
	dst = append(dst, make([]byte, blockBytes)...)
	w := writer{block: dst[start:], up: headBytes, down: blockBytes}
	free := 8 * (blockBytes - headBytes)
	n := 1
	for ; n < min(len(keys), keysMax); n++ {
		change := keys[n] ^ keys[n-1]
		if keys[n] <= keys[n-1] {
			panic(fmt.Sprintf("huffman: key %d does not ascend: %#016x after %#016x", n, keys[n], keys[n-1]))
		}
		h := uint(63 - bits.LeadingZeros64(change))
		length := uint(code.lengths[h])
		if free -= int(length + h); length == 0 || free < 0 {
			break
		}
		w.code(uint64(code.words[h]), length)
		w.raw(change&(1<<h-1), h)
	}
	w.flush()
	binary.LittleEndian.PutUint16(w.block, uint16(n))
	binary.LittleEndian.PutUint64(w.block[2:], keys[0])
	return dst, n
}

// writer fills a block from both sides. Bits wait in a word on each side until they make whole
// bytes, which never belong to the other side then.
type writer struct {
	block []byte

	codes uint64 // waiting codes, the first lowest
	coded uint   // how many bits of codes wait: < 32 between calls
	up    int    // byte where codes belongs

	raws uint64 // waiting raw bits, the first highest
	held uint   // how many bits of raws wait: < 64 between calls
	down int    // byte just behind raws
}

// code appends a code of at most LengthMax bits to the codes.
func (w *writer) code(word uint64, length uint) {
	w.codes |= word << w.coded
	w.coded += length
	if w.coded >= 32 {
		binary.LittleEndian.PutUint32(w.block[w.up:], uint32(w.codes))
		w.codes >>= 32
		w.coded -= 32
		w.up += 4
	}
}

// raw puts h <= 63 raw bits below the ones before.
func (w *writer) raw(v uint64, h uint) {
	if w.held+h < 64 {
		w.held += h
		w.raws |= v << (64 - w.held)
		return
	}
	w.held = w.held + h - 64 // bits of v that go into the next word
	w.down -= 8
	binary.LittleEndian.PutUint64(w.block[w.down:], w.raws|v>>w.held)
	w.raws = v << (64 - w.held) // 0 if none are left: Go shifts by 64 to 0
}

// flush writes the waiting bits, byte by byte, since the two sides may share one.
func (w *writer) flush() {
	for ; w.codes != 0; w.codes >>= 8 {
		w.block[w.up] |= byte(w.codes)
		w.up++
	}
	for ; w.raws != 0; w.raws <<= 8 {
		w.down--
		w.block[w.down] |= byte(w.raws >> 56)
	}
}
