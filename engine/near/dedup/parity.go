package dedup

import (
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/engine/near/shingle"
)

// parities bound the number of shingles that a document shares with kept ones of its cluster, in some ns and without their sets.
// A row has a bit for each of some parts of all shingles: whether the document has an odd number of shingles of the part. Each
// bit in which two rows differ is a shingle that only one of the documents has:
//
//	shingles    a: 1 5 8 12 17           b: 1 5 8 17
//	mod 4       0: 8 12, 1: 1 5 17       0: 8, 1: 1 5 17
//	odd         1                        0, 1
//
// So documents of a and b shingles whose rows differ in d bits share at most (a + b - d) / 2.
type parities struct {
	words int // of a row; 0 if the cluster is too small to have rows
	sizes []int
	rows  []uint64
}

const (
	parityFrom = 16  // documents of a cluster from which on there are rows
	parityBits = 6   // for each shingle
	parityMost = 512 // words
)

// reset removes all rows, and chooses the size of new ones for a number of shingles; 0 makes none.
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
	at := len(dst)
	dst = append(dst, make([]uint64, p.words)...)
	row, mask := dst[at:], uint64(p.words-1)
	for _, x := range set {
		row[x>>6&mask] ^= 1 << (x & 63)
	}
	return dst
}

// keep adds the row of a kept document.
func (p *parities) keep(set []uint64) {
	p.sizes, p.rows = append(p.sizes, len(set)), p.appendRow(p.rows, set)
}

// A parityRoom is memory of a goroutine.
type parityRoom struct {
	row     []uint64
	numbers []uint32
	differ  []uint32
}

// likely deletes the nears of kept documents for which a rule cannot drop the document of a set.
func (p *parities) likely(r Rule, set, near []uint64, room *parityRoom) []uint64 {
	room.row, room.numbers = p.appendRow(room.row[:0], set), room.numbers[:0]
	for _, n := range near {
		room.numbers = append(room.numbers, uint32(n))
	}
	room.differ = slices.Grow(room.differ[:0], len(near))[:len(near)]
	asm.Differ(room.differ, room.row, p.rows, room.numbers)
	left := near[:0]
	for i, n := range near {
		a, b := len(set), p.sizes[uint32(n)]
		if _, ok := r.judge(min(a, b, (a+b-int(room.differ[i]))/2), a, b); ok {
			left = append(left, n)
		}
	}
	return left
}

// A setOf returns the set of shingles of a document, in buf if it has to be read. Many goroutines may call it, each with
// buffers of its own.
type setOf func(row Row, buf *[]uint64) []uint64

// judge returns the judge of a rule for texts.
func (set setOf) judge(r Rule) judge {
	return func(row, kept Row, bufs *shingle.Buffers) (Likeness, bool) {
		return r.Judge(set(row, &bufs[0]), set(kept, &bufs[1]))
	}
}
