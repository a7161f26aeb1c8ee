package sketch

import (
	"cmp"
	"math/bits"
	"slices"

	"example.org/ndd/engine/corpus/token"
)

// bins are the winners of all bins; 0 in a bin that has no shingle.
type bins [Bins]uint32

// add lets a shingle compete in its bin.
func (b *bins) add(shingle uint64) {
	winner := &b[shingle>>(64-binBits)]
	*winner = max(*winner, uint32(shingle)|1) // without a branch, which each sixth or so would mispredict
}

// minHash returns the min-hash of a text that has shingles.
func (b *bins) minHash() Sketch {
	var t table
	t.fill(b)
	d := densifier{own: t.plane(0)}
	d.lent[0] = t.plane(1)
	d.have, d.hash = d.own, d.lent[0]
	full := ^uint64(0)
	for _, word := range d.have {
		full &= word
	}
	var zero plane
	for round := 1; ^full != 0; round++ {
		now, next := &d.lent[round%registerBits], &d.lent[(round+1)%registerBits]
		if round < registerBits {
			*now, next = t.plane(round+1), &zero
		}
		full = d.borrow(now, next, orders[round-1])
	}
	d.hash[Words-1] |= minHash
	return Sketch(d.hash)
}

// A plane has one bit of each bin. An operation on one of its words serves 64 bins.
type plane [Words]uint64

// A densifier gives winners to the bins without one, and takes a bit of each winner. Bit t of a winner, which serves the bin
// that borrows it in round t, is made of 7 bits by a shift register with feedback. So any two of 127 bits are independent.
type densifier struct {
	own  plane               // bins that have a shingle
	have plane               // bins that have a winner, be it their own or a borrowed one
	hash plane               // the bits of these
	lent [registerBits]plane // bits of the winners: bit t of the last rounds t, modulo registerBits
}

const registerBits = 7

// borrow is a round. It turns the bits now, of seven rounds ago, into those of this round, and returns the bits that all words
// of have have in common.
func (d *densifier) borrow(now, next *plane, order uint16) (full uint64) {
	word, turn := uint(order/64), int(order)
	return d.word(now, next, 0, word, turn) & d.word(now, next, 1, word, turn) & d.word(now, next, 2, word, turn) &
		d.word(now, next, 3, word, turn) & d.word(now, next, 4, word, turn) & d.word(now, next, 5, word, turn) &
		d.word(now, next, 6, word, turn) & d.word(now, next, 7, word, turn)
}

// word is a round of 64 bins.
func (d *densifier) word(now, next *plane, i, word uint, turn int) (have uint64) {
	from := (i ^ word) % Words
	now[from] ^= next[from]
	fresh := bits.RotateLeft64(d.own[from], turn) &^ d.have[i]
	d.have[i] |= fresh
	d.hash[i] |= bits.RotateLeft64(now[from], turn) & fresh
	return d.have[i]
}

// orders are the numbers 1 to Bins-1 in an order without a pattern: with those of a binary tree the estimates of short texts
// deviate half as much again.
var orders = func() (o [Bins - 1]uint16) {
	for i := range o {
		o[i] = uint16(i + 1)
	}
	slices.SortFunc(o[:], func(a, b uint16) int { return cmp.Compare(token.Mix(uint64(a)), token.Mix(uint64(b))) })
	return o
}()

// A table has the low bytes of the winners, in an order in which eight bins of a plane are taken at once: byte c of row 8w + r is
// of bin 64w + 8c + r.
type table [Bins / 8]uint64

// fill takes the low bytes of winners.
func (t *table) fill(b *bins) {
	for i := range Words {
		w, eight := (*[64]uint32)(b[64*i:]), (*[8]uint64)(t[8*i:])
		for r := range eight {
			eight[r] = uint64(uint8(w[r])) | uint64(uint8(w[8+r]))<<8 | uint64(uint8(w[16+r]))<<16 | uint64(uint8(w[24+r]))<<24 |
				uint64(uint8(w[32+r]))<<32 | uint64(uint8(w[40+r]))<<40 | uint64(uint8(w[48+r]))<<48 | uint64(uint8(w[56+r]))<<56
		}
	}
}

// plane returns one of the bits 0 to 7 of the winners. Bit 0 is 1 in a bin that has a shingle.
func (t *table) plane(bit int) (p plane) {
	const low = 0x0101010101010101
	for i := range p {
		x := (*[8]uint64)(t[8*i:])
		p[i] = x[0]>>(bit&7)&low | x[1]>>(bit&7)&low<<1 | x[2]>>(bit&7)&low<<2 | x[3]>>(bit&7)&low<<3 |
			x[4]>>(bit&7)&low<<4 | x[5]>>(bit&7)&low<<5 | x[6]>>(bit&7)&low<<6 | x[7]>>(bit&7)&low<<7
	}
	return p
}
