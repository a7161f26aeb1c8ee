package asm

import (
	"fmt"
	"math/bits"
	"slices"
)

// joinGeneric is the specification of join. The call ends before a word whose bucket is long, and before one
// whose hits dst might not take. Words are numbered from base.
func joinGeneric(dst []JoinPair, words []uint64, base uint32, b *JoinBuckets, k uint32) (hits, done int) {
	shift, mask := uint(b.Shift)&63, uint64(len(b.First)-2)
	for i, w := range words {
		f := b.First[w>>shift&mask]
		if f&JoinLong != 0 || len(dst)-hits < b.Lanes {
			return hits, i
		}
		for lane, low := range b.Lows[2*f:][:b.Lanes] {
			if uint32(bits.OnesCount32(uint32(w)^low)) <= k {
				dst[hits] = JoinPair{base + uint32(i), f*2 + uint32(lane)}
				hits++
			}
		}
	}
	return hits, len(words)
}

// checkJoin compares the kernel in use with a known answer: four buckets with 1, 0, 16 and 30 queries, of which
// query i of the last is i bits from 0. Lanes behind a bucket are looked at too.
func checkJoin() error {
	var lows [64 + JoinLanesMax]uint32
	for i := range lows {
		lows[i] = 0xcccc3333
	}
	lows[0] = 0x80000001
	lows[16] = 0xf0f0f0f0
	for i := range 30 {
		lows[32+i] = 1<<i - 1
	}
	b := JoinBuckets{First: []uint32{0, 8, 8, 16, 32}, Lows: lows[:], Shift: 62, Lanes: 32}
	words := []uint64{0, 1 << 62, 2<<62 | 0xf0f0f0f1, 0x80000001, 3 << 62, 3<<62 | 0xff0000ff, 3<<62 | 1<<29 | 0xffffff}
	want := []JoinPair{{0, 0}, {1, 32}, {1, 33}, {1, 34}, {2, 16}, {3, 0}, {4, 32}, {4, 33}, {4, 34}, {6, 55}, {6, 56}, {6, 57}}
	var got [JoinLanesMax + 32]JoinPair
	if hits, done := Join(got[:], words, &b, 2); done != len(words) || !slices.Equal(got[:hits], want) {
		return fmt.Errorf("got %d after %d words, want %d", got[:hits], done, want)
	}
	return nil
}
