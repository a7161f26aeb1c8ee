//go:build !purego

package asm

func join(dst []Joined, words []uint64, base uint32, buckets, lows *uint32, shift, mask uint64, lanes int, k uint32) (hits, done int) {
	switch {
	case useAVX512:
		return joinAVX512(dst, words, base, buckets, lows, shift, mask, lanes, k)
	case useAVX2:
		return joinAVX2(dst, words, base, buckets, lows, shift, mask, lanes, k)
	}
	return joinGeneric(dst, words, base, buckets, lows, shift, mask, lanes, k)
}

//go:noescape
func joinAVX512(dst []Joined, words []uint64, base uint32, buckets, lows *uint32, shift, mask uint64, lanes int, k uint32) (hits, done int)

//go:noescape
func joinAVX2(dst []Joined, words []uint64, base uint32, buckets, lows *uint32, shift, mask uint64, lanes int, k uint32) (hits, done int)
