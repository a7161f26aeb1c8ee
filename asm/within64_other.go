//go:build purego || !(amd64 || arm64)

package asm

func within64(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int) {
	return withinGeneric(dst, xs, base, q, k)
}
