package simhash

import "math/bits"

// votes counts, for each of 64 bits, the weight of the hashes that have it set, on machines without a
// vector kernel that is faster (see counters). The 64 counters lie bit by bit across words, so that adding one hash to all of them is a ripple of ANDs and XORs:
//
//	plane[0]  bit 0 of counter 63 ... bit 0 of counter 1, bit 0 of counter 0
//	plane[1]  bit 1 of counter 63 ... bit 1 of counter 0
//	...
//
// A ripple ends when no counter carries any more: about 7 planes on average for 64 independent counters,
// 3 instructions each. So hashes wait, for each bit of their weights, until there are eight of them, which
// a tree of carry-save adders brings down to one ripple. A hash of weight 8 costs about 3.5 ns that way, and
// one of weight 8 sqrt(t) 4.5 ns, where 64 separate counters took 80 ns.
//
// Counters of 64 bits cannot overflow before 2^32 features of weight 2^32.
type votes struct {
	plane   [64]uint64
	total   uint64 // weight of all hashes
	waiting [32][8]uint64
	count   [32]uint8 // hashes in waiting, for each bit of a weight; 0 to 7
}

// addWeighted adds hashes with their weights.
func (v *votes) addWeighted(hashes []uint64, weights []uint32) {
	weights = weights[:len(hashes)]
	for i, h := range hashes {
		v.total += uint64(weights[i])
		for w := weights[i]; w != 0; w &= w - 1 {
			bit := bits.TrailingZeros32(w) & 31
			n := v.count[bit] & 7
			v.waiting[bit][n] = h
			v.count[bit] = (n + 1) & 7
			if n == 7 {
				v.addEight(&v.waiting[bit], bit)
			}
		}
	}
}

// addEight adds 2^bit for each of eight hashes.
func (v *votes) addEight(h *[8]uint64, bit int) {
	plane := (*[3]uint64)(v.plane[bit:])
	ones, twosA := carrySave(plane[0], h[0], h[1])
	ones, twosB := carrySave(ones, h[2], h[3])
	twos, foursA := carrySave(plane[1], twosA, twosB)
	ones, twosA = carrySave(ones, h[4], h[5])
	ones, twosB = carrySave(ones, h[6], h[7])
	twos, foursB := carrySave(twos, twosA, twosB)
	fours, eights := carrySave(plane[2], foursA, foursB)
	plane[0], plane[1], plane[2] = ones, twos, fours
	v.ripple(eights, bit+3)
}

// settle adds the hashes that still wait.
func (v *votes) settle() {
	for bit, n := range v.count {
		for _, h := range v.waiting[bit][:n] {
			v.ripple(h, bit)
		}
		v.count[bit] = 0
	}
}

// ripple adds 2^plane to every counter whose bit is set in carry.
func (v *votes) ripple(carry uint64, plane int) {
	for ; carry != 0; plane++ {
		carry, v.plane[plane&63] = v.plane[plane&63]&carry, v.plane[plane&63]^carry
	}
}

// sign compares all 64 counters with half the total at once, from the most significant plane down: a
// counter is greater as soon as it has a 1 where half has a 0 and all planes above were equal. count >
// total/2 and count > floor(total/2) are the same for whole counts.
func (v *votes) sign() Fingerprint {
	v.settle()
	half := v.total / 2
	greater, equal := uint64(0), ^uint64(0)
	for i := bits.Len64(v.total); i >= 0; i-- {
		p := v.plane[i&63]
		if half>>uint(i)&1 == 0 {
			greater |= equal & p
			equal &^= p
		} else {
			equal &= p
		}
	}
	return Fingerprint(greater)
}

// carrySave adds three words bit by bit: sum is the low bit of each column, carry the high one.
func carrySave(a, b, c uint64) (sum, carry uint64) {
	x := a ^ b
	return x ^ c, a&b | x&c
}
