package segment

import "math/bits"

// A RowSet is some rows of a segment: a bit for each. One goroutine may change it, and any number
// read it then.
type RowSet struct {
	words []uint64
	n     uint64
}

// NewRowSet returns all of n rows.
func NewRowSet(n uint64) *RowSet {
	s := &RowSet{words: make([]uint64, (n+63)/64), n: n}
	for i := range s.words {
		s.words[i] = ^uint64(0)
	}
	if n%64 > 0 {
		s.words[n/64] = 1<<(n%64) - 1
	}
	return s
}

// Drop takes a row out, which must be one of the n.
func (s *RowSet) Drop(row uint64) {
	bit := uint64(1) << (row % 64)
	if s.words[row/64]&bit != 0 {
		s.words[row/64] &^= bit
		s.n--
	}
}

// Has reports whether a row, which must be one of the n, is in the set. All are in a nil one.
func (s *RowSet) Has(row uint64) bool { return s == nil || s.words[row/64]>>(row%64)&1 != 0 }

// Len returns how many rows are in the set.
func (s *RowSet) Len() uint64 { return s.n }

// Runs calls yield with each run of consecutive rows of those from row to row end that are in the
// set, ascending, until it returns false. Of a nil set that is one.
func (s *RowSet) Runs(row, end uint64, yield func(row, n uint64) bool) {
	if s == nil {
		if row < end {
			yield(row, end-row)
		}
		return
	}
	for row < end {
		if row = s.next(row, end, 0); row == end {
			return
		}
		past := s.next(row, end, ^uint64(0))
		if !yield(row, past-row) {
			return
		}
		row = past
	}
}

// next returns the first row from row on, before end, that is in the set, where invert is 0, or
// that is not, where it is all ones; or end.
func (s *RowSet) next(row, end, invert uint64) uint64 {
	for row < end {
		if w := (s.words[row/64] ^ invert) >> (row % 64); w != 0 {
			return min(row+uint64(bits.TrailingZeros64(w)), end)
		}
		row = (row/64 + 1) * 64
	}
	return end
}

// A rowRanks counts the rows of a set before any of them: 1/8 bit a row beside it.
type rowRanks struct {
	*RowSet
	before []uint64 // the first row of each rankedWords words
}

const rankedWords = 8

// rank counts the rows of a set: a pass over its bits.
func rank(s *RowSet) rowRanks {
	r := rowRanks{RowSet: s}
	seen := uint64(0)
	for i, w := range s.words {
		if i%rankedWords == 0 {
			r.before = append(r.before, seen)
		}
		seen += uint64(bits.OnesCount64(w))
	}
	return r
}

// of returns how many rows of the set are before a row.
func (r *rowRanks) of(row uint64) uint64 {
	i := row / 64
	n := r.before[i/rankedWords] + uint64(bits.OnesCount64(r.words[i]&(1<<(row%64)-1)))
	for _, w := range r.words[i/rankedWords*rankedWords : i] {
		n += uint64(bits.OnesCount64(w))
	}
	return n
}
