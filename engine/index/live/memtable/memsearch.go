package memtable

import (
	"context"

	"example.org/ndd/engine/index/live/rows"
)

// A Search holds the parameters and the scratch memory of memtable searches.
type Search struct {
	rows.Moment
	Now       rows.Time
	K         int
	Verifier  rows.Verifier
	Positions []uint32 // scratch memory

	First    bool            // find only one document of each fingerprint
	Ctx      context.Context // cancels searches; may be nil
	searched int             // number of queries that were searched
}

// Ended returns the error of the context, once enough queries were searched to check it.
func (a *Search) Ended() error {
	if a.Ctx == nil || a.searched < queriesAtOnce {
		return nil
	}
	return a.Ctx.Err()
}

// next counts a query and reports whether to search it. It checks the context from time to time.
func (a *Search) next() bool {
	a.searched++
	return a.searched%queriesAtOnce != 0 || a.Ended() == nil
}

// takes reports whether the view includes a document and the verifier accepts it, and returns the similarity.
func (a *Search) takes(m *Table, row, query int) (similarity float32, ok bool) {
	doc := m.First + rows.DocID(row)
	if doc >= a.Clock || m.Hides(doc, a.Moment, a.Now) {
		return 0, false
	}
	return a.Verifier.Judge(query, m.Sketch(row))
}

// queriesAtOnce is the number of queries between two checks of the context.
const queriesAtOnce = 16

// Search appends a match for each document within k of a query, in no order. With a.First it appends one document of
// each fingerprint; it then searches equal queries once and skips fingerprints that it has found. It ends soon after it
// has more than limit matches, if limit is not 0, and soon after the context ends.
func (m *Table) Search(dst []rows.Match, a *Search, queries []uint64, limit int) []rows.Match {
	if m.Before(a.Clock) == 0 {
		return dst
	}
	var found map[uint64][2]int // range of dst with the matches of a query
	if a.First {
		found = make(map[uint64][2]int, len(queries))
	}
	for q, query := range queries {
		// Load the buckets of the next queries.
		if q%prefetchQueries == 0 {
			m.prefetch(queries[q:min(q+prefetchQueries, len(queries))], a.K, len(queries) > prefetchQueries)
		}
		// Search the query, or copy the matches of an equal one.
		begin := len(dst)
		if span, repeated := found[query]; repeated && !a.Verifier.Active() {
			for _, x := range dst[span[0]:span[1]] {
				x.Query = q
				dst = append(dst, x)
			}
		} else if a.next() {
			dst = m.searchOne(dst, a, q, query, limit)
		} else {
			break
		}
		if a.First {
			found[query] = [2]int{begin, len(dst)}
		}
		if limit > 0 && len(dst) > limit {
			break
		}
	}
	return dst
}

// searchOne is [Table.Search] of query number q.
func (m *Table) searchOne(dst []rows.Match, a *Search, q int, query uint64, limit int) []rows.Match {
	var seen map[uint64]bool // fingerprints
	begin := len(dst)
	m.eachNear(a, m.Before(a.Clock), query, func(f uint64, row uint32) bool {
		if n := len(dst); a.First && (n > begin && dst[n-1].Fingerprint == f || seen[f]) {
			return true
		}
		similarity, ok := a.takes(m, int(row), q)
		if !ok {
			return true
		}
		if a.First {
			if seen == nil {
				seen = map[uint64]bool{}
			}
			seen[f] = true
		}
		dst = append(dst, rows.NewDocMatch(q, query, f, m.First+rows.DocID(row), similarity))
		return limit == 0 || len(dst) <= limit
	})
	return dst
}

// Since appends a match for each document from number first on that is within k of a query.
func (m *Table) Since(dst []rows.Match, a *Search, first rows.DocID, query uint64) []rows.Match {
	begin := 0
	if first > m.First {
		begin = int(first - m.First)
	}
	m.scan(begin, m.Before(a.Clock), query, a.K, a.Positions, func(f uint64, row uint32) bool {
		if similarity, ok := a.takes(m, int(row), 0); ok {
			dst = append(dst, rows.NewDocMatch(0, query, f, m.First+rows.DocID(row), similarity))
		}
		return true
	})
	return dst
}

// Each calls yield with each document within k of q, the query with the given number, and its similarity, until yield
// returns false. It returns false if yield did. The documents of a fingerprint ascend.
func (m *Table) Each(a *Search, query int, q uint64, yield func(doc rows.DocID, similarity float32) bool) (more bool) {
	more = true
	m.eachNear(a, m.Before(a.Clock), q, func(_ uint64, row uint32) bool {
		if similarity, ok := a.takes(m, int(row), query); ok {
			more = yield(m.First+rows.DocID(row), similarity)
		}
		return more
	})
	return more
}
