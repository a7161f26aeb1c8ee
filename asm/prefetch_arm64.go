//go:build !purego

package asm

import "unsafe"

//go:noescape
func prefetchRuns(low *uint32, runs unsafe.Pointer, stride uintptr, count int)

//go:noescape
func prefetchAt(xs unsafe.Pointer, elem uintptr, index *uint64, count int)
