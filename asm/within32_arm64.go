//go:build !purego

package asm

import "unsafe"

func within32(dst []Hit32, low []uint32, runs unsafe.Pointer, stride uintptr, count int, longest uint64, base, q uint32) (hits, done int, offset uint64) {
	if useNEON {
		return within32NEON(dst, low, runs, stride, count, longest, base, q)
	}
	return within32Generic(dst, low, runs, stride, count, longest, base, q)
}

//go:noescape
func within32NEON(dst []Hit32, low []uint32, runs unsafe.Pointer, stride uintptr, count int, longest uint64, base, q uint32) (hits, done int, offset uint64)
