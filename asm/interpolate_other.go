//go:build purego || !(amd64 || arm64)

package asm

func interpolate(dst []int, keys, sought []uint64) { interpolateGeneric(dst, keys, sought) }
