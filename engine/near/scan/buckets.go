package scan

import (
	"fmt"
	"math/bits"

	"ndd/asm"
)

// queryBuckets has queries in buckets by the leading bits of their permuted keys, as asm.Join reads them. It does not
// change once its lanes are filled, and may be used by many goroutines.
type queryBuckets struct {
	first []uint32 // see asm.JoinBuckets
	lows  []uint32
	bits  int // log2 of the number of buckets
	lanes int // that a word is compared with; a bucket that has more is long
}

// laneCount returns how many lanes buckets of these sizes need.
func laneCount(sizes []uint32) (lanes uint64) {
	for _, n := range sizes {
		lanes += roundLanes(uint64(n))
	}
	return lanes + asm.JoinLanesMax
}

// roundLanes returns n rounded up to whole vectors.
func roundLanes(n uint64) uint64 { return (n + asm.JoinVector - 1) &^ (asm.JoinVector - 1) }

// newQueryBuckets lays out buckets, of which there must be a power of two. sizes has how
// many queries each has, and a zero at its end; lows has laneCount(sizes) lanes, fewer
// than 2^32; it panics otherwise. Both belong to the buckets now, but until their first
// use the caller fills the lanes: those of bucket b begin at firstLane(b).
func newQueryBuckets(sizes, lows []uint32) *queryBuckets {
	n := len(sizes) - 1
	if n < 1 || n&(n-1) != 0 || sizes[n] != 0 || laneCount(sizes) != uint64(len(lows)) || uint64(len(lows)) >= 1<<32 {
		panic(fmt.Sprintf("scan: %d sizes and %d lanes do not make buckets", len(sizes), len(lows)))
	}
	b := &queryBuckets{first: sizes, lows: lows, bits: bits.TrailingZeros(uint(n)), lanes: lanesFor(sizes[:n])}
	lane := uint32(0)
	for i, size := range sizes {
		sizes[i] = lane / 2
		if size > uint32(b.lanes) {
			sizes[i] |= asm.JoinLong
		}
		lane += uint32(roundLanes(uint64(size)))
	}
	return b
}

// lanesFor returns the number of lanes a word with which a join takes the least time, taking words
// to be half random, half like the queries. A vector takes 0.5 ns, a word of a long
// bucket some 50.
func lanesFor(sizes []uint32) (lanes int) {
	total := 0.0
	for _, size := range sizes {
		total += float64(size)
	}
	var beyond [asm.JoinLanesMax / asm.JoinVector]float64 // words whose bucket has more than so many vectors
	for _, size := range sizes {
		for v := 0; v < len(beyond) && int(size) > (v+1)*asm.JoinVector; v++ {
			beyond[v] += (1/float64(len(sizes)) + float64(size)/total) / 2
		}
	}
	lanes, least := asm.JoinVector, 1+100*beyond[0]
	for v, share := range beyond {
		if cost := float64(v+1) + 100*share; cost < least {
			lanes, least = (v+1)*asm.JoinVector, cost
		}
	}
	return lanes
}

// firstLane returns the first lane of a bucket.
func (b *queryBuckets) firstLane(bucket int) uint32 { return b.first[bucket] &^ asm.JoinLong * 2 }

// A word that is joined has in its low half the bits that are compared, and above them the number of its bucket:
//
//	key                    | bucket ......... | ....... | low 32 |    lanes have the low 32 bits of keys
//	word of a partition    | row ........ | rest of bucket | next 32 |    or the 32 that follow the bucket's
//
// Which, is up to who fills the lanes.

// keys returns the buckets for joining whole permuted keys.
func (b *queryBuckets) keys() asm.JoinBuckets {
	return asm.JoinBuckets{First: b.first, Lows: b.lows, Shift: min(64-b.bits, 63), Lanes: b.lanes}
}

// kept returns the buckets for joining words that have, as those of a partition of everything, the 32 bits of a key
// that follow the bucket's in their low half and the bucket's number above it.
func (b *queryBuckets) kept() asm.JoinBuckets {
	return asm.JoinBuckets{First: b.first, Lows: b.lows, Shift: 32, Lanes: b.lanes}
}

// partition returns the buckets for joining the words of one partition of p, which must keep 32 bits of a key and as
// many more as tell the buckets of a partition apart; it panics otherwise.
func (b *queryBuckets) partition(p *keyPartitions, i int) asm.JoinBuckets {
	each := b.bits - p.Bits
	if each < 0 || p.Keep != 32+each {
		panic(fmt.Sprintf("scan: %d partitions of words that keep %d bits do not fit %d buckets", p.count(), p.Keep, len(b.first)-1))
	}
	return asm.JoinBuckets{First: b.first[i<<each : (i+1)<<each+1], Lows: b.lows, Shift: 32, Lanes: b.lanes}
}

// longBucket returns the lanes of a word's bucket, [from, to) with the padding, and whether asm.Join leaves that to
// its caller.
func longBucket(b *asm.JoinBuckets, word uint64) (from, to uint32, long bool) {
	i := word >> b.Shift & uint64(len(b.First)-2)
	first := b.First[i]
	return first &^ asm.JoinLong * 2, b.First[i+1] &^ asm.JoinLong * 2, first&asm.JoinLong != 0
}
