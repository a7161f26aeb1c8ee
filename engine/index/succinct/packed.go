// Package succinct holds arrays that take little more than their information:
// integers of a fixed width ([Packed]) and bits with select ([Ones]).
//
// All are views of []uint64 words, as sections of a file hold them, and are
// read-only and safe for many goroutines. A look-up is one or two cache
// misses: one line of a packed array; for a select, a sample and then, when ones are about as frequent
// as everywhere, one line of words after it.
package succinct

import (
	"math/bits"

	"ndd/asm"
)

// WidthFor returns the width that holds all values up to limit.
func WidthFor(limit uint64) int { return bits.Len64(limit) }

// WordsFor returns how many words n integers of a width take, 1<<60 where no slice can hold them.
func WordsFor(n uint64, width int) uint64 {
	hi, lo := bits.Mul64(n, uint64(width))
	if hi != 0 || lo > ^uint64(63) {
		return 1 << 60 // more than any slice has
	}
	return (lo + 63) / 64
}

// A Packed is an array of integers of Width bits (0..64), integer i in the bits
// [i*Width, (i+1)*Width) counted from the lowest bit of word 0. Words must
// have at least WordsFor(n, Width) elements.
type Packed struct {
	Words []uint64
	Width int
}

// NewPacked returns an array of n zeros.
func NewPacked(n uint64, width int) Packed {
	return Packed{make([]uint64, WordsFor(n, width)), width}
}

// At returns integer i. No branch depends on whether it lies in one word or in two: bits that are not in
// the second word are shifted out, or masked.
func (p Packed) At(i uint64) uint64 {
	if p.Width == 0 {
		return 0
	}
	at := i * uint64(p.Width)
	w, b := at/64, at%64
	last := w + (b+uint64(p.Width)-1)/64
	v := p.Words[w]>>b | p.Words[last]<<1<<(63-b)
	return v & (^uint64(0) >> (64 - uint(p.Width)))
}

// Set sets integer i, which must be zero so far, to v.
func (p Packed) Set(i, v uint64) {
	if p.Width == 0 {
		return
	}
	at := i * uint64(p.Width)
	w, b := at/64, at%64
	p.Words[w] |= v << b
	if b+uint64(p.Width) > 64 {
		p.Words[w+1] |= v >> (64 - b)
	}
}

// Prefetch requests the cache lines that At reads for each of positions, which it overwrites.
func (p Packed) Prefetch(positions []uint64) {
	for i, at := range positions {
		positions[i] = at * uint64(p.Width) / 64
	}
	asm.PrefetchAt(p.Words, positions)
}

// A PackedWriter makes the words of a [Packed], in order. It belongs to one goroutine.
type PackedWriter struct {
	Words []uint64 // that are complete: the caller may take them away at any time
	width uint
	held  uint64 // the low used bits: what does not fill a word yet
	used  uint
}

// NewPackedWriter returns a writer of integers of a width.
func NewPackedWriter(width int) *PackedWriter { return &PackedWriter{width: uint(width)} }

// AppendPacked appends integers, which must fit in the width.
func AppendPacked[T uint32 | uint64](w *PackedWriter, integers []T) {
	held, used, width, words := w.held, w.used, w.width, w.Words
	if width == 0 {
		return
	}
	for _, v := range integers {
		held |= uint64(v) << (used & 63)
		if used += width; used >= 64 {
			words = append(words, held)
			used -= 64
			held = uint64(v) >> (width - used) // 0 when nothing is left: Go shifts by 64 to 0
		}
	}
	w.held, w.used, w.Words = held, used, words
}

// Finish completes the words.
func (w *PackedWriter) Finish() {
	if w.used > 0 {
		w.Words = append(w.Words, w.held)
		w.held, w.used = 0, 0
	}
}
