package radix

import (
	"math/bits"
	"slices"

	"ndd/asm"
	"ndd/engine/memory"
)

const (
	leafMax   = 24      // elements that are left to an insertion sort
	cachedMax = 1 << 16 // elements that are split into leaves at once: 512 KiB and as much for the copy
	leafDigit = 15      // bits of the digit that does it: 128 KiB of counters
	splitAim  = 13      // log2 of the elements of the buckets that a larger one is split into
)

// A worker is the working memory of one thread.
type worker[E element] struct {
	tmp    *memory.Buffer[E]
	counts [][]uint32 // by depth of recursion
	ends   []uint32   // of [Buckets]
}

// free gives the memory back.
func (w *worker[E]) free() {
	w.tmp.Free()
	*w = worker[E]{}
}

// sort sorts a by the lowest low bits of its keys, the others being equal.
func (w *worker[E]) sort(a []E, low int) error {
	if len(a) <= leafMax || low == 0 {
		insertion(a)
		return nil
	}
	if err := w.room(len(a)); err != nil {
		return err
	}
	var e E
	if len(e) == 1 && asm.Accelerated(asm.KernelSortLeaves) {
		w.leaves(asWords(a), asWords(a), asWords(w.tmp.Data[:len(a)]), low, 0)
	} else {
		w.split(a, low, 0)
	}
	return nil
}

// room makes tmp hold n elements. The error is that of a lack of memory.
func (w *worker[E]) room(n int) (err error) {
	if w.tmp != nil && len(w.tmp.Data) >= n {
		return nil
	}
	w.tmp.Free()
	if w.tmp, err = memory.Make[E](max(n+n/4, 1<<bucketAim)); err != nil {
		w.tmp = nil
	}
	return err
}

// split sorts a, which has more than leafMax elements, by its digit below bit
// low, and its buckets by the lower ones.
func (w *worker[E]) split(a []E, low, depth int) {
	digit := bits.Len(uint(len(a)))
	if len(a) > cachedMax {
		digit -= splitAim
	}
	digit = min(digit, leafDigit, low)
	shift := uint(low-digit) & 63
	mask := uint64(1)<<digit - 1
	tmp := w.tmp.Data[:len(a)]

	ends := w.counters(depth, digit)
	for i := range a {
		ends[a[i][0]>>shift&mask]++
	}
	at, largest := uint32(0), uint32(0)
	for d, n := range ends {
		ends[d] = at
		at += n
		largest = max(largest, n)
	}
	for i := range a {
		d := a[i][0] >> shift & mask
		p := ends[d]
		tmp[p] = a[i]
		ends[d] = p + 1
	}
	if largest <= leafMax || shift == 0 {
		insertionTo(a, tmp)
		return
	}
	copy(a, tmp)
	from := uint32(0)
	for _, to := range ends {
		switch leaf := a[from:to]; {
		case len(leaf) <= leafMax:
			insertion(leaf)
		default:
			w.split(leaf, int(shift), depth+1)
		}
		from = to
	}
}

// counters returns zeros, one for each value of a digit, for a depth of the recursion.
func (w *worker[E]) counters(depth, digit int) []uint32 {
	for len(w.counts) <= depth {
		w.counts = append(w.counts, make([]uint32, 1<<leafDigit))
	}
	c := w.counts[depth][:1<<digit]
	clear(c)
	return c
}

// insertionTo copies src to dst in order. src is almost sorted: elements are out of
// order only within their leaf.
func insertionTo[E element](dst, src []E) {
	dst = dst[:len(src)]
	before := uint64(0)
	for i := range src {
		if k := src[i][0]; k >= before {
			dst[i], before = src[i], k
			continue
		}
		e := src[i]
		j := i
		for ; j > 0 && dst[j-1][0] > e[0]; j-- {
			dst[j] = dst[j-1]
		}
		dst[j] = e
	}
}

// insertion sorts a few elements.
func insertion[E element](a []E) {
	for i := 1; i < len(a); i++ {
		e := a[i]
		j := i
		for ; j > 0 && a[j-1][0] > e[0]; j-- {
			a[j] = a[j-1]
		}
		a[j] = e
	}
}

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
