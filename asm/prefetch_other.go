//go:build purego || !(amd64 || arm64)

package asm

import "unsafe"

// Go has no way to ask for a line without assembly: the scan takes its misses.

func prefetchRuns(low *uint32, runs unsafe.Pointer, stride uintptr, count int) {}

func prefetchAt(xs unsafe.Pointer, elem uintptr, index *uint64, count int) {}
