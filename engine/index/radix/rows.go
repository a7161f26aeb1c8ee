package radix

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"ndd/asm"
)

const (
	rowsDigitMax   = 14 // bits of a leading digit of keys with rows: each has two write streams
	rowsSplitDigit = 8  // bits by which a bucket is split whose places do not fit beside its keys
)

// SortRows sets keys to the fingerprints of in, permuted and sorted, and rows to the row of each,
// rows of one fingerprint ascending: what [WalkPairs] gives, in 12 bytes a document instead of 16.
// Both must have the length of in, which must be less than 2^32. The error is that of ctx, or says
// that there is no memory for the buckets.
func SortRows(ctx context.Context, keys []uint64, rows []uint32, in Input, o Options) error {
	if len(rows) != len(keys) || uint64(len(keys)) > math.MaxUint32 {
		panic(fmt.Sprintf("radix: %d rows of %d keys", len(rows), len(keys)))
	}
	s := newSorter(in, o, makeKeys)
	s.rows = rows
	return s.into(ctx, asKeys(keys))
}

// placeRows returns where the rows of the next n sorted elements go; nil where rows are not kept.
func (s *sorter[E]) placeRows(n int) (to []uint32) {
	if s.rows != nil {
		to, s.rows = s.rows[:n:n], s.rows[n:]
	}
	return to
}

// rowsPutter returns a function that moves the keys of an interval, the first of which has a row,
// to their buckets in dst, and their rows to the same places of rows. Called with none, it
// completes them. Where all keys are of the interval, they go by cache lines, and the rows by
// themselves: the whole sort of 20 M takes 17 to 18 ns a document instead of 19 to 21, of 100 M 25
// instead of 36.
func rowsPutter(dst []uint64, rows []uint32, start []uint64, iv interval, shift uint) func(keys []uint64, row int) {
	if iv == (interval{0, ^uint64(0)}) {
		b := newBuckets(dst, start, 0, shift)
		return func(keys []uint64, row int) {
			if asm.Scatter(b, keys); keys == nil {
				asm.ScatterFlush(b)
			}
			for i, k := range keys {
				d := k >> (shift & 63)
				p := start[d]
				rows[p] = uint32(row + i)
				start[d] = p + 1
			}
		}
	}
	span := iv.high - iv.low
	return func(keys []uint64, row int) {
		for i, k := range keys {
			if k-iv.low > span {
				continue
			}
			d := (k - iv.low) >> (shift & 63)
			p := start[d]
			dst[p], rows[p] = k, uint32(row+i)
			start[d] = p + 1
		}
	}
}

// sortRows sorts keys by their lowest low bits, the others being equal, and their rows with them.
// Equal keys stay in order.
//
// It sorts words of those bits and of the place that the key has now: a sort of keys alone.
//
//	bucket 0x3a1   keys  3a1 7f.. | 3a1 02.. | 3a1 7f..        rows 12 40 77
//	               words 7f..  0  | 02..  1  | 7f..  2
//	     sorted    words 02..  1  | 7f..  0  | 7f..  2         rows 40 12 77
func (w *worker[E]) sortRows(keys []uint64, rows []uint32, low int) error {
	n := len(keys)
	if n < 2 || low == 0 {
		return nil
	}
	if err := w.room(2 * n); err != nil {
		return err
	}
	place := bits.Len(uint(n - 1))
	if low+place > 64 {
		return w.splitRows(keys, rows, low)
	}
	tmp := asWords(w.tmp.Data[:2*n])
	spare, words := tmp[:n], tmp[n:]
	equal := keys[0] >> low << low
	for i, k := range keys {
		words[i] = (k^equal)<<place | uint64(i)
	}
	w.words(words, spare, low+place)
	before := wordsAsRows(spare)[:n]
	copy(before, rows)
	mask := uint64(1)<<place - 1
	for i, x := range words {
		keys[i] = equal | x>>place
		rows[i] = before[x&mask]
	}
	return nil
}

// words sorts words by their lower bits in place, by way of spare, which lies at the beginning of w.tmp.
func (w *worker[E]) words(words, spare []uint64, low int) {
	switch {
	case asm.Accelerated(asm.KernelSortLeaves):
		w.leaves(words, words, spare, low, 0)
	case len(words) <= leafMax:
		insertion(asKeys(words))
	default:
		w.split(wordsAs[E](words), low, 0)
	}
}

// splitRows splits keys that are too many for [worker.sortRows] by their digit below low, and sorts each part.
func (w *worker[E]) splitRows(keys []uint64, rows []uint32, low int) error {
	n := len(keys)
	tmp := asWords(w.tmp.Data[:2*n])
	keysBefore, rowsBefore := tmp[:n], wordsAsRows(tmp[n:])[:n]
	copy(keysBefore, keys)
	copy(rowsBefore, rows)
	digit := min(rowsSplitDigit, low)
	shift := low - digit
	var ends [1 << rowsSplitDigit]uint32
	place(ends[:1<<digit], keysBefore, uint(shift))
	for i, k := range keysBefore {
		d := k >> (shift & 63) & (1<<digit - 1)
		p := ends[d]
		keys[p], rows[p] = k, rowsBefore[i]
		ends[d] = p + 1
	}
	from := uint32(0)
	for _, to := range ends[:1<<digit] {
		if err := w.sortRows(keys[from:to], rows[from:to], shift); err != nil {
			return err
		}
		from = to
	}
	return nil
}
