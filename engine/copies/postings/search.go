package postings

import (
	"math"
	"slices"
	"sort"

	"ndd/asm"
)

// A search is what one goroutine does of a slice: it finds the pairs of queries with the documents of the slice.
type search struct {
	*joining
	seen       []uint32 // by document of the slice: the last query, counted from 1, that it was a candidate of
	asked      uint32
	candidates []candidate // of some queries
	places     []uint64    // to prefetch
	last       bounds

	pairs []Pair
	sent  Traffic

	verified, lookups, postings uint64 // candidates, lists that were looked at, and documents of these
}

// A candidate is a query and a document, by rank, that must share so many signatures.
type candidate struct {
	query, rank  uint32
	need         int
	doc, queried uint32 // the two documents
}

// bounds are what follows of a query's size: the first rank of those that are too large.
type bounds struct{ size, end int }

func newSearch(j *joining) *search {
	return &search{joining: j, seen: make([]uint32, j.index.docs.to-j.index.docs.from)}
}

// documents finds what is at least as large as each query and similar to it.
func (s *search) documents(queries span) {
	s.candidates = s.candidates[:0]
	for query := queries.from; query < queries.to; query++ {
		s.prefetch(query)
		size := int(s.sizes[query])
		s.sent.Sent++
		s.sent.SentBytes += documentBytes + signatureBytes*uint64(size)
		if numbers := s.index.sets.at(query - s.index.asked.from); len(numbers) > 0 {
			s.find(query, size, numbers)
		}
	}
	s.verify()
}

// prefetch requests what queries will read soon: where their lists are, and, when that is there, what these hold.
func (s *search) prefetch(query int) {
	const ahead = 6
	x := s.index
	if next := query + 2*ahead; next < x.asked.to {
		s.places = s.places[:0]
		for _, number := range x.sets.at(next - x.asked.from) {
			s.places = append(s.places, uint64(number))
		}
		asm.PrefetchAt(x.lists.ends, s.places)
	}
	if next := query + ahead; next < x.asked.to {
		s.places = s.places[:0]
		for _, number := range x.sets.at(next - x.asked.from) {
			s.places = append(s.places, uint64(x.lists.ends[number])-1)
		}
		asm.PrefetchAt(x.lists.values, s.places)
	}
}

// find collects the candidates of a query: the larger documents of the slice that are found by one of its signatures.
func (s *search) find(query, size int, numbers []uint32) {
	if s.asked++; s.asked == math.MaxUint32 {
		clear(s.seen)
		s.asked = 1
	}
	x := s.index
	from, end := max(query+1, x.docs.from), s.boundsOf(size).end
	for _, number := range numbers {
		list := x.lists.at(int(number))
		at, _ := slices.BinarySearch(list, uint32(from))
		s.lookups++
		s.postings += uint64(len(list) - at)
		for _, rank := range list[at:] {
			if int(rank) >= end {
				break
			}
			if seen := &s.seen[int(rank)-x.docs.from]; *seen != s.asked {
				*seen = s.asked
				s.candidate(query, int(rank), size)
			}
		}
	}
}

// boundsOf returns the bounds of a size, which are those of the last call where that was of the same.
func (s *search) boundsOf(size int) bounds {
	if s.last.size != size {
		s.last = bounds{size, s.index.docs.to}
		if largest := s.o.largest(size); largest < math.MaxInt {
			s.last.end = sort.Search(s.index.docs.to, func(i int) bool { return int(s.sizes[i]) > largest })
		}
	}
	return s.last
}

// candidate keeps a candidate whose sets are to be compared, if there are enough signatures that others have, too.
func (s *search) candidate(query, rank, size int) {
	s.verified++
	need := s.o.needed(size, int(s.sizes[rank]))
	if need > min(s.prefixes.shared(query), s.prefixes.shared(rank)) {
		return
	}
	s.candidates = append(s.candidates, candidate{query: uint32(query), rank: uint32(rank), need: need, doc: s.docs[rank], queried: s.docs[query]})
}

// verify keeps the candidates that share enough. What those behind need is requested before.
func (s *search) verify() {
	const ahead = 4
	for i := range s.candidates {
		if i+2*ahead < len(s.candidates) {
			next := &s.candidates[i+2*ahead]
			s.places = append(s.places[:0], uint64(next.doc), uint64(next.queried))
			asm.PrefetchAt(s.sets.ends, s.places)
		}
		if i+ahead < len(s.candidates) {
			next := &s.candidates[i+ahead]
			prefetchSet(s.sets.set(next.doc))
			prefetchSet(s.sets.set(next.queried))
		}
		c := &s.candidates[i]
		if shared := sharedAtLeast(s.sets.set(c.queried), s.sets.set(c.doc), c.need); shared >= c.need {
			s.pairs = append(s.pairs, Pair{c.queried, c.doc, int(s.sizes[c.query]), int(s.sizes[c.rank]), shared}.ordered())
		}
	}
}

// prefetchSet requests a set, or its first signatures: the processor asks for those behind them by itself.
func prefetchSet(set []uint64) {
	const most = 128
	asm.PrefetchAll(set[:min(len(set), most)])
}

// sharedAtLeast counts what two ascending lists share; once that cannot be need any more, it ends with less.
func sharedAtLeast[T uint32 | uint64](a, b []T, need int) (n int) {
	for i, k := 0, 0; i < len(a) && k < len(b); {
		if n+min(len(a)-i, len(b)-k) < need {
			return 0
		}
		switch u, v := a[i], b[k]; {
		case u == v:
			n++
			i++
			k++
		case u < v:
			i++
		default:
			k++
		}
	}
	return n
}
