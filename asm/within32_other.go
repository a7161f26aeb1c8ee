//go:build purego || !(amd64 || arm64)

package asm

func within32(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int) {
	return withinGeneric(dst, xs, base, q, k)
}
