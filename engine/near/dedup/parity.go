package dedup

import (
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/engine/near/shingle"
)

// parities give an upper bound for the number of shingles that a document shares with kept documents of its cluster.
// This takes a few ns and needs no sets. All possible shingles are divided into parts. A document's row has a bit for
// each part. The bit is set if the document has an odd number of shingles in the part. If two rows differ in a bit, at
// least one shingle of the part occurs in only one of the documents:
//
//	shingles    a: 1 5 8 12 17           b: 1 5 8 17
//	mod 4       0: 8 12, 1: 1 5 17       0: 8, 1: 1 5 17
//	odd         1                        0, 1
//
// So documents of a and b shingles whose rows differ in d bits share at most (a + b - d) / 2.
type parities struct {
	words int // words of a row; 0 if the cluster is too small to have rows
	sizes []int
	rows  []uint64
}

const (
	parityFrom = 16  // number of documents in a cluster from which there are rows
	parityBits = 6   // minimum number of bits for each shingle, up to parityMost
	parityMost = 512 // maximum number of words of a row
)

// reset removes all rows, and chooses the size of new ones for documents with a number of shingles. 0 means no rows.
func (p *parities) reset(shingles int) {
	p.words, p.sizes, p.rows = 0, p.sizes[:0], p.rows[:0]
	for words := 8; shingles > 0 && p.words == 0; words *= 2 {
		if 64*words >= parityBits*shingles || words == parityMost {
			p.words = words
		}
	}
}

// appendRow appends the row of a set.
func (p *parities) appendRow(dst, set []uint64) []uint64 {
	start := len(dst)
	dst = append(dst, make([]uint64, p.words)...)
	row, mask := dst[start:], uint64(p.words-1)
	for _, x := range set {
		row[x>>6&mask] ^= 1 << (x & 63)
	}
	return dst
}

// keep adds the row of a kept document.
func (p *parities) keep(set []uint64) {
	p.sizes, p.rows = append(p.sizes, len(set)), p.appendRow(p.rows, set)
}

// A parityRoom holds the buffers of a goroutine.
type parityRoom struct {
	row     []uint64
	numbers []uint32
	differ  []uint32
}

// likely returns the neighbours whose kept documents may be similar enough. It removes an element if the upper
// bound shows that the rule cannot drop the document of set for that kept document.
func (p *parities) likely(r Rule, set, neighbours []uint64, room *parityRoom) []uint64 {
	room.row, room.numbers = p.appendRow(room.row[:0], set), room.numbers[:0]
	for _, n := range neighbours {
		room.numbers = append(room.numbers, uint32(n))
	}
	room.differ = slices.Grow(room.differ[:0], len(neighbours))[:len(neighbours)]
	asm.Differ(room.differ, room.row, p.rows, room.numbers)
	similar := neighbours[:0]
	for i, n := range neighbours {
		a, b := len(set), p.sizes[uint32(n)]
		if _, ok := r.judge(min(a, b, (a+b-int(room.differ[i]))/2), a, b); ok {
			similar = append(similar, n)
		}
	}
	return similar
}

// A setOf returns the set of shingles of a document. It uses buf if it reads the set from a file. Many goroutines may
// call it, each with its own buffers.
type setOf func(row Row, buf *[]uint64) []uint64

// judge returns the judge of a rule for texts.
func (set setOf) judge(r Rule) judge {
	return func(row, kept Row, bufs *shingle.Buffers) (Likeness, bool) {
		return r.Judge(set(row, &bufs[0]), set(kept, &bufs[1]))
	}
}
