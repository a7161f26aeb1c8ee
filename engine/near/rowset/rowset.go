// Package rowset holds sets of the rows of a corpus, a bit for each row.
package rowset

// A Set is a set of rows. The zero value is empty.
type Set []uint64

// Add adds a row.
func (s *Set) Add(row int) {
	for len(*s) <= row/64 {
		*s = append(*s, 0)
	}
	(*s)[row/64] |= 1 << (row % 64)
}

// Has reports whether a row is in the set.
func (s Set) Has(row int) bool { return row/64 < len(s) && s[row/64]>>(row%64)&1 == 1 }

// Bit returns 1 for a row of the set, else 0.
func (s Set) Bit(row int) int {
	if s.Has(row) {
		return 1
	}
	return 0
}
