//go:build purego || !amd64

package asm

func countDigits(counts, keys []uint64, mask uint64) { countDigitsGeneric(counts, keys, mask) }
