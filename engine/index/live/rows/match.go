package rows

import (
	"cmp"
	"math"
	"math/bits"
)

// A Match is a fingerprint of a segment or a memtable that is within the distance asked for of a
// query, or one document of a memtable.
type Match struct {
	Query       int // number of the query
	Distance    int
	Fingerprint uint64
	Source      int   // number of the segment, or of the memtable counted behind them, or oneDoc
	Doc         DocID // of a match whose source is oneDoc
}

// OneDoc is the source of a match that stands for one document. It sorts last, as memtables are
// behind the segments.
const OneDoc = math.MaxInt

// NewMatch returns the match of fingerprint f with q, which is query number query.
func NewMatch(query int, q, f uint64, source int) Match {
	return Match{Query: query, Distance: bits.OnesCount64(f ^ q), Fingerprint: f, Source: source}
}

// NewDocMatch returns the match of one document, whose fingerprint is f, with q, which is query
// number query.
func NewDocMatch(query int, q, f uint64, doc DocID) Match {
	m := NewMatch(query, q, f, OneDoc)
	m.Doc = doc
	return m
}

// CompareMatches orders matches by query, distance, fingerprint and source.
func CompareMatches(a, b Match) int {
	return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Distance, b.Distance),
		cmp.Compare(a.Fingerprint, b.Fingerprint), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Doc, b.Doc))
}
