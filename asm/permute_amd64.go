//go:build !purego

package asm

import "github.com/klauspost/cpuid/v2"

// indexFrom is the minimum length for computing the index of the permutation, which takes 80 ns. A key then takes 0.5
// ns less than with PEXT.
const indexFrom = 256

// permuteCall is the maximum number of keys per kernel call: about 25 us from memory.
const permuteCall = 16384

// slowExtract is true if PEXT and PDEP are microcode with at least 18 cycles each: Zen 1 and 2, and Hygon's copies of
// them.
var slowExtract = cpuid.CPU.VendorID == cpuid.AMD && cpuid.CPU.Family == 0x17 || cpuid.CPU.VendorID == cpuid.Hygon

func permute(dst, src []uint64, mask uint64, dir direction) {
	long := useAVX512 && (len(src) >= indexFrom || slowExtract)
	if !long && (slowExtract || !useAVX512 && !useAVX2) {
		permuteGeneric(dst, src, mask, dir)
		return
	}
	raceRead(src)
	raceWrite(dst)
	var index [64]uint8
	if long {
		index = bitSource(mask, dir)
	}
	for len(src) > 0 {
		n := min(len(src), permuteCall)
		switch {
		case long:
			permuteAVX512(&dst[0], &src[0], n, &index)
		case dir == forward:
			permuteBMI2(&dst[0], &src[0], n, mask)
		default:
			unpermuteBMI2(&dst[0], &src[0], n, mask)
		}
		dst, src = dst[n:], src[n:]
	}
}

// permuteAVX512 sets bit t of every dst key to bit index[t] of its src key.
//
//go:noescape
func permuteAVX512(dst, src *uint64, n int, index *[64]uint8)

//go:noescape
func permuteBMI2(dst, src *uint64, n int, mask uint64)

//go:noescape
func unpermuteBMI2(dst, src *uint64, n int, mask uint64)
