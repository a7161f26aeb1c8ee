package asm

import "fmt"

// JoinBuckets has queries in buckets by the leading bits of their permuted keys, in the form of [Join]. The lanes of
// a bucket begin at a multiple of JoinVector. The rest of its last vector is padding with any content.
//
//	bucket   0            1      2 (none)  3
//	Lows   | a a a - - - | b b b b b b | d d d d d d | d - - - - - | padding ...
//	         `-- a lane: 32 bits of a query's key
//
// A compared word has the same 32 bits in its low half, and the number of its bucket above them.
type JoinBuckets struct {
	// First has half the number of the first lane of each bucket, and of the end. The low bit is free for JoinLong.
	// The number of buckets is a power of two.
	First []uint32
	Lows  []uint32 // the lanes, and padding: the last bucket has at least Lanes elements, too
	Shift int      // word >> Shift, modulo the number of buckets, is the bucket of a word: 0 to 63
	// Lanes is the number of lanes that are compared with a word, from the first one of its bucket on. It is a multiple
	// of JoinVector, at most JoinLanesMax.
	Lanes int
}

// A JoinPair is a word and a query that are near in 32 bits.
type JoinPair struct {
	Word uint32 // index of the word
	Lane uint32 // lane of the query
}

const (
	// JoinVector is the number of queries that a word is compared with at once.
	JoinVector = 16
	// JoinLanesMax is the maximum number of lanes of a bucket in Join, and the minimum size of its dst.
	JoinLanesMax = 128
	// JoinLong marks a bucket, in First, that the caller of Join must compare.
	JoinLong = 1
	// joinCall is the maximum number of words per call of assembly: some 50 microseconds with 128 lanes from the
	// outer cache.
	joinCall = 4096
)

// Join compares each word with b.Lanes lanes from the first lane of its bucket on. It writes the lanes that differ
// from the word's low half in at most k bits to dst, in order of words and lanes. These are all matching queries of
// the bucket, and some that do not match. It returns the number of pairs and of completed words. If done <
// len(words), dst has less space than JoinLanesMax, or the bucket of words[done] is marked with JoinLong. In the
// latter case the caller compares that bucket itself and continues after the word. Join panics if lengths contradict
// JoinBuckets.
//
// With AVX-512 and 32 lanes in the first-level cache a word takes 3 cycles. 32 random bits are within 3 of each other
// once in 780,000 comparisons, so nearly all pairs are wanted.
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

// Bucket returns the lanes of a word's bucket, [start, end) with the padding, and whether JoinLong marks it.
func (b *JoinBuckets) Bucket(word uint64) (start, end uint32, long bool) {
	i := word >> b.Shift & uint64(len(b.First)-2)
	return b.First[i] &^ JoinLong * 2, b.First[i+1] &^ JoinLong * 2, b.First[i]&JoinLong != 0
}

// check panics if the slices are inconsistent.
func (b *JoinBuckets) check() {
	n := len(b.First) - 1
	if n < 1 || n&(n-1) != 0 || b.Shift < 0 || b.Shift > 63 || b.Lanes < JoinVector || b.Lanes > JoinLanesMax ||
		b.Lanes%JoinVector != 0 ||
		2*uint64(b.First[n]&^JoinLong)+uint64(b.Lanes) > uint64(len(b.Lows)) {
		panic(fmt.Sprintf("asm: %d buckets and %d lanes, shift %d, %d lanes a word do not make a join", n, len(b.Lows),
			b.Shift, b.Lanes))
	}
}
