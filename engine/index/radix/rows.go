package radix

import (
	"math/bits"

	"example.org/ndd/engine/memory"
)

const (
	rowsDigitMax   = 14 // maximum bits of a leading digit of keys with rows: each digit has two write streams
	rowsSplitDigit = 8  // bits for splitting a bucket if positions do not fit in the word of a key
)

// sortRows sorts keys, with their rows, by their lowest low bits. All other bits must be equal. It is stable.
//
// It sorts words that contain these bits and the key's position. This is a sort of keys alone.
//
//	bucket 0x3a1   keys  3a1 7f.. | 3a1 02.. | 3a1 7f..        rows 12 40 77
//	               words 7f..  0  | 02..  1  | 7f..  2
//	     sorted    words 02..  1  | 7f..  0  | 7f..  2         rows 40 12 77
func sortRows[R row](w *worker, keys []uint64, rows []R, low int) error {
	n := len(keys)
	if n < 2 || low == 0 {
		return nil
	}
	if err := w.room(2 * n); err != nil {
		return err
	}
	place := bits.Len(uint(n - 1))
	if low+place > 64 {
		return splitRows(w, keys, rows, low)
	}
	spare, words := w.tmp.Data[:n], w.tmp.Data[n:2*n]
	equal := keys[0] >> low << low
	for i, k := range keys {
		words[i] = (k^equal)<<place | uint64(i)
	}
	w.sortTo(words, words, spare, low+place, 0)
	before := memory.As[R](spare)
	copy(before, rows)
	mask := uint64(1)<<place - 1
	for i, x := range words {
		keys[i] = equal | x>>place
		rows[i] = before[x&mask]
	}
	return nil
}

// splitRows splits a bucket with too many keys for [sortRows] by the digit below low, and sorts each part.
func splitRows[R row](w *worker, keys []uint64, rows []R, low int) error {
	n := len(keys)
	keysBefore, rowsBefore := w.tmp.Data[:n], memory.As[R](w.tmp.Data[n:2*n])
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
		if err := sortRows(w, keys[from:to], rows[from:to], shift); err != nil {
			return err
		}
		from = to
	}
	return nil
}
