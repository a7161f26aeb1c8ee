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

	headBytes = 2         // of a half: how many keys it holds
	stepsMax  = 1<<16 - 2 // keys of a half: what asm.Decode makes behind a first one
)

// MaxKeys returns the most keys that a block of blockBytes can hold, whatever they are.
func MaxKeys(blockBytes int) int {
	return maxSteps(blockBytes/2) + 1 + maxSteps(blockBytes-blockBytes/2)
}

// maxSteps returns the most keys that half a block can hold: among m steps, at least m/2^j have h >= j,
// so the raw bits of m are m - popcount(m) or more, and the codes at least m more.
func maxSteps(halfBytes int) int { return min(4*halfBytes, stepsMax) }

// AppendBlock packs the keys behind the first of keys, as many as fit, into one block of blockBytes
// bytes behind dst, and returns the extended slice and how many it took: at least 1 unless keys has
// fewer than two, when it appends nothing. keys[0] and the last key taken are the fences that a
// decoder must be given; keys[n:] are what the next block is packed of. keys must be strictly
// ascending. It panics when they are not, or when blockBytes is outside BlockBytesMin..BlockBytesMax.
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
	// The last key taken is not the first half's.
	n := packUp(Up.half(block), code, keys[:len(keys)-1])
	ascending(keys[n], keys[n+1])
	return dst, n + 1 + packDown(Down.half(block), code, keys[n+1:])
}

// packUp writes the steps from keys[0] up that fit into a half, and returns how many.
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

// packDown writes, from the last down, the steps between the keys from keys[0] on that fit into a
// half, and returns how many.
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

// step returns how many bits a step between two keys takes, more than a half has if it has no code.
func (c *Code) step(a, b uint64) int { return int(c.costs[63-bits.LeadingZeros64(a^b)]) }

// writer fills half a block from both sides. Bits wait in a word on each side until they make whole
// bytes, which never belong to the other side then.
type writer struct {
	half []byte

	codes uint64 // waiting codes, the first lowest
	coded uint   // how many bits of codes wait: < 32 between calls
	up    int    // byte where codes belongs

	raws uint64 // waiting raw bits, the first highest
	held uint   // how many bits of raws wait: < 64 between calls
	down int    // byte just behind raws
}

func newWriter(half []byte) writer { return writer{half: half, up: headBytes, down: len(half)} }

// free returns how many bits an empty half has.
func (w *writer) free() int { return 8 * (len(w.half) - headBytes) }

// step writes the difference of two neighbours.
func (w *writer) step(code *Code, change uint64) {
	h := uint(63 - bits.LeadingZeros64(change))
	w.code(uint64(code.words[h]), uint(code.lengths[h]))
	w.raw(change&(1<<h-1), h)
}

// code appends a code of at most lengthMax bits to the codes.
func (w *writer) code(word uint64, length uint) {
	w.codes |= word << w.coded
	w.coded += length
	if w.coded >= 32 {
		binary.LittleEndian.PutUint32(w.half[w.up:], uint32(w.codes))
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
	binary.LittleEndian.PutUint64(w.half[w.down:], w.raws|v>>w.held)
	w.raws = v << (64 - w.held) // 0 if none are left: Go shifts by 64 to 0
}

// flush writes the number of steps, and the waiting bits, byte by byte, since the two sides may share one.
func (w *writer) flush(steps int) {
	binary.LittleEndian.PutUint16(w.half, uint16(steps))
	for ; w.codes != 0; w.codes >>= 8 {
		w.half[w.up] |= byte(w.codes)
		w.up++
	}
	for ; w.raws != 0; w.raws <<= 8 {
		w.down--
		w.half[w.down] |= byte(w.raws >> 56)
	}
}
