package asm

import (
	"fmt"
	"math/bits"
	"slices"
)

// Piles are fingerprints dealt out by the leading bits of their permuted keys, so that
// those of one pile are joined with a part of the queries that fits a near cache.
//
//	key   | pile | kept bits ............. | other bits |
//	word  | row ............. | kept bits ............. |     in its pile
//
// A word keeps the bits of the key that follow the number of its pile, and has the
// fingerprint's row above them. A Piles belongs to one goroutine.
type Piles struct {
	words []uint64
	next  []uint32 // of each pile: where its next word goes
	mask  uint64   // of the permutation
	bits  int      // log2 of the number of piles
	room  int      // log2 of the words that a pile takes
	keep  int
	drop  int       // low bits of a key that its word does not keep
	index [64]uint8 // the permutation, with kept bits at the low end
}

// PilesOptions say how to deal.
type PilesOptions struct {
	Mask uint64 // of the permutation, see Permute
	Bits int    // leading bits of a key that make the number of its pile: 1 to 12
	Keep int    // following bits that a word keeps; the row has the others
}

// dealCall is how many fingerprints one call into assembly takes: 50 microseconds.
const dealCall = 16384

// NewPiles makes empty piles in words, whose length must be 2 or a larger power of two for each
// pile; it panics otherwise.
func NewPiles(words []uint64, o PilesOptions) *Piles {
	room := bits.Len(uint(len(words)>>max(0, o.Bits))) - 1
	if o.Bits < 1 || o.Bits > 12 || o.Keep < 1 || o.Bits+o.Keep > 64 || room < 1 || len(words) != 1<<(o.Bits+room) || room+o.Bits > 31 {
		panic(fmt.Sprintf("asm: %d words for 2^%d piles of words that keep %d bits", len(words), o.Bits, o.Keep))
	}
	p := &Piles{
		words: words,
		next:  make([]uint32, 1<<o.Bits),
		mask:  o.Mask,
		bits:  o.Bits,
		room:  room,
		keep:  o.Keep,
		drop:  64 - o.Bits - o.Keep,
		index: bitSource(o.Mask, forward),
	}
	copy(p.index[:], slices.Clone(p.index[p.drop:p.drop+p.keep]))
	for i := range p.next {
		p.next[i] = uint32(i << room)
	}
	return p
}

// Deal permutes fingerprints, the first of which has number row, and puts each on its
// pile. It stops behind the one that fills a pile and returns how many are done and
// which pile is full, -1 if none is; Take must empty it before Deal goes on. Rows
// must fit the 64-Keep bits that a word has for them.
//
// Napkin, AVX-512: 14 operations a fingerprint, 2.5 cycles, as long as the lines where
// piles grow stay in the first-level cache. With 64 piles it is 3.2 cycles, with 256,
// whose places share few of its sets, 7.
func (p *Piles) Deal(src []uint64, row uint64) (done, full int) {
	if len(src) > 0 && (row+uint64(len(src))-1)>>(64-p.keep) != 0 {
		panic(fmt.Sprintf("asm: rows %d to %d do not fit %d bits", row, row+uint64(len(src))-1, 64-p.keep))
	}
	raceRead(src)
	raceWrite(p.next)
	raceWrite(p.words)
	for done < len(src) {
		part := src[done:min(done+dealCall, len(src))]
		n, full := deal(p, part, row+uint64(done))
		done += n
		if full >= 0 {
			return done, full
		}
	}
	return done, -1
}

// Len is the number of piles.
func (p *Piles) Len() int { return len(p.next) }

// Take is the words of a pile, in order of their rows. The pile is empty then; the
// words stay what they are until the next call of Deal.
func (p *Piles) Take(pile int) []uint64 {
	from, to := uint32(pile<<p.room), p.next[pile]
	p.next[pile] = from
	return p.words[from:to]
}

// Row is the row of a word.
func (p *Piles) Row(word uint64) uint64 { return word >> p.keep }
