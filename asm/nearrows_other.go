//go:build purego || !amd64

package asm

func nearRows(dst []uint32, keys []uint64, ends []uint32, from uint32, k int) (n, done int) {
	return nearRowsGeneric(dst, keys, ends, from, k)
}
