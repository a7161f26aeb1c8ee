package segment

import "math/bits"

// A RowSet is a set of rows of a segment, with one bit per row. Only one goroutine may change it; afterwards, any
// number may read it.
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

// Drop removes a row, which must be less than n.
func (s *RowSet) Drop(row uint64) {
	bit := uint64(1) << (row % 64)
	if s.words[row/64]&bit != 0 {
		s.words[row/64] &^= bit
		s.n--
	}
}

// Has reports whether a row, which must be less than n, is in the set. A nil set contains all rows.
func (s *RowSet) Has(row uint64) bool { return s == nil || s.words[row/64]>>(row%64)&1 != 0 }

// Len returns the number of rows in the set.
func (s *RowSet) Len() uint64 { return s.n }

// Runs calls yield with each run of consecutive rows in the set from row to end, in ascending order, until yield
// returns false. A nil set has one run.
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
		stop := s.next(row, end, ^uint64(0))
		if !yield(row, stop-row) {
			return
		}
		row = stop
	}
}

// next returns the first row of [row, end) that is in the set if invert is 0, or that is not in the set if invert is
// all ones. Without such a row it returns end.
func (s *RowSet) next(row, end, invert uint64) uint64 {
	for row < end {
		if w := (s.words[row/64] ^ invert) >> (row % 64); w != 0 {
			return min(row+uint64(bits.TrailingZeros64(w)), end)
		}
		row = (row/64 + 1) * 64
	}
	return end
}

// A rowRanks counts the rows of a set before any row. It needs 1/8 bit per row in addition to the set.
type rowRanks struct {
	*RowSet
	counts []uint64 // number of rows before each group of rankedWords words
}

const rankedWords = 8

// rank counts the rows of a set.
func rank(s *RowSet) rowRanks {
	r := rowRanks{RowSet: s}
	count := uint64(0)
	for i, w := range s.words {
		if i%rankedWords == 0 {
			r.counts = append(r.counts, count)
		}
		count += uint64(bits.OnesCount64(w))
	}
	return r
}

// rankOf returns the number of rows of the set before a row.
func (r *rowRanks) rankOf(row uint64) uint64 {
	i := row / 64
	n := r.counts[i/rankedWords] + uint64(bits.OnesCount64(r.words[i]&(1<<(row%64)-1)))
	for _, w := range r.words[i/rankedWords*rankedWords : i] {
		n += uint64(bits.OnesCount64(w))
	}
	return n
}
