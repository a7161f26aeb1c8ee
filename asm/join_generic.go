package asm

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"
)

// joinGeneric is the specification of join. The bucket of a word is number
// word>>shift&mask. The call ends before a word whose bucket is long, and before one
// whose hits dst might not take.
func joinGeneric(dst []Joined, words []uint64, base uint32, buckets, lows *uint32, shift, mask uint64, lanes int, k uint32) (hits, done int) {
	first := unsafe.Slice(buckets, mask+1)
	for i, w := range words {
		f := first[w>>shift&mask]
		if f&bucketLong != 0 || len(dst)-hits < lanes {
			return hits, i
		}
		for lane, low := range unsafe.Slice((*uint32)(unsafe.Add(unsafe.Pointer(lows), uintptr(f)*8)), lanes) {
			if uint32(bits.OnesCount32(uint32(w)^low)) <= k {
				dst[hits] = Joined{base + uint32(i), f*2 + uint32(lane)}
				hits++
			}
		}
	}
	return hits, len(words)
}

// checkJoin is the known answer: four buckets with 1, 0, 16 and 30 queries, of which
// query i of the last is i bits from 0. Lanes behind a bucket are looked at too.
func checkJoin() error {
	sizes := []uint32{1, 0, 16, 30, 0}
	lows := make([]uint32, BucketLanes(sizes))
	for i := range lows {
		lows[i] = 0xcccc3333
	}
	b := NewJoinTable(sizes, lows)
	lows[0] = 0x80000001
	lows[16] = 0xf0f0f0f0
	for i := range 30 {
		lows[32+i] = 1<<i - 1
	}
	words := []uint64{0, 1 << 62, 2<<62 | 0xf0f0f0f1, 0x80000001, 3 << 62, 3<<62 | 0xff0000ff, 3<<62 | 1<<29 | 0xffffff}
	want := []Joined{{0, 0}, {1, 32}, {1, 33}, {1, 34}, {2, 16}, {3, 0}, {4, 32}, {4, 33}, {4, 34}, {6, 55}, {6, 56}, {6, 57}}
	var got [JoinLanes + 32]Joined
	if hits, done := b.Keys().Find(got[:], words, 2); done != len(words) || !slices.Equal(got[:hits], want) {
		return fmt.Errorf("got %d after %d words, want %d", got[:hits], done, want)
	}
	return nil
}
