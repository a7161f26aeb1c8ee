//go:build !purego

package asm

func within32(s *scan32) {
	switch {
	case useAVX512:
		within32AVX512(s)
	default:
		within32Generic(s)
	}
}

//go:noescape
func within32AVX512(s *scan32)
