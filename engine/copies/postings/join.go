package postings

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"example.org/ndd/asm"
	"example.org/ndd/engine/parallel"
	"example.org/ndd/engine/storage/store"
)

// Join returns the pairs of documents that reach the threshold, ordered by A and B. The result does not depend on the
// number of threads or the memory. Join empties the Builder. It returns the error of ctx or of a temporary file,
// [ErrTooMany], a [TooManyPairsError], or an error that names an option out of range.
func (b *Builder) Join(ctx context.Context, o Options) (_ []Pair, report Report, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	if err := o.complete(); err != nil {
		return nil, report, err
	}
	if err := b.seal(); err != nil {
		return nil, report, err
	}
	distinct, err := b.rank(ctx, o.Threads)
	if err != nil {
		return nil, report, err
	}
	s, err := b.shared(ctx, distinct.docs, &o)
	if err != nil {
		return nil, report, err
	}
	defer func() { err = errors.Join(err, s.ranks.Close()) }()
	pairs, err := b.joinDocuments(ctx, distinct, s, &o, &report)
	if err != nil {
		return nil, report, err
	}
	if pairs, err = b.expand(distinct.equal, pairs, &o, &report); err != nil {
		return nil, report, err
	}
	slices.SortFunc(pairs, func(a, b Pair) int {
		return cmp.Compare(uint64(a.A)<<32|uint64(a.B), uint64(b.A)<<32|uint64(b.B))
	})
	return pairs, report, b.Close()
}

// joinDocuments finds the pairs of distinct sets. Every document is a query. In
// each pair the document with the lower rank is the query, so a pair is found once.
func (b *Builder) joinDocuments(ctx context.Context, distinct *rankedSets, s *sharedSignatures, o *Options, r *Report) (pairs []Pair,
	err error) {
	docs := distinct.docs
	sizes := make([]uint32, len(docs))
	for i, doc := range docs {
		sizes[i] = uint32(b.size(doc))
	}
	p, err := b.prefixes(ctx, s, sizes, o, r)
	if err = errors.Join(err, s.ranks.Close()); err != nil { // the queries need the memory
		return nil, err
	}
	defer func() { err = errors.Join(err, p.lists.Close()) }()
	j := joinRun{sets: b, docs: docs, sizes: sizes, sides: distinct.sides(o), prefixes: p, o: o, report: r}
	from := 0
	for _, end := range p.slices(o) {
		if err := j.slice(ctx, from, end); err != nil {
			return nil, err
		}
		from = end
		r.Slices++
	}
	return j.pairs, nil
}

// A joinRun is a join of distinct sets.
type joinRun struct {
	sets     *Builder
	docs     []uint32 // documents by rank
	sizes    []uint32 // sizes of their sets
	sides    []side   // likewise; nil if all pairs are wanted
	prefixes *prefixes
	o        *Options
	done     atomic.Uint64 // number of finished queries
	found    atomic.Uint64 // number of pairs

	mu     sync.Mutex // guards report and pairs
	report *Report
	pairs  []Pair
}

// A side reports whether documents with the same set are known, and whether known ones can be paired with them.
type side struct{ known, other bool }

// meets reports whether documents of two sides can be a pair.
func (s side) meets(t side) bool { return s.known && t.other || s.other && t.known }

// sides returns the sides of the distinct sets by rank, or nil if no documents are known.
func (s *rankedSets) sides(o *Options) (all []side) {
	if o.Known == 0 {
		return nil
	}
	last := make(map[uint32]uint32, len(s.equal)) // last document of each group, by the first
	for _, group := range s.equal {
		last[group[0]] = group[len(group)-1]
	}
	for _, doc := range s.docs {
		all = append(all, side{int(doc) < o.Known, o.KnownPairs || int(max(doc, last[doc])) >= o.Known})
	}
	return all
}

// chunk is the number of documents that a goroutine takes at a time.
const chunk = 256

