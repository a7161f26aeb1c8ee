//go:build !purego

package asm

func within32(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int) {
	switch {
	case useAVX512:
		return within32AVX512(dst, xs, base, q, k)
	case useAVX2:
		return within32AVX2(dst, xs, base, q, k)
	}
	return withinGeneric(dst, xs, base, q, k)
}

//go:noescape
func within32AVX512(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int)

//go:noescape
func within32AVX2(dst []uint32, xs []uint32, base, q uint32, k int) (n, scanned int)
