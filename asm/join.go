package asm

import "fmt"

// A JoinTable has queries in buckets by the leading bits of their permuted keys. A bucket's
// queries begin at a multiple of joinVector; what is left of its last vector is
// padding, whose content does not matter.
//
//	bucket   0            1      2 (none)  3
//	lows   | a a a - - - | b b b b b b | d d d d d d | d - - - - - | padding ...
//	         `-- a lane: 32 bits of a query's key
//
// A JoinTable does not change once it is made and may be used by many goroutines.
type JoinTable struct {
	first []uint32 // of each bucket, and of what follows the last: half the first lane, so that low bits are free
	lows  []uint32
	bits  int // log2 of the number of buckets
	lanes int // see Lanes
}

// Joined says that a word and a query are close in 32 bits.
type Joined struct {
	Word uint32 // index of the word
	Lane uint32 // of the query
}

const (
	// joinVector is how many queries a word is compared with at once.
	joinVector = 16
	// JoinLanes is the most lanes of a bucket that a word is compared with in Join,
	// and the least room that Join wants.
	JoinLanes = 128
	// joinCall is how many words one call into assembly takes: some 50
	// microseconds with 128 lanes from the outer cache.
	joinCall = 4096
	// bucketLong marks a bucket of more than lanes queries.
	bucketLong = 1
)

// BucketLanes is how many lanes buckets of these sizes need.
func BucketLanes(sizes []uint32) (lanes uint64) {
	for _, n := range sizes {
		lanes += (uint64(n) + joinVector - 1) &^ (joinVector - 1)
	}
	return lanes + JoinLanes
}

// NewJoinTable lays out buckets, of which there must be a power of two. sizes has how
// many queries each has, and a zero at its end; lows has BucketLanes(sizes) lanes, fewer
// than 2^32; it panics otherwise. Both belong to the table now, but until its first
// use the caller fills the lanes: those of bucket b begin at First(b).
func NewJoinTable(sizes, lows []uint32) *JoinTable {
	n := len(sizes) - 1
	if n < 1 || n&(n-1) != 0 || sizes[n] != 0 || BucketLanes(sizes) != uint64(len(lows)) || uint64(len(lows)) >= 1<<32 {
		panic(fmt.Sprintf("asm: %d sizes and %d lanes do not make buckets", len(sizes), len(lows)))
	}
	b := &JoinTable{first: sizes, lows: lows, lanes: lanesFor(sizes[:n])}
	for 1<<b.bits < n {
		b.bits++
	}
	lane := uint32(0)
	for i, size := range sizes {
		sizes[i] = lane / 2
		if size > uint32(b.lanes) {
			sizes[i] |= bucketLong
		}
		lane += (size + joinVector - 1) &^ (joinVector - 1)
	}
	return b
}

// lanesFor is the number of lanes with which Find takes the least time, taking words
// to be half random, half like the queries. A vector takes 0.5 ns, a word of a long
// bucket some 50.
func lanesFor(sizes []uint32) (lanes int) {
	total := 0.0
	for _, size := range sizes {
		total += float64(size)
	}
	var beyond [JoinLanes / joinVector]float64 // words that ask for more than so many vectors
	for _, size := range sizes {
		for v := 0; v < len(beyond) && int(size) > (v+1)*joinVector; v++ {
			beyond[v] += (1/float64(len(sizes)) + float64(size)/total) / 2
		}
	}
	lanes, least := joinVector, 1+100*beyond[0]
	for v, share := range beyond {
		if cost := float64(v+1) + 100*share; cost < least {
			lanes, least = (v+1)*joinVector, cost
		}
	}
	return lanes
}

// First is the first lane of a bucket.
func (b *JoinTable) First(bucket int) uint32 { return b.first[bucket] &^ bucketLong * 2 }

// Lows is all lanes.
func (b *JoinTable) Lows() []uint32 { return b.lows }

// Lanes is the number of lanes that Find compares a word with.
func (b *JoinTable) Lanes() int { return b.lanes }

// A Join compares words with the queries of some buckets. A word has in its low half
// the bits that are compared, and above them the number of the bucket:
//
//	keys           | bucket ......... | ....... | low 32 |    lanes have the low 32 bits of keys
//	words of pile  | row ........ | rest of bucket | next 32 |    or the 32 that follow the bucket's
//
// Which, is up to who makes lows.
type Join struct {
	first []uint32 // of these buckets and of the next
	lows  []uint32 // of all
	shift int
	lanes int
}

// Keys joins permuted keys with all buckets.
func (b *JoinTable) Keys() Join { return Join{b.first, b.lows, 64 - b.bits, b.lanes} }

// Kept joins words that have, as those of a pile of everything, the 32 bits of a key that follow the
// bucket's in their low half and the bucket's number above it.
func (b *JoinTable) Kept() Join { return Join{b.first, b.lows, 32, b.lanes} }

// Pile joins the words of one pile of p, which must keep 32 bits of a key and as many
// more as tell the buckets of a pile apart; it panics otherwise.
func (b *JoinTable) Pile(p *Piles, pile int) Join {
	each := b.bits - p.bits
	if each < 0 || p.keep != 32+each {
		panic(fmt.Sprintf("asm: %d piles of words that keep %d bits do not fit %d buckets", len(p.next), p.keep, len(b.first)-1))
	}
	return Join{b.first[pile<<each : (pile+1)<<each+1], b.lows, 32, b.lanes}
}

// Find finds for each word which of the lanes of its bucket, and of what follows it up
// to Lanes, differ from its low half in at most k, and writes them to dst in order
// of the words and then of the lanes: all queries that are within k, and some that are
// not. It returns how many, and how many words are done. done < len(words) means that
// dst has no room for JoinLanes more or, if it has, that the bucket of words[done] is
// long: then the caller looks at it with [Join.Long] and goes on behind it.
//
// Napkin, AVX-512, 32 lanes, all in the first-level cache: for each word a load, a
// shift, a mask, a load of the bucket and a broadcast; two XORs, popcounts and a
// minimum; half a comparison and branch: 17 operations, 3 cycles. 32 random bits are
// within 3 of each other once in 780,000 comparisons, so that what is found is what is
// wanted, or nearly.
func (j Join) Find(dst []Joined, words []uint64, k int) (hits, done int) {
	raceRead(words)
	raceWrite(dst)
	if k < 0 {
		return 0, len(words)
	}
	for done < len(words) && len(dst)-hits >= JoinLanes {
		part := words[done:min(done+joinCall, len(words))]
		found, ready := join(dst[hits:], part, uint32(done), &j.first[0], &j.lows[0],
			uint64(j.shift), uint64(len(j.first)-2), j.lanes, uint32(min(k, 32)))
		hits += found
		done += ready
		if ready < len(part) {
			break
		}
	}
	return hits, done
}

// Long is the lanes of a word's bucket, [from, to) with the padding, and whether it is
// long.
func (j Join) Long(word uint64) (from, to uint32, long bool) {
	b := word >> j.shift & uint64(len(j.first)-2)
	first := j.first[b]
	return first &^ bucketLong * 2, j.first[b+1] &^ bucketLong * 2, first&bucketLong != 0
}