// slice finds the pairs of the documents with ranks [from, to), and all larger documents.
func (j *joinRun) slice(ctx context.Context, from, to int) error {
	// Find the lists to search for each document.
	q, err := j.prefixes.queries(ctx, from, to, j.o.Threads)
	if err != nil {
		return err
	}
	// Goroutines take chunks of documents.
	produce := func(_ context.Context, yield func(int) bool) error {
		for start := from; start < to && yield(start); start += chunk {
		}
		return nil
	}
	// Each goroutine collects its pairs, and stops if all together are too many.
	work := func(_ context.Context, chunks iter.Seq[int]) (err error) {
		defer store.EndFaults(store.BeginFaults(), &err)
		s := search{joinRun: j, queries: q, seen: make([]uint64, len(j.docs)/64+1)}
		before := 0
		for start := range chunks {
			end := min(start+chunk, to)
			s.documents(start, end)
			if total := j.found.Add(uint64(len(s.pairs) - before)); j.o.MaxPairs > 0 && total > j.o.MaxPairs {
				return &TooManyPairsError{j.o.MaxPairs}
			}
			before = len(s.pairs)
			if done := j.done.Add(uint64(end - start)); j.o.Progress != nil {
				j.o.Progress(done, uint64(len(j.docs)))
			}
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		j.pairs = append(j.pairs, s.pairs...)
		j.report.Candidates += s.verified
		return nil
	}
	return parallel.Each(ctx, parallel.Options{Workers: j.o.Threads}, produce, work)
}

// A search is the work of one goroutine.
type search struct {
	*joinRun
	queries    *queries
	seen       []uint64    // a bit for each rank, set if it is a candidate of the query
	candidates []candidate // candidates of a chunk of queries

	pairs    []Pair
	verified uint64
}

// A candidate has the ranks of two documents that share a signature.
type candidate struct{ query, rank uint32 }

// documents finds the similar documents of higher rank for the queries with ranks [from, to).
func (s *search) documents(from, to int) {
	const prefetchAhead = 6 // distance of the prefetch, in queries
	end, size := 0, -1
	s.candidates = s.candidates[:0]
	for query := from; query < to; query++ {
		if next := query + prefetchAhead; next < to {
			asm.PrefetchAt(s.prefixes.lists.All, s.queries.lists(next))
		}
		if n := int(s.sizes[query]); n != size { // sizes ascend
			size, end = n, len(s.docs)
			if largest := s.o.largest(size); largest < math.MaxInt {
				end = sort.Search(end, func(i int) bool { return int(s.sizes[i]) > largest })
			}
		}
		s.find(query, end)
	}
	s.verify()
}

// find collects the candidates of a query: the documents of higher rank, below end, that one of its signatures finds.
func (s *search) find(query, end int) {
	first := len(s.candidates)
	for _, place := range s.queries.lists(query) {
		list := s.prefixes.listAt(place)
		position, _ := slices.BinarySearch(list, uint32(query+1)<<rankShift)
		for _, posting := range list[position:] {
			rank := posting >> rankShift
			if int(rank) >= end {
				break
			}
			if s.sides != nil && !s.sides[query].meets(s.sides[rank]) {
				continue
			}
			if word, bit := &s.seen[rank/64], uint64(1)<<(rank%64); *word&bit == 0 {
				*word |= bit
				s.candidates = append(s.candidates, candidate{uint32(query), rank})
			}
		}
	}
	for _, c := range s.candidates[first:] {
		s.seen[c.rank/64] = 0
	}
}

// verify adds the pairs of candidates that share enough signatures. It prefetches the sets of later
// candidates.
func (s *search) verify() {
	const prefetchAhead, first = 4, 128 // distance in candidates, signatures; the processor prefetches the rest of a set
	s.verified += uint64(len(s.candidates))
	for i, c := range s.candidates {
		if i+prefetchAhead < len(s.candidates) {
			next := s.candidates[i+prefetchAhead]
			for _, rank := range []uint32{next.query, next.rank} {
				set := s.sets.set(s.docs[rank])
				asm.PrefetchAll(set[:min(len(set), first)])
			}
		}
		a, b := s.docs[c.query], s.docs[c.rank]
		sizeA, sizeB := int(s.sizes[c.query]), int(s.sizes[c.rank])
		need := s.o.neededShared(sizeA, sizeB)
		if shared := sharedAtLeast(s.sets.set(a), s.sets.set(b), need); shared >= need {
			s.pairs = append(s.pairs, Pair{a, b, int32(sizeA), int32(sizeB), int32(shared)}.ordered())
		}
	}
}

// sharedAtLeast returns the number of common elements of two ascending lists. It may return 0 if that number is below
// need.
func sharedAtLeast(a, b []uint64, need int) (n int) {
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
