package asm

import "math/bits"

// Permute moves the bits of mask to the front of every key: with p = OnesCount64(mask),
//
//	dst[i] = PEXT(src[i], mask) << (64-p)  |  PEXT(src[i], ^mask)
//
//	src[i]   a B c d E F g h        mask  0 1 0 0 1 1 0 0      (8 bits drawn instead of 64)
//	dst[i]   B E F a c d g h        the order inside each half is kept
//
// So keys that agree in the bits of mask are adjacent once sorted. p may be 0 or 64: then keys are unchanged.
//
// dst must be at least as long as src, and only dst[:len(src)] is written. dst and src may be the same memory, but
// must not overlap otherwise. Permute does not allocate, and is safe for concurrent use with disjoint dst.
//
// Long slices take one VPSHUFBITQMB per key with AVX-512 (1 cycle), two PEXT with BMI2 (2 cycles), or eight look-ups
// in registers for two keys with NEON. Otherwise they take eight table look-ups per key (5 cycles). Short slices take
// two PEXT, or move bit by bit.
func Permute(dst, src []uint64, mask uint64) {
	permute(dst[:len(src)], src, mask, forward)
}

// Unpermute is the inverse of Permute with the same mask: Unpermute(Permute(x)) == x. It has the same contract and
// the same cost.
func Unpermute(dst, src []uint64, mask uint64) {
	permute(dst[:len(src)], src, mask, backward)
}

// A direction selects Permute's bit movement or its inverse.
type direction bool

const (
	forward  direction = false
	backward direction = true
)

// bitSource returns, for a mask and a direction, the source bits of the bits 0, 1, ... 63 of the result. The kernels
// that support every permutation use this form.
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
