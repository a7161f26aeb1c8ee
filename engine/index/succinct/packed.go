// Package succinct holds arrays that take little more than their information:
// integers of a fixed width ([Packed]), integers below a limit that is no power
// of two ([Bounded]) and bits with select ([Ones]).
//
// All are views of []uint64 words, as sections of a file hold them, and are
// read-only and safe for many goroutines. A look-up is one or two cache
// misses: one line of a packed array, two near each other of a bounded one; for a select, a sample and then, when
// ones are about as frequent as everywhere, one line of words behind it.
package succinct

import "math/bits"

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
