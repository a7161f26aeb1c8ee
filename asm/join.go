package asm

import "fmt"

// JoinBuckets are queries in buckets by the leading bits of their permuted keys, as [Join] reads them. A bucket's
// lanes begin at a multiple of JoinVector; the rest of its last vector is padding, whose content does not matter.
//
//	bucket   0            1      2 (none)  3
//	Lows   | a a a - - - | b b b b b b | d d d d d d | d - - - - - | padding ...
//	         `-- a lane: 32 bits of a query's key
//
// A word that is compared has the same 32 bits in its low half, and the number of its bucket above them.
type JoinBuckets struct {
	// First holds half the number of the first lane of each bucket, and of the end, so that the low
	// bit is free: JoinLong. There are a power of two buckets.
	First []uint32
	Lows  []uint32 // the lanes; at least Lanes of them follow the first lane behind the last bucket
	Shift int      // word >> Shift, modulo the number of buckets, is the bucket of a word: 0 to 63
	Lanes int      // that a word is compared with, from its bucket's first on: a multiple of JoinVector up to JoinLanesMax
}

// A JoinPair is a word and a query that are close in 32 bits.
type JoinPair struct {
	Word uint32 // index of the word
	Lane uint32 // of the query
}

const (
	// JoinVector is how many queries a word is compared with at once.
	JoinVector = 16
	// JoinLanesMax is the most lanes of a bucket that a word is compared with in Join,
	// and the least room that Join wants.
	JoinLanesMax = 128
	// JoinLong marks a bucket, in First, that Join leaves to its caller.
	JoinLong = 1
	// joinCall is how many words one call into assembly takes: some 50
	// microseconds with 128 lanes from the outer cache.
	joinCall = 4096
)

// Join finds for each word which of the lanes of its bucket, and of the lanes behind it up
// to b.Lanes, differ from its low half in at most k bits, and writes them to dst in order
// of the words and then of the lanes. These are all queries of the bucket that are within k, and some that are
// not. It returns how many it wrote, and how many words are done. done < len(words) means that
// dst has no room for JoinLanesMax more or, if it has, that the bucket of words[done] is
// marked with JoinLong: then the caller looks at that bucket itself and goes on behind the word. Buckets that are not
// what JoinBuckets says are a programmer's error and panic, as far as a look at the lengths tells.
//
// With AVX-512 and 32 lanes in the first-level cache a word takes 3 cycles. 32 random bits are
// within 3 of each other once in 780,000 comparisons, so nearly all that is found is wanted.
func Join(dst []JoinPair, words []uint64, b *JoinBuckets, k int) (hits, done int) {
	b.check()
	raceRead(words)
	raceWrite(dst)
	if k < 0 {
		return 0, len(words)
	}
	for done < len(words) && len(dst)-hits >= JoinLanesMax {
		part := words[done:min(done+joinCall, len(words))]
		found, ready := join(dst[hits:], part, uint32(done), b, uint32(min(k, 32)))
		hits += found
		done += ready
		if ready < len(part) {
			break
		}
	}
	return hits, done
}

// Bucket returns the lanes of a word's bucket, [from, to) with the padding, and whether it is marked with JoinLong.
func (b *JoinBuckets) Bucket(word uint64) (from, to uint32, long bool) {
	i := word >> b.Shift & uint64(len(b.First)-2)
	return b.First[i] &^ JoinLong * 2, b.First[i+1] &^ JoinLong * 2, b.First[i]&JoinLong != 0
}

// check panics when the slices do not make buckets.
func (b *JoinBuckets) check() {
	n := len(b.First) - 1
	if n < 1 || n&(n-1) != 0 || b.Shift < 0 || b.Shift > 63 || b.Lanes < JoinVector || b.Lanes > JoinLanesMax ||
		b.Lanes%JoinVector != 0 ||
		2*uint64(b.First[n]&^JoinLong)+uint64(b.Lanes) > uint64(len(b.Lows)) {
		panic(fmt.Sprintf("asm: %d buckets and %d lanes, shift %d, %d lanes a word do not make a join", n, len(b.Lows),
			b.Shift, b.Lanes))
	}
}
