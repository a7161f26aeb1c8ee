//go:build purego || !(amd64 || arm64)

package asm

import "unsafe"

// Go has no way to ask for a line without assembly: who reads takes the misses.

func prefetchAll(xs unsafe.Pointer, bytes uintptr) {}

func prefetchAt(xs unsafe.Pointer, elem uintptr, index *uint64, count int) {}
