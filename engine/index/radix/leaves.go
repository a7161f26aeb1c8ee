package radix

import (
	"math/bits"
	"slices"

	"ndd/asm"
)

const (
	wideMax  = 1 << 17 // keys that are split into leaves at once: 1 MiB, and as much for the copy
	shortMax = 128     // keys of a leaf that the standard library sorts
)

// leaves sorts keys, which lie in src, by their lowest low bits, the others being equal. It
// splits them, by way of spare, into leaves of four to eight, which asm.SortLeaves sorts in
// registers. The result goes to dst, which is src or spare; all three have the same length.
// Longer leaves, of skewed keys, are sorted as the whole is.
//
//	src --digit below low--> spare |..|.....|.|...|............| --each leaf--> dst
func (w *worker[E]) leaves(dst, src, spare []uint64, low, depth int) {
	if len(src) <= shortMax || low == 0 {
		copy(dst, src)
		if low > 0 {
			slices.Sort(dst)
		}
		return
	}
	digit := bits.Len(uint(len(src))) - 3
	if len(src) > wideMax {
		digit = bits.Len(uint(len(src))) - bucketWide
	}
	digit = min(digit, leafDigit, low)
	shift := uint(low - digit)

	ends := w.counters(depth, digit)
	partition(spare, src, ends, shift)
	from, d := uint32(0), 0
	for {
		if d += asm.SortLeaves(dst, spare, ends[d:], from); d == len(ends) {
			return
		}
		if d > 0 {
			from = ends[d-1]
		}
		to := ends[d]
		w.leaves(dst[from:to], spare[from:to], src[from:to], int(shift), depth+1)
		from = to
		if d++; d == len(ends) {
			return
		}
	}
}

// partition moves src to dst by the digit of len(ends) values from bit shift on, and sets
// ends, which are zeros, to where each value's keys end.
func partition(dst, src []uint64, ends []uint32, shift uint) {
	place(ends, src, shift)
	mask := uint64(len(ends) - 1)
	for _, k := range src {
		d := k >> (shift & 63) & mask
		p := ends[d]
		dst[p] = k
		ends[d] = p + 1
	}
}

// place sets ends, which are zeros, to where the keys of each value of the digit from bit shift on begin.
func place(ends []uint32, keys []uint64, shift uint) {
	mask := uint64(len(ends) - 1)
	for _, k := range keys {
		ends[k>>(shift&63)&mask]++
	}
	at := uint32(0)
	for d, n := range ends {
		ends[d] = at
		at += n
	}
}
