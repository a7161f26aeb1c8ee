package live

import (
	"context"
	"math/bits"

	"ndd/asm"
)

// A memSearch is what a search looks for in memtables, and what it takes into account.
type memSearch struct {
	view      View
	k         int
	lengths   Lengths
	positions []uint32 // room

	first bool            // one document of each fingerprint is enough
	ctx   context.Context // that ends searches; may be nil
	asked int             // queries that were searched for
}

// ended returns the error of the context that ends searches.
func (a *memSearch) ended() error {
	if a.ctx == nil {
		return nil
	}
	return a.ctx.Err()
}

// goesOn counts a query, and reports whether it is to be searched for: it looks at the context now and then.
func (a *memSearch) goesOn() bool {
	a.asked++
	return a.asked%queriesAtOnce != 0 || a.ended() == nil
}

// takes reports whether the view sees a document, and it is not left out for its length.
func (a *memSearch) takes(m *memtable, row, query int) bool {
	doc := m.first + DocID(row)
	return doc < a.view.clock && !m.hides(doc, a.view.clock, a.view.now) && (!m.lengths || a.lengths.take(query, m.textBytes(row)))
}

// queriesAtOnce are searched before the context is looked at again.
const queriesAtOnce = 16

// search appends a match for each document within k of a query, in no order. It ends soon after the one with which
// there are more than most matches, if most is not 0, and soon after the context.
func (m *memtable) search(dst []Match, a *memSearch, queries []uint64, most int) []Match {
	if m.before(a.view.clock) == 0 {
		return dst
	}
	if a.first {
		return m.searchFirst(dst, a, queries, most)
	}
	for q, query := range queries {
		if !a.goesOn() {
			break
		}
		if q%prefetchQueries == 0 {
			m.prefetch(queries[q:min(q+prefetchQueries, len(queries))], a.k, len(queries) > prefetchQueries)
		}
		m.eachNear(a, query, func(f uint64, row uint32) bool {
			if a.takes(m, int(row), q) {
				dst = append(dst, Match{q, bits.OnesCount64(f ^ query), f, inMemtable, m.first + DocID(row)})
			}
			return most == 0 || len(dst) <= most
		})
		if most > 0 && len(dst) > most {
			break
		}
	}
	return dst
}

// searchFirst is search where one document of each fingerprint is enough. A fingerprint that was found is passed over, and of
// equal queries one is searched: the same query many times, or a fingerprint that very many documents have, costs little.
func (m *memtable) searchFirst(dst []Match, a *memSearch, queries []uint64, most int) []Match {
	found := make(map[uint64][2]int, len(queries)) // where in dst the matches of a query are
	for q, query := range queries {
		begin := len(dst)
		if at, again := found[query]; again && !a.lengths.filters() {
			for _, x := range dst[at[0]:at[1]] {
				x.query = q
				dst = append(dst, x)
			}
		} else if a.goesOn() {
			m.prefetch(queries[q:q+1], a.k, false)
			dst = m.appendFirst(dst, a, q, query, most)
			found[query] = [2]int{begin, len(dst)}
		} else {
			break
		}
		if most > 0 && len(dst) > most {
			break
		}
	}
	return dst
}

// appendFirst appends a match for the first document of each fingerprint within k of a query.
func (m *memtable) appendFirst(dst []Match, a *memSearch, q int, query uint64, most int) []Match {
	var seen map[uint64]bool // fingerprints
	begin := len(dst)
	m.eachNear(a, query, func(f uint64, row uint32) bool {
		if n := len(dst); n > begin && dst[n-1].fingerprint == f || seen[f] || !a.takes(m, int(row), q) {
			return true
		}
		if seen == nil {
			seen = map[uint64]bool{}
		}
		seen[f] = true
		dst = append(dst, Match{q, bits.OnesCount64(f ^ query), f, inMemtable, m.first + DocID(row)})
		return most == 0 || len(dst) <= most
	})
	return dst
}

// eachNear calls yield with each row that is within k of a query, those of a fingerprint ascending, until that returns false. Rows that
// the view does not see may be among them.
func (m *memtable) eachNear(a *memSearch, query uint64, yield func(f uint64, row uint32) bool) {
	from := 0 // of what is scanned: looked at first, since rows go into buckets meanwhile
	if b := m.blocks.Load(); b != nil {
		if from = int(b.rows.Load()); !b.search(query, a.k, uint32(from), a.positions, yield) {
			return
		}
	}
	m.scan(from, m.before(a.view.clock), query, a.k, a.positions, yield)
}

// since appends a match for each document from number from on that is within k of a query.
func (m *memtable) since(dst []Match, a *memSearch, from DocID, queries []uint64) []Match {
	begin := 0
	if from > m.first {
		begin = int(from - m.first)
	}
	for q, query := range queries {
		m.scan(begin, m.before(a.view.clock), query, a.k, a.positions, func(f uint64, row uint32) bool {
			if a.takes(m, int(row), q) {
				dst = append(dst, Match{q, bits.OnesCount64(f ^ query), f, inMemtable, m.first + DocID(row)})
			}
			return true
		})
	}
	return dst
}

// scan calls yield with each of rows [from, to) that is within k of a query, in order, until that
// returns false.
func (m *memtable) scan(from, to int, query uint64, k int, positions []uint32, yield func(f uint64, row uint32) bool) {
	m.eachPage(from, to, func(first int, prints []uint64) bool {
		for at := 0; at < len(prints); {
			n, done := asm.Within64(positions, prints[at:], query, k)
			for _, p := range positions[:n] {
				if !yield(prints[at+int(p)], uint32(first+at+int(p))) {
					return false
				}
			}
			at += done
		}
		return true
	})
}

// eachOf calls yield with each document of a fingerprint that the search takes, ascending, until that returns false.
func (m *memtable) eachOf(a *memSearch, f uint64, query int, yield func(DocID) bool) (more bool) {
	more = true
	take := func(_ uint64, row uint32) bool {
		if a.takes(m, int(row), query) {
			more = yield(m.first + DocID(row))
		}
		return more
	}
	exact := *a
	exact.k = 0
	m.eachNear(&exact, f, take)
	return more
}

// prefetch begins the misses of the buckets that a search for some queries looks at, and, where nobody has, of their heads.
func (m *memtable) prefetch(queries []uint64, k int, heads bool) {
	b := m.blocks.Load()
	if b == nil {
		return
	}
	if heads {
		b.prefetchHeads(queries, k)
	}
	b.prefetchBuckets(queries, k)
}

// prefetch begins the misses of a search for a few queries, which other work hides.
func (v *version) prefetch(queries []uint64, k int) {
	if len(queries) > prefetchQueries {
		return
	}
	for _, m := range v.memtables {
		if b := m.blocks.Load(); b != nil {
			b.prefetchHeads(queries, k)
			m.prefetchUnindexed(int(b.rows.Load()))
		}
	}
}

// prefetchUnindexed begins the misses of the rows from row from on, of which another processor may have written the last ones.
func (m *memtable) prefetchUnindexed(from int) {
	m.eachPage(from, m.len(), func(_ int, prints []uint64) bool {
		asm.PrefetchAll(prints)
		return false
	})
}
