//go:build purego || !amd64

package asm

func halves(h *Halves, src []uint64, row uint64) { halvesGeneric(h, src, row) }

func sift(dst, words, bitmap []uint64, shift uint64) (n int) {
	return siftGeneric(dst, words, bitmap, shift)
}
