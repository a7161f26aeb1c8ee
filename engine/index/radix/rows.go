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
	if err := w.resize(2 * n); err != nil {
		return err
	}
	rowBits := bits.Len(uint(n - 1))
	if low+rowBits > 64 {
		return splitRows(w, keys, rows, low)
	}
	spare, words := w.tmp.Data[:n], w.tmp.Data[n:2*n]
	equal := keys[0] >> low << low
	for i, k := range keys {
		words[i] = (k^equal)<<rowBits | uint64(i)
	}
	w.sortTo(words, words, spare, low+rowBits, 0)
	previous := memory.Cast[R](spare)
	copy(previous, rows)
	mask := uint64(1)<<rowBits - 1
	for i, x := range words {
		keys[i] = equal | x>>rowBits
		rows[i] = previous[x&mask]
	}
	return nil
}

// splitRows splits a bucket with too many keys for [sortRows] by the digit below low, and sorts each part.
func splitRows[R row](w *worker, keys []uint64, rows []R, low int) error {
	n := len(keys)
	keysBefore, rowsBefore := w.tmp.Data[:n], memory.Cast[R](w.tmp.Data[n:2*n])
	copy(keysBefore, keys)
	copy(rowsBefore, rows)
	digit := min(rowsSplitDigit, low)
	shift := low - digit
	var ends [1 << rowsSplitDigit]uint32
	setStarts(ends[:1<<digit], keysBefore, uint(shift))
	for i, k := range keysBefore {
		d := k >> (shift & 63) & (1<<digit - 1)
		p := ends[d]
		keys[p], rows[p] = k, rowsBefore[i]
		ends[d] = p + 1
	}
	start := uint32(0)
	for _, end := range ends[:1<<digit] {
		if err := sortRows(w, keys[start:end], rows[start:end], shift); err != nil {
			return err
		}
		start = end
	}
	return nil
}
