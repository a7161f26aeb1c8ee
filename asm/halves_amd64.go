//go:build !purego

package asm

func halves(h *Halves, src []uint64, row uint64) {
	if useAVX512 || useAVX2 {
		halvesBMI2(h, src, row)
		return
	}
	halvesGeneric(h, src, row)
}

func sift(dst, words, bitmap []uint64, shift uint64) (n int) {
	if useAVX512 || useAVX2 {
		return siftBMI2(dst, words, bitmap, shift)
	}
	return siftGeneric(dst, words, bitmap, shift)
}

//go:noescape
func halvesBMI2(h *Halves, src []uint64, row uint64)

//go:noescape
func siftBMI2(dst, words, bitmap []uint64, shift uint64) (n int)
