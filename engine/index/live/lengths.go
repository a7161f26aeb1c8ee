package live

import "errors"

// ErrNoLengths is wrapped where lengths of texts are asked for and fingerprints have none beside them.
var ErrNoLengths = errors.New("the lengths of the texts are not kept")

// Lengths leaves out documents whose texts are much longer or shorter than the query's. The zero value leaves out none.
type Lengths struct {
	Ratio float64  // the longer text may have so many times the bytes of the shorter one; 0: any
	Of    []uint32 // of the queries' texts, by query; 0 where one is not known, and nil for none
}

// take reports whether a document with a text of so many bytes is not left out for a query. Lengths of 0 are not known.
func (l Lengths) take(query int, bytes uint32) bool {
	if !l.filters() || l.Of[query] == 0 || bytes == 0 {
		return true
	}
	a, b := float64(l.Of[query]), float64(bytes)
	return max(a, b) <= l.Ratio*min(a, b)
}

// filters reports whether something may be left out.
func (l Lengths) filters() bool { return l.Ratio > 0 && l.Of != nil }

// From returns the lengths of the queries from number first on.
func (l Lengths) From(first int) Lengths {
	if l.Of != nil {
		l.Of = l.Of[first:]
	}
	return l
}
