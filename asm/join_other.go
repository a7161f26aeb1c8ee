//go:build purego || !amd64

package asm

func join(dst []Joined, words []uint64, base uint32, buckets, lows *uint32, shift, mask uint64, lanes int, k uint32) (hits, done int) {
	return joinGeneric(dst, words, base, buckets, lows, shift, mask, lanes, k)
}
