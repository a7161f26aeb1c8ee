package asm

import "math/bits"

// Permute moves the bits of mask to the front of every key: with p = OnesCount64(mask),
//
//	dst[i] = PEXT(src[i], mask) << (64-p)  |  PEXT(src[i], ^mask)
//
//	src[i]   a B c d E F g h        mask  0 1 0 0 1 1 0 0      (8 bits drawn instead of 64)
//	dst[i]   B E F a c d g h        the order inside each half is kept
//
// so that keys that agree in the bits of mask lie together once sorted. p may be 0 or 64: both
// leave keys as they are.
//
// dst must be at least as long as src; only dst[:len(src)] is written. dst and src may be the same
// memory, but must not overlap otherwise. Nothing is allocated; safe for concurrent use on disjoint
// dst.
//
// Long slices take one VPSHUFBITQMB a key with AVX-512 (1 cycle), two PEXT with BMI2 (2 cycles),
// eight look-ups in registers for two keys with NEON, eight table look-ups a key (5 cycles)
// otherwise; short ones two PEXT, or 48 shift-and-mask operations.
func Permute(dst, src []uint64, mask uint64) {
	permute(dst[:len(src)], src, mask, forward)
}

// Unpermute moves the bits of every key back to where Permute with the same mask took them from:
// Unpermute(Permute(x)) == x. It has the same contract and the same cost.
func Unpermute(dst, src []uint64, mask uint64) {
	permute(dst[:len(src)], src, mask, backward)
}

// direction tells Permute's bit movement from its inverse.
type direction bool

const (
	forward  direction = false
	backward direction = true
)

// bitSource answers, for one mask and direction, which bit of the source becomes bit 0, 1, ... 63
// of the result. It is the permutation written out, for the kernels that take any permutation.
func bitSource(mask uint64, dir direction) (index [64]uint8) {
	low, high := 0, 64-bits.OnesCount64(mask)
	for from := range 64 {
		to := low
		if mask>>from&1 != 0 {
			to = high
			high++
		} else {
			low++
		}
		if dir == forward {
			index[to] = uint8(from)
		} else {
			index[from] = uint8(to)
		}
	}
	return index
}
