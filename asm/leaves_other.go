//go:build purego || !amd64

package asm

func leaves(dst, src []uint64, ends []uint32, from uint32) (done int) {
	return leavesGeneric(dst, src, ends, from)
}
