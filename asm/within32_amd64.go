//go:build !purego

package asm

import "unsafe"

func within32(dst []Hit32, low []uint32, runs unsafe.Pointer, stride uintptr, count int, longest uint64, base, q uint32) (hits, done int, offset uint64) {
	switch {
	case useAVX512:
		return within32AVX512(dst, low, runs, stride, count, longest, base, q)
	case useAVX2:
		return within32AVX2(dst, low, runs, stride, count, longest, base, q)
	}
	return within32Generic(dst, low, runs, stride, count, longest, base, q)
}

//go:noescape
func within32AVX512(dst []Hit32, low []uint32, runs unsafe.Pointer, stride uintptr, count int, longest uint64, base, q uint32) (hits, done int, offset uint64)

//go:noescape
func within32AVX2(dst []Hit32, low []uint32, runs unsafe.Pointer, stride uintptr, count int, longest uint64, base, q uint32) (hits, done int, offset uint64)
