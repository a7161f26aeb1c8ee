package postings

import (
	"math"
	"slices"

	"ndd/asm"
)

// A Match is a document of an index that is similar to a set.
type Match struct {
	Doc          uint32 // in order of [Builder.Add]
	Size, Shared int    // signatures
}

// A Searcher finds the documents of a [Builder.Slice] that are similar to sets. It belongs to one goroutine; an Index may
// have many.
type Searcher struct {
	search
	matches []Match
}

// Searcher returns a Searcher, or says which option is out of range. It looks at all signatures, however many documents have
// them: Options.MaxDocuments and MaxEqual say nothing here.
func (x *Index) Searcher(o Options) (*Searcher, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	return &Searcher{search: newSearch(x, &o)}, nil
}

// AppendLarger appends the documents that are similar to a set and have at least as many signatures, in order of size, those of one
// set together: of two documents with different numbers of signatures, one finds the other.
func (s *Searcher) AppendLarger(dst []Match, set []uint64) []Match {
	if len(set) == 0 {
		return dst
	}
	s.matches = s.matches[:0]
	s.look(set)
	s.candidates(s.index.rankOf(len(set)), len(set), rarest(s.numbers, s.boundsOf(len(set)).least), func(rank, shared int) {
		s.matches = append(s.matches, Match{Doc: uint32(rank), Size: int(s.index.sizes[rank]), Shared: shared})
	})
	slices.SortFunc(s.matches, func(a, b Match) int { return int(a.Doc) - int(b.Doc) }) // by rank
	for _, m := range s.matches {
		rank := m.Doc
		m.Doc = s.index.docs[rank]
		group := s.index.equal[rank]
		if group == nil {
			dst = append(dst, m)
		}
		for _, m.Doc = range group {
			dst = append(dst, m)
		}
	}
	return dst
}

// A search is what one goroutine needs to compare sets with an index.
type search struct {
	index   *Index
	o       *Options
	seen    []uint32 // by rank: the last set, counted from 1, that it was a candidate of
	sets    uint32
	numbers []uint32 // of the set's signatures that the index has, ascending
	places  []uint64 // of their slots, to prefetch

	last bounds

	lists [][]uint32 // of the signatures that find candidates
	lasts []uint64   // and their last documents, to prefetch

	verified, lookups, postings uint64 // candidates, lists that were looked at, and documents of these
}

func newSearch(x *Index, o *Options) search {
	return search{index: x, o: o, seen: make([]uint32, len(x.docs))}
}

// look looks a set's signatures up.
func (s *search) look(set []uint64) {
	s.numbers = s.numbers[:0]
	s.places = s.index.numbers.prefetch(set, s.places)
	for _, hash := range set {
		if number := s.index.numbers.find(hash)[1]; number != 0 {
			s.numbers = append(s.numbers, uint32(number-1))
		}
	}
	slices.Sort(s.numbers)
}

// rarest returns those of a document's numbers by which it finds the documents that share at least least with it.
func rarest(numbers []uint32, least int) []uint32 {
	return numbers[:max(min(len(numbers)-least+1, len(numbers)), 0)]
}

// candidates calls yield with the documents of rank from and more that are similar to a set of so many signatures, whose numbers
// are s.numbers, and those by which it finds them rare.
func (s *search) candidates(from, size int, rare []uint32, yield func(rank, shared int)) {
	x := s.index
	if len(rare) == 0 || from >= len(x.docs) {
		return
	}
	if s.sets++; s.sets == math.MaxUint32 {
		clear(s.seen)
		s.sets = 1
	}
	end := s.boundsOf(size).end
	for _, list := range s.listsOf(rare) {
		at, _ := slices.BinarySearch(list, uint32(from))
		s.lookups++
		s.postings += uint64(len(list) - at)
		for _, other := range list[at:] {
			if int(other) >= end {
				break
			}
			if s.seen[other] != s.sets {
				s.seen[other] = s.sets
				s.verify(int(other), size, yield)
			}
		}
	}
}

// bounds are what follows of a size: how much is shared with sets at least as large, and the first rank of those too large.
type bounds struct{ size, least, end int }

// boundsOf returns the bounds of a size, which are those of the last call where that was of the same.
func (s *search) boundsOf(size int) bounds {
	if s.last.size != size {
		s.last = bounds{size, s.o.least(size), len(s.index.docs)}
		if largest := s.o.largest(size); largest < math.MaxInt {
			s.last.end = s.index.rankOf(largest + 1)
		}
	}
	return s.last
}

// listsOf returns the lists of those numbers that find candidates: the first ones. Their lines are requested all together.
func (s *search) listsOf(numbers []uint32) [][]uint32 {
	x := s.index
	if end, _ := slices.BinarySearch(numbers, uint32(x.common)); end < len(numbers) {
		numbers = numbers[:end]
	}
	s.lists, s.lasts = s.lists[:0], s.lasts[:0]
	for _, number := range numbers {
		s.lists = append(s.lists, x.lists.at(int(number)))
		s.lasts = append(s.lasts, uint64(x.lists.ends[number])-1)
	}
	asm.PrefetchAt(x.lists.values, s.lasts)
	return s.lists
}

// verify counts what the set shares with a document, and passes it on if that is enough.
func (s *search) verify(rank, size int, yield func(rank, shared int)) {
	s.verified++
	need := s.o.needed(size, int(s.index.sizes[rank]))
	if shared := sharedAtLeast(s.numbers, s.index.sets.at(rank), need); shared >= need {
		yield(rank, shared)
	}
}

// sharedAtLeast counts what two ascending lists share; once that cannot be need any more, it ends with less.
func sharedAtLeast(a, b []uint32, need int) (n int) {
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
