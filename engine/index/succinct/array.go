// Package succinct has arrays that take little more space than their information: integers of a fixed width
// ([Array]) and bit vectors with select ([Ones]).
//
// All are read-only views of []uint64 words, such as sections of a file, and safe for concurrent use. A look-up takes
// one or two cache misses: one line of a packed array, or a sample and usually one line of words for a select.
package succinct

import (
	"math/bits"

	"example.org/ndd/asm"
)

// WidthFor returns the number of bits for values up to limit.
func WidthFor(limit uint64) int { return bits.Len64(limit) }

// WordsFor returns the number of words of n integers with that width, or 1<<60 if no slice can hold them.
func WordsFor(n uint64, width int) uint64 {
	hi, lo := bits.Mul64(n, uint64(width))
	if hi != 0 || lo > ^uint64(63) {
		return 1 << 60 // more than any slice has
	}
	return (lo + 63) / 64
}

// An Array is an array of integers of Width bits (0..64). Integer i has the bits [i*Width, (i+1)*Width), counted from
// the lowest bit of word 0. Words must have at least WordsFor(n, Width) elements.
type Array struct {
	Words []uint64
	Width int
}

// NewArray returns an array of n zeros.
func NewArray(n uint64, width int) Array {
	return Array{make([]uint64, WordsFor(n, width)), width}
}

// At returns integer i. It has no branch for integers that cross two words: bits that are not in the second word are
// shifted out or masked.
func (p Array) At(i uint64) uint64 {
	if p.Width == 0 {
		return 0
	}
	bit := i * uint64(p.Width)
	w, b := bit/64, bit%64
	last := w + (b+uint64(p.Width)-1)/64
	v := p.Words[w]>>b | p.Words[last]<<1<<(63-b)
	return v & (^uint64(0) >> (64 - uint(p.Width)))
}

// Set sets integer i to v. The integer must be zero before.
func (p Array) Set(i, v uint64) {
	if p.Width == 0 {
		return
	}
	bit := i * uint64(p.Width)
	w, b := bit/64, bit%64
	p.Words[w] |= v << b
	if b+uint64(p.Width) > 64 {
		p.Words[w+1] |= v >> (64 - b)
	}
}

// Prefetch prefetches the cache lines that At reads for each of positions. It overwrites positions.
func (p Array) Prefetch(positions []uint64) {
	for i, position := range positions {
		positions[i] = position * uint64(p.Width) / 64
	}
	asm.PrefetchAt(p.Words, positions)
}

// An ArrayWriter builds the words of an [Array], in order. It is used by one goroutine.
type ArrayWriter struct {
	Words    []uint64 // complete words; the caller may take them at any time
	width    uint
	pending  uint64 // bits that do not fill a word yet, in the low used bits
	usedBits uint
}

// NewArrayWriter returns a writer of integers with that width.
func NewArrayWriter(width int) *ArrayWriter { return &ArrayWriter{width: uint(width)} }

// AppendArray appends integers, which must fit in the width.
func AppendArray[T uint32 | uint64](w *ArrayWriter, integers []T) {
	word, usedBits, width, words := w.pending, w.usedBits, w.width, w.Words
	if width == 0 {
		return
	}
	for _, v := range integers {
		word |= uint64(v) << (usedBits & 63)
		if usedBits += width; usedBits >= 64 {
			words = append(words, word)
			usedBits -= 64
			word = uint64(v) >> (width - usedBits) // 0 if nothing is left: Go shifts by 64 to 0
		}
	}
	w.pending, w.usedBits, w.Words = word, usedBits, words
}

// Finish completes the words.
func (w *ArrayWriter) Finish() {
	if w.usedBits > 0 {
		w.Words = append(w.Words, w.pending)
		w.pending, w.usedBits = 0, 0
	}
}
