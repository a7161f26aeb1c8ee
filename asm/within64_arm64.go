//go:build !purego

package asm

func within64(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int) {
	if useNEON {
		return within64NEON(dst, xs, base, q, k)
	}
	return withinGeneric(dst, xs, base, q, k)
}

//go:noescape
func within64NEON(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int)
