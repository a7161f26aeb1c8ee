package dedup

import (
	"math/bits"
	"slices"
)

// sketches bound the number of shingles that two documents share, in a few ns and without their sets. A sketch has a
// bit for each of some parts of all shingles: whether the document has an odd number of shingles of the part. If the
// bits of two documents differ, one has a shingle that the other does not have:
//
//	shingles    a: 1 5 8 12 17    b: 1 5 8 17
//	mod 4       0: 8 12, 1: 1 5 17       0: 8, 1: 1 5 17
//	odd         1                 0, 1
//
// So documents of a and b shingles whose sketches differ in d bits share at most (a + b - d) / 2. A head is the sketch
// folded to 128 parts. If all documents are pages of one template, heads tell nearly all of them apart, in 1 ns.
type sketches struct {
	words int      // length of a sketch, a power of 2; 0: there are no sketches
	all   []uint64 // each after the size of its set
	heads []head
}

type head struct {
	size int
	bits [2]uint64
}

const (
	sketchFrom = 16  // documents of a cluster from which on sketches are made
	sketchBits = 6   // for each shingle; with 1.5 and 3 of pages of templates 7 and 2.5 times as many texts are compared
	sketchMost = 512 // words
)

// begin removes all sketches and chooses the size of new ones by the set of a document.
func (s *sketches) begin(set []uint64) {
	words := 1
	for words < sketchMost && 64*words < sketchBits*len(set) {
		words *= 2
	}
	s.clear()
	s.words = words
}

// clear removes all sketches, and makes none.
func (s *sketches) clear() {
	s.resize(0, 0)
	s.heads = s.heads[:0]
}

// resize makes room for n sketches of a size.
func (s *sketches) resize(words, n int) {
	s.words = words
	if words == 0 {
		n = 0
	}
	s.all = slices.Grow(s.all[:0], n*(words+1))[:n*(words+1)]
}

// of returns a sketch, with the size before it; nil if there are none.
func (s *sketches) of(i int) []uint64 {
	if s.words == 0 {
		return nil
	}
	return s.all[i*(s.words+1):][:s.words+1]
}

// sketch makes the sketch of a set, after its size.
func sketch(dst, set []uint64) {
	clear(dst)
	dst[0] = uint64(len(set))
	words, mask := dst[1:], uint64(len(dst)-2)
	for _, x := range set {
		words[x>>6&mask] ^= 1 << (x & 63)
	}
}

// add adds a sketch after all others.
func (s *sketches) add(own []uint64) {
	if s.words > 0 {
		s.all, s.heads = append(s.all, own...), append(s.heads, headOf(own))
	}
}

// headOf returns the head of a sketch.
func headOf(own []uint64) (h head) {
	h.size = int(own[0])
	for i, w := range own[1:] {
		h.bits[i&1] ^= w
	}
	return h
}

// likely returns the nears that are better than best, if the sketches allow a drop for them. It overwrites the list.
func (s *sketches) likely(r Rule, own, near []uint64, best uint64) []uint64 {
	left, mine := near[:0], headOf(own)
	most := mine.size - 2*r.least(mine.size) // bits that may differ, less the size of the other one
	for _, n := range near {
		h := &s.heads[uint32(n)]
		differ := bits.OnesCount64(h.bits[0]^mine.bits[0]) + bits.OnesCount64(h.bits[1]^mine.bits[1])
		if differ <= most+h.size && n < best && s.may(r, own, int(uint32(n))) {
			left = append(left, n)
		}
	}
	return left
}

// may reports whether the sketches allow that a document is dropped for a kept one.
func (s *sketches) may(r Rule, own []uint64, kept int) bool {
	other := s.of(kept)
	a, b, differ := int(own[0]), int(other[0]), 0
	for i := 1; i < len(own); i++ {
		differ += bits.OnesCount64(own[i] ^ other[i])
	}
	_, ok := r.judge(min(a, b, (a+b-differ)/2), a, b)
	return ok
}
