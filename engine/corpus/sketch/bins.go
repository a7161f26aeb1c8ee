package sketch

import (
	"cmp"
	"math/bits"
	"slices"

	"example.org/ndd/engine/corpus/token"
)

// bins holds the winner of each bin; 0 in a bin that has no shingle.
type bins [Bins]uint32

// add sets the winner of a shingle's bin if the shingle has a larger rank.
func (b *bins) add(shingle uint64) {
	winner := &b[shingle>>(64-binBits)]
	*winner = max(*winner, uint32(shingle)|1) // without a branch, because about one of six would be mispredicted
}

// minHash returns the min-hash of a text that has at least one shingle.
func (b *bins) minHash() Sketch {
	var t table
	t.fill(b)
	d := densifier{present: t.plane(0)}
	d.lent[0] = t.plane(1)
	d.have, d.hash = d.present, d.lent[0]
	full := ^uint64(0)
	for _, word := range d.have {
		full &= word
	}
	var zero plane
	for round := 1; ^full != 0; round++ {
		current, next := &d.lent[round%registerBits], &d.lent[(round+1)%registerBits]
		if round < registerBits {
			*current, next = t.plane(round+1), &zero
		}
		full = d.borrow(current, next, orders[round-1])
	}
	d.hash[Words-1] |= minHash
	return Sketch(d.hash)
}

// A plane has one bit for each bin. An operation on one of its words processes 64 bins.
type plane [Words]uint64

// A densifier gives winners to the bins that have none, and takes one bit of each winner. A bin that borrows a winner
// in round t takes bit t of it. A shift register with feedback makes bit t from 7 bits of the winner. So any two of
// 127 bits are independent.
type densifier struct {
	present plane               // bins that have a shingle
	have    plane               // bins that have a winner, their own or a borrowed one
	hash    plane               // bits of the bins in have
	lent    [registerBits]plane // bits of the winners in the last registerBits rounds: round t at t % registerBits
}

const registerBits = 7

// borrow performs one round. It turns current, which holds the bits of seven rounds ago, into the bits of this round.
// It returns the bits that are set in all words of d.have.
func (d *densifier) borrow(current, next *plane, order uint16) (full uint64) {
	word, turn := uint(order/64), int(order)
	return d.word(current, next, 0, word, turn) & d.word(current, next, 1, word, turn) & d.word(current, next, 2, word, turn) &
		d.word(current, next, 3, word, turn) & d.word(current, next, 4, word, turn) & d.word(current, next, 5, word, turn) &
		d.word(current, next, 6, word, turn) & d.word(current, next, 7, word, turn)
}

// word performs the round for the 64 bins of word i. They borrow from word i XOR word, rotated left by turn bits.
func (d *densifier) word(current, next *plane, i, word uint, turn int) (have uint64) {
	from := (i ^ word) % Words
	current[from] ^= next[from]
	fresh := bits.RotateLeft64(d.present[from], turn) &^ d.have[i]
	d.have[i] |= fresh
	d.hash[i] |= bits.RotateLeft64(current[from], turn) & fresh
	return d.have[i]
}

// orders are the numbers 1 to Bins-1 in an order without a pattern. With the order of a binary tree, the deviation of
// the estimates of short texts is 1.5 times as large.
var orders = func() (o [Bins - 1]uint16) {
	for i := range o {
		o[i] = uint16(i + 1)
	}
	slices.SortFunc(o[:], func(a, b uint16) int { return cmp.Compare(token.Mix(uint64(a)), token.Mix(uint64(b))) })
	return o
}()

// A table holds the low bytes of the winners. Their order lets plane process eight bins at once: byte c of row 8w + r
// belongs to bin 64w + 8c + r.
type table [Bins / 8]uint64

// fill sets the table to the low bytes of the winners.
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
	const lowBits = 0x0101010101010101
	for i := range p {
		x := (*[8]uint64)(t[8*i:])
		p[i] = x[0]>>(bit&7)&lowBits | x[1]>>(bit&7)&lowBits<<1 | x[2]>>(bit&7)&lowBits<<2 | x[3]>>(bit&7)&lowBits<<3 |
			x[4]>>(bit&7)&lowBits<<4 | x[5]>>(bit&7)&lowBits<<5 | x[6]>>(bit&7)&lowBits<<6 | x[7]>>(bit&7)&lowBits<<7
	}
	return p
}
