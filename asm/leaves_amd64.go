//go:build !purego

package asm

// leaves has no AVX2 form: AVX2 has no minimum of 64-bit integers.
func leaves(dst, src []uint64, ends []uint32, from uint32) (done int) {
	if !useAVX512 {
		return leavesGeneric(dst, src, ends, from)
	}
	if raceEnabled && len(ends) > 0 {
		if to := ends[len(ends)-1]; from <= to && uint64(to) <= uint64(len(src)) {
			raceRead(src[from:to])
			raceWrite(dst[from:to])
		}
		raceRead(ends)
	}
	return leavesAVX512(dst, src, ends, from)
}

//go:noescape
func leavesAVX512(dst, src []uint64, ends []uint32, from uint32) (done int)
