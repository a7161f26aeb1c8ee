//go:build !purego

package asm

func within64(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int) {
	return within64Generic(dst, xs, base, q, k)
}
