//go:build !purego

package asm

import "unsafe"

//go:noescape
func prefetchAll(xs unsafe.Pointer, bytes uintptr)

//go:noescape
func prefetchAt(xs unsafe.Pointer, elem uintptr, index *uint64, count int)
