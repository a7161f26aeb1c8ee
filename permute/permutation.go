package permute

import (
	"example.org/ndd/asm"
)

// A Permutation moves the bits of a mask, in their order, to the front (the most significant end) of a word. All
// other bits follow in their order:
//
//	mask     0 1 1 0 0 1 0 1          n = 4 leading bits
//	x        a b c d e f g h
//	Apply    b c f h a d e g
//
// It only moves bits, so Apply(a^b) == Apply(a)^Apply(b): a pattern of flips can be permuted once and XORed to every
// query. Hamming distances do not change. [asm.Permute] permutes many words in less time. Every mask is valid: 0 and
// ^0 move nothing.
type Permutation struct{ mask uint64 }

// New returns the permutation that leads with the bits of mask.
func New(mask uint64) Permutation { return Permutation{mask} }

// Mask returns the mask of New.
func (p *Permutation) Mask() uint64 { return p.mask }

// Apply returns x with its bits permuted.
func (p *Permutation) Apply(x uint64) uint64 {
	word := [1]uint64{x}
	asm.Permute(word[:], word[:], p.mask)
	return word[0]
}

// Invert returns the word whose permutation is y.
func (p *Permutation) Invert(y uint64) uint64 {
	word := [1]uint64{y}
	asm.Unpermute(word[:], word[:], p.mask)
	return word[0]
}
