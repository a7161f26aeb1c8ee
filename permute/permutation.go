package permute

import "math/bits"

// steps is the number of shift-and-mask steps that compress 64 bits: a bit travels at most 63
// places, which is six powers of two.
const steps = 6

// Permutation moves the bits of a mask, in their order, to the front (the most significant end) of
// a word and all other bits, in their order, behind them:
//
//	mask     0 1 1 0 0 1 0 1          n = 4 leading bits
//	x        a b c d e f g h
//	Apply    b c f h a d e g
//
// It is the pair of compress operations of Hacker's Delight, section 7-4, with its shifts worked
// out once per mask: PEXT(x, mask) << (64-n) | PEXT(x, ^mask), in any instruction set. It only
// moves bits, so Apply(a^b) == Apply(a)^Apply(b): a pattern of flips can be permuted once and
// XORed to every query, and Hamming distances survive.
//
// Cost: 12 steps of 4 operations in two independent chains, no branch, no memory but the 112 bytes
// of the value itself. A Permutation is a value that nothing changes: copy and share it freely. The
// zero Permutation is not ready for use; make one with [New].
type Permutation struct {
	mask    uint64
	leading int
	front   [steps]uint64 // what to move right by 1, 2, 4, ... to gather the bits of mask
	back    [steps]uint64 // the same for the bits of ^mask
}

// New returns the permutation that leads with the bits of mask. Every mask is good: 0 and ^0 move
// nothing.
func New(mask uint64) Permutation {
	return Permutation{
		mask:    mask,
		leading: bits.OnesCount64(mask),
		front:   moves(mask),
		back:    moves(^mask),
	}
}

// Mask returns the mask that New was given.
func (p *Permutation) Mask() uint64 { return p.mask }

// Leading returns the number of bits of the mask: how many bits of Apply(x) are leading bits.
func (p *Permutation) Leading() int { return p.leading }

// Apply returns x with its bits permuted.
func (p *Permutation) Apply(x uint64) uint64 {
	front := compress(x&p.mask, &p.front)
	back := compress(x&^p.mask, &p.back)
	// Shifting by 64 gives 0 in Go, which is what an empty mask needs.
	return front<<(64-uint(p.leading)) | back
}

// Invert returns the word whose permutation is y: Invert(Apply(x)) == x for every x, and the other way round.
func (p *Permutation) Invert(y uint64) uint64 {
	n := uint(p.leading)
	front := expand(y>>(64-n), &p.front)
	back := expand(y&(1<<(64-n)-1), &p.back)
	return front | back
}

// moves plans the compression of mask to the right. A bit of the mask has to travel over all the
// zeros below it; step i moves, by 1<<i, the bits whose distance has bit i set, wherever the steps
// before left them. Lower bits never travel further than higher ones, so no two bits meet.
func moves(mask uint64) (move [steps]uint64) {
	zeros := 0
	for at := range 64 {
		if mask>>at&1 == 0 {
			zeros++
			continue
		}
		now := at
		for i := range move {
			if zeros>>i&1 == 1 {
				move[i] |= 1 << now
				now -= 1 << i
			}
		}
	}
	return move
}

// compress gathers at the right end the bits of x that move was planned for. All other bits of x
// are zero. Unrolled, since the compiler does not and the shifts then are constants.
func compress(x uint64, move *[steps]uint64) uint64 {
	t := x & move[0]
	x = x ^ t | t>>1
	t = x & move[1]
	x = x ^ t | t>>2
	t = x & move[2]
	x = x ^ t | t>>4
	t = x & move[3]
	x = x ^ t | t>>8
	t = x & move[4]
	x = x ^ t | t>>16
	t = x & move[5]
	return x ^ t | t>>32
}

// expand undoes compress: the same steps backwards. After step i the bits that it moved stand where
// move[i] says, so they are found by shifting move instead of x.
func expand(x uint64, move *[steps]uint64) uint64 {
	t := x & (move[5] >> 32)
	x = x ^ t | t<<32
	t = x & (move[4] >> 16)
	x = x ^ t | t<<16
	t = x & (move[3] >> 8)
	x = x ^ t | t<<8
	t = x & (move[2] >> 4)
	x = x ^ t | t<<4
	t = x & (move[1] >> 2)
	x = x ^ t | t<<2
	t = x & (move[0] >> 1)
	return x ^ t | t<<1
}
