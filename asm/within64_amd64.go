//go:build !purego

package asm

func within64(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int) {
	switch {
	case useAVX512:
		return within64AVX512(dst, xs, base, q, k)
	case useAVX2:
		return within64AVX2(dst, xs, base, q, k)
	}
	return withinGeneric(dst, xs, base, q, k)
}

//go:noescape
func within64AVX512(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int)

//go:noescape
func within64AVX2(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int)
