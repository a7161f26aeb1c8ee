package asm

import "math/bits"

// joinGeneric is the specification of join. The call ends before a word whose bucket is long, and before a word whose
// hits may not fit in dst. Words are numbered from base.
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
