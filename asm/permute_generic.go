package asm

import (
	"fmt"
	"math/bits"
)

// permuteGeneric is the specification: two extracts and an OR, or two deposits and an OR.
func permuteGeneric(dst, src []uint64, mask uint64, dir direction) {
	if len(src) >= lookupFrom {
		permuteLookup(dst, src, mask, dir)
		return
	}
	front, rest := newCompressor(mask), newCompressor(^mask)
	shift := 64 - bits.OnesCount64(mask)
	if dir == forward {
		for i, x := range src {
			dst[i] = front.extract(x)<<shift | rest.extract(x)
		}
		return
	}
	for i, x := range src {
		dst[i] = front.deposit(x>>shift) | rest.deposit(x)
	}
}

// compressor holds what the compress and expand of one mask need: in step s, the bits of move[s] travel
// 1<<s places. (Warren, Hacker's Delight, 2nd edition, sections 7-4 and 7-5.)
type compressor struct {
	mask uint64
	move [6]uint64
}

// newCompressor prepares the six steps of mask: about 60 operations.
func newCompressor(mask uint64) compressor {
	c := compressor{mask: mask}
	gaps := ^mask << 1 // bit i: position i-1 holds a gap, which bits from i upwards must cross
	for step := range c.move {
		odd := gaps // becomes: bit i is set when the count of gap bits at or below i is odd
		for shift := 1; shift < 64; shift <<= 1 {
			odd ^= odd << shift
		}
		c.move[step] = odd & mask
		mask = mask ^ c.move[step] | c.move[step]>>(1<<step)
		gaps &^= odd
	}
	return c
}

// extract gathers the bits of x under the mask at the low end, in order: PEXT.
func (c *compressor) extract(x uint64) uint64 {
	x &= c.mask
	for step, move := range c.move {
		t := x & move
		x = x ^ t | t>>(1<<step)
	}
	return x
}

// deposit spreads the low bits of x to the places of the mask, in order: PDEP, the inverse of extract.
func (c *compressor) deposit(x uint64) uint64 {
	for step := len(c.move) - 1; step >= 0; step-- {
		move := c.move[step]
		x = x&^move | x<<(1<<step)&move
	}
	return x & c.mask
}

// checkPermute moves whole hexadecimal digits, so that the answer can be read off, and back: a few
// keys, and as many as the kernels for long slices want.
func checkPermute() error {
	const few, many = 11, 300
	var keys [many]uint64
	if err := checkPermuted(keys[:few]); err != nil {
		return err
	}
	return checkPermuted(keys[:])
}

func checkPermuted(keys []uint64) error {
	const mask = 0xf00ff00fff0000f0
	const x, y = 0x0123456789abcdef, 0x034789e_1256abcdf
	for i := range keys {
		keys[i] = x ^ uint64(i%16)
	}
	Permute(keys, keys, mask)
	for i, key := range keys {
		if key != y^uint64(i%16) {
			return fmt.Errorf("%#016x becomes %#016x, want %#016x", x^uint64(i%16), key, y^uint64(i%16))
		}
	}
	Unpermute(keys, keys, mask)
	for i, key := range keys {
		if key != x^uint64(i%16) {
			return fmt.Errorf("%#016x comes back as %#016x", x^uint64(i%16), key)
		}
	}
	return nil
}
