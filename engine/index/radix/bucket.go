package radix

import (
	"math/bits"
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/engine/memory"
)

const (
	// leafMax is the maximum size of a leaf for an insertion sort of all leaves, without a kernel.
	leafMax   = 24
	cachedMax = 1 << 16 // maximum number of keys that are split into leaves in one step without a kernel: 512 KiB, and as much for the copy
	wideMax   = 1 << 17 // the same with a kernel that sorts the leaves: 1 MiB
	shortMax  = 128     // maximum number of keys that the standard library sorts
	leafDigit = 15      // maximum bits of the digit that splits into leaves: 128 KiB of counters
)

// A worker is the working memory of one thread.
type worker struct {
	tmp    *memory.Buffer[uint64]
	counts [][]uint32 // counters by depth of recursion
	ends   []uint32   // for [Buckets]
}

// free frees the memory.
func (w *worker) free() {
	w.tmp.Free()
	*w = worker{}
}

// sort sorts keys by their lowest low bits. All other bits must be equal.
func (w *worker) sort(keys []uint64, low int) error {
	if err := w.resize(len(keys)); err != nil {
		return err
	}
	w.sortTo(keys, keys, w.tmp.Data[:len(keys)], low, 0)
	return nil
}

// resize makes tmp at least n words long. It fails if memory is not available.
func (w *worker) resize(n int) (err error) {
	if w.tmp != nil && len(w.tmp.Data) >= n {
		return nil
	}
	w.tmp.Free()
	if w.tmp, err = memory.Make[uint64](max(n+n/4, 1<<bucketAim)); err != nil {
		w.tmp = nil
	}
	return err
}

// counters returns zeroed counters, one for each value of a digit, for a depth of the recursion.
func (w *worker) counters(depth, digit int) []uint32 {
	for len(w.counts) <= depth {
		w.counts = append(w.counts, make([]uint32, 1<<leafDigit))
	}
	c := w.counts[depth][:1<<digit]
	clear(c)
	return c
}

// insertionTo copies src to dst in order. src is almost sorted: keys are out of order only within their leaf.
func insertionTo(dst, src []uint64) {
	dst = dst[:len(src)]
	previous := uint64(0)
	for i, k := range src {
		if k >= previous {
			dst[i], previous = k, k
			continue
		}
		j := i
		for ; j > 0 && dst[j-1] > k; j-- {
			dst[j] = dst[j-1]
		}
		dst[j] = k
	}
}

// sortTo sorts the keys of src by their lowest low bits, with spare as a buffer. All other bits must be equal. The
// result is in dst, which may be src. A dst that is spare would take a tenth longer, because leaves would be read
// where others were just written. All three have the same length.
//
// With a kernel, leaves have four to eight keys, which asm.SortLeaves sorts in registers. Without one, they have less
// than one key on average, and an insertion sort of all leaves completes the order. Longer leaves, of skewed keys,
// are sorted recursively.
//
//	src --digit below low--> spare |..|.....|.|...|............| --each leaf--> dst
func (w *worker) sortTo(dst, src, spare []uint64, low, depth int) {
	if len(src) <= shortMax || low == 0 {
		copy(dst, src)
		if low > 0 {
			slices.Sort(dst)
		}
		return
	}
	// Choose the number of leaves by their target size.
	kernel := asm.Accelerated(asm.KernelSortLeaves)
	digit := bits.Len(uint(len(src)))
	switch {
	case kernel && len(src) > wideMax:
		digit -= bucketWide
	case kernel:
		digit -= 3
	case len(src) > cachedMax:
		digit -= bucketAim
	}
	digit = min(digit, leafDigit, low)
	shift := uint(low - digit)

	// Split into leaves. Without a kernel, an insertion sort completes the order.
	ends := w.counters(depth, digit)
	if largest := partition(spare, src, ends, shift); !kernel && (largest <= leafMax || shift == 0) {
		insertionTo(dst, spare)
		return
	}
	// Sort leaves with the kernel, and those that it refuses recursively.
	start, d := uint32(0), 0
	for {
		if d += asm.SortLeaves(dst, spare, ends[d:], start); d == len(ends) {
			return
		}
		if d > 0 {
			start = ends[d-1]
		}
		end := ends[d]
		w.sortTo(dst[start:end], spare[start:end], src[start:end], int(shift), depth+1)
		start = end
		if d++; d == len(ends) {
			return
		}
	}
}

// partition moves src to dst by the digit with len(ends) values from bit shift on. ends must be zero, and becomes the
// ends of the values' keys. It returns the number of keys of the most frequent value.
func partition(dst, src []uint64, ends []uint32, shift uint) (largest uint32) {
	largest = setStarts(ends, src, shift)
	mask := uint64(len(ends) - 1)
	for _, k := range src {
		d := k >> (shift & 63) & mask
		p := ends[d]
		dst[p] = k
		ends[d] = p + 1
	}
	return largest
}

// setStarts sets ends, which must be zero, to the starts of the keys of each value of the digit from bit shift on. It
// returns the number of keys of the most frequent value.
func setStarts(ends []uint32, keys []uint64, shift uint) (largest uint32) {
	mask := uint64(len(ends) - 1)
	for _, k := range keys {
		ends[k>>(shift&63)&mask]++
	}
	start := uint32(0)
	for d, n := range ends {
		ends[d] = start
		start += n
		largest = max(largest, n)
	}
	return largest
}
