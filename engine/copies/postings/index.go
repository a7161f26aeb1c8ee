package postings

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"ndd/asm"
)

// An Index is the inverted index of all sets of a Builder: every signature with the rank of its document, in order.
type Index struct {
	sets     *Builder
	docs     []uint32            // by rank: the document
	sizes    []uint32            // by rank: signatures
	equal    map[uint32][]uint32 // by rank: documents with equal sets
	postings []scattered
	ends     []uint64 // by partition: of its postings
	shift    int      // of a signature, to its partition
}

// Slice returns the index of all sets, for a [Searcher] of sets that are not in it. The Builder must not be used any more, and not be
// closed before the Index is. The error is of ctx, of a temporary file, or [ErrTooMany].
func (b *Builder) Slice(ctx context.Context, threads int) (*Index, error) {
	if err := b.seal(); err != nil {
		return nil, err
	}
	r, err := b.rank(ctx, threads)
	if err != nil {
		return nil, err
	}
	scatter := newScatter(b.source(r.docs), r.partitions, b.total())
	err = scatter.rounds(ctx, func(_, _ int, signatures []scattered) error {
		slices.SortFunc(signatures, func(x, y scattered) int {
			return cmp.Or(cmp.Compare(x.hash(), y.hash()), cmp.Compare(x.rank, y.rank))
		})
		return nil
	})
	x := &Index{sets: b, docs: r.docs, sizes: b.sizes(r.docs), equal: map[uint32][]uint32{}, postings: scatter.scattered, shift: scatter.shift}
	end := uint64(0)
	for _, size := range scatter.sizes {
		end += size
		x.ends = append(x.ends, end)
	}
	groups := map[uint32][]uint32{}
	for _, g := range r.equal {
		groups[g[0]] = g
	}
	for rank, doc := range x.docs {
		if g := groups[doc]; g != nil {
			x.equal[uint32(rank)] = g
		}
	}
	return x, err
}

// about returns where a signature's postings are, if its partition's are spread evenly, and where this begins and ends.
func (x *Index) about(hash uint64) (at, from, to uint64) {
	p := hash >> x.shift
	to = x.ends[p]
	if p > 0 {
		from = x.ends[p-1]
	}
	within := hash << (64 - x.shift) >> 32 // of the partition, in 2^32
	return from + (to-from)*within>>32, from, to
}

// find returns the postings of a signature. It looks around where they should be, farther and farther.
func (x *Index) find(hash uint64) []scattered {
	at, from, to := x.about(hash)
	low, high := at, at
	for step := uint64(4); low > from && x.postings[low-1].hash() >= hash; step *= 2 {
		low -= min(step, low-from)
	}
	for step := uint64(4); high < to && x.postings[high].hash() <= hash; step *= 2 {
		high += min(step, to-high)
	}
	list := x.postings[low:high]
	list = list[sort.Search(len(list), func(i int) bool { return list[i].hash() >= hash }):]
	return list[:sort.Search(len(list), func(i int) bool { return list[i].hash() > hash })]
}

// rankOf returns the first rank whose document has at least so many signatures.
func (x *Index) rankOf(size int) int {
	return sort.Search(len(x.sizes), func(i int) bool { return int(x.sizes[i]) >= size })
}

// A Searcher finds the documents of a [Builder.Slice] that are similar to sets. It belongs to one goroutine; an Index may
// have many.
type Searcher struct {
	index   *Index
	o       *Options
	seen    []uint32 // by rank: the last set, counted from 1, that it was a candidate of
	sets    uint32
	places  []uint64      // to prefetch
	lists   [][]scattered // of a set's signatures
	matches []Match
}

// Searcher returns a Searcher, or says which option is out of range. It looks at all signatures, however many documents have
// them: Options.MaxDocuments and MaxEqual say nothing here.
func (x *Index) Searcher(o Options) (*Searcher, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	return &Searcher{index: x, o: &o, seen: make([]uint32, len(x.docs))}, nil
}

// AppendLarger appends the documents that are similar to a set and have at least as many signatures, in order of size, those of one
// set together: of two documents with different numbers of signatures, one finds the other.
func (s *Searcher) AppendLarger(dst []Match, set []uint64) []Match {
	if len(set) == 0 || len(s.index.docs) == 0 {
		return dst
	}
	s.matches = s.matches[:0]
	s.find(set)
	slices.SortFunc(s.matches, func(a, b Match) int { return cmp.Compare(a.Doc, b.Doc) }) // by rank
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

// find finds the matches of a set, by rank, by those of its signatures that the fewest documents have.
func (s *Searcher) find(set []uint64) {
	if s.sets++; s.sets == math.MaxUint32 {
		clear(s.seen)
		s.sets = 1
	}
	x, size := s.index, len(set)
	end := len(x.docs)
	if largest := s.o.largest(size); largest < math.MaxInt {
		end = x.rankOf(largest + 1)
	}
	from := uint32(x.rankOf(size))
	for _, list := range s.rarest(set, s.o.least(size)) {
		at, _ := slices.BinarySearchFunc(list, from, func(p scattered, rank uint32) int { return cmp.Compare(p.rank, rank) })
		for _, p := range list[at:] {
			if int(p.rank) >= end {
				break
			}
			if s.seen[p.rank] != s.sets {
				s.seen[p.rank] = s.sets
				s.verify(set, p.rank)
			}
		}
	}
}

// rarest returns the postings of the signatures by which a set finds the documents that share at least least with it.
func (s *Searcher) rarest(set []uint64, least int) [][]scattered {
	s.places, s.lists = s.places[:0], s.lists[:0]
	for _, hash := range set {
		at, _, _ := s.index.about(hash)
		s.places = append(s.places, at)
	}
	asm.PrefetchAt(s.index.postings, s.places)
	for _, hash := range set {
		s.lists = append(s.lists, s.index.find(hash))
	}
	slices.SortFunc(s.lists, func(a, b []scattered) int { return cmp.Compare(len(a), len(b)) })
	return s.lists[:max(len(set)-least+1, 0)]
}

// verify keeps a document if it shares enough with the set.
func (s *Searcher) verify(set []uint64, rank uint32) {
	x := s.index
	size := int(x.sizes[rank])
	need := s.o.needed(len(set), size)
	if shared := sharedAtLeast(set, x.sets.set(x.docs[rank]), need); shared >= need {
		s.matches = append(s.matches, Match{Doc: rank, Size: size, Shared: shared})
	}
}
