package rows

import "errors"

// ErrNoLengths is wrapped where lengths of texts are asked for and fingerprints have none beside
// them.
var ErrNoLengths = errors.New("the lengths of the texts are not kept: 'ndd build --lengths' keeps those of .ndf files")

// Lengths leaves out documents whose texts are much longer or shorter than the query's. The zero
// value leaves out none.
type Lengths struct {
	Ratio float64  // the longer text may have so many times the bytes of the shorter one; 0: any
	Of    []uint32 // of the queries' texts, by query; 0 where one is not known, and nil for none
}

// Allow reports whether a document whose text has the given length is an answer for a query. A
// length of 0 is unknown.
func (l Lengths) Allow(query int, bytes uint32) bool {
	if !l.Filters() || l.Of[query] == 0 || bytes == 0 {
		return true
	}
	a, b := float64(l.Of[query]), float64(bytes)
	return max(a, b) <= l.Ratio*min(a, b)
}

// Filters reports whether something may be left out.
func (l Lengths) Filters() bool { return l.Ratio > 0 && l.Of != nil }

// From returns the lengths of the queries from number first on.
func (l Lengths) From(first int) Lengths {
	if l.Of != nil {
		l.Of = l.Of[first:]
	}
	return l
}
