package live

import (
	"math/bits"

	"ndd/asm"
)

// A memSearch is what a search looks for in memtables, and what it takes into account.
type memSearch struct {
	view      View
	k         int
	lengths   Lengths
	positions []uint32 // room
}

// takes reports whether the view sees a document, and it is not left out for its length.
func (a *memSearch) takes(m *memtable, row, query int) bool {
	doc := m.first + DocID(row)
	return doc < a.view.clock && !m.hides(doc, a.view.clock, a.view.now) && (!m.lengths || a.lengths.take(query, m.textBytes(row)))
}

// search appends a match for each document within k of a query, in no order. It ends soon after the one with which
// there are more than most matches, if most is not 0.
func (m *memtable) search(dst []Match, a *memSearch, queries []uint64, most int) []Match {
	n := m.before(a.view.clock)
	if n == 0 {
		return dst
	}
	b := m.blocks.Load()
	for q, query := range queries {
		take := func(f uint64, row uint32) bool {
			if a.takes(m, int(row), q) {
				dst = append(dst, Match{q, bits.OnesCount64(f ^ query), f, inMemtable, m.first + DocID(row)})
			}
			return most == 0 || len(dst) <= most
		}
		if b != nil {
			b.search(query, a.k, a.positions, take)
		} else {
			m.scan(0, n, query, a.k, a.positions, take)
		}
		if most > 0 && len(dst) > most {
			break
		}
	}
	return dst
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
	if b := m.blocks.Load(); b != nil {
		b.search(f, 0, a.positions, take)
	} else {
		m.scan(0, m.before(a.view.clock), f, 0, a.positions, take)
	}
	return more
}
