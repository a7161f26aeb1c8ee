//go:build !purego

package asm

func within32(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int) {
	if useNEON {
		return within32NEON(dst, xs, base, q, k)
	}
	return withinGeneric(dst, xs, base, q, k)
}

//go:noescape
func within32NEON(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int)
