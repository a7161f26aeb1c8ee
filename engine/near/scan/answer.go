package scan

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"example.org/ndd/engine/memory"
)

// A Searcher has tables of queries. It finds their hits in one part of F after another. It is safe for concurrent
// use. The caller closes it.
type Searcher struct {
	tables   *tables
	options  Options
	reserved *memory.Reservation
}

// NewSearcher builds the tables of queries. All of them must fit in memory. p is a plan of [NewPlan] for these
// queries, with Options.Once. The Searcher does not keep the slice of queries.
func NewSearcher(queries []uint64, k int, p Plan, o Options) (*Searcher, error) {
	if p.Queries < len(queries) {
		return nil, o.Budget.Check(p.task(), memory.Unlimited.Bytes)
	}
	o.Threads = cmp.Or(p.Threads, o.Threads)
	o.setDefaults()
	reserved, err := o.Budget.Reserve(p.task(), p.Bytes())
	if err != nil {
		return nil, err
	}
	o.hitBytes = p.Hits
	t, err := newTables(queries, buildOptions{K: k, Threads: o.Threads, Fingerprints: o.Fingerprints,
		NoPrefilter: p.NoPrefilter})
	if err != nil {
		reserved.Release()
		return nil, err
	}
	return &Searcher{t, o, reserved}, nil
}

// Hits yields every hit of the queries against a part of F, in the order of [Answer]. An error, for
// example of ctx, ends the sequence.
func (s *Searcher) Hits(ctx context.Context, f Chunk) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		hits, err := s.tables.scan(ctx, f, s.options)
		if err != nil {
			yield(Hit{}, err)
			return
		}
		defer hits.Close()
		n := 0
		for r, err := range hits.All() {
			if n++; err == nil && n%4096 == 0 {
				err = ctx.Err()
			}
			if !yield(hitOf(r), err) || err != nil {
				return
			}
		}
		if err := hits.Close(); err != nil {
			yield(Hit{}, err)
		}
	}
}

// Close frees the tables and releases their memory.
func (s *Searcher) Close() {
	s.tables.Close()
	s.reserved.Release()
}

// Answer yields every hit of the queries against F, ordered by row of Q, distance, fingerprint and row
// of F. It reads F several times if the queries do not fit in memory together. p is a plan of [NewPlan]
// for the same queries, k and options. An error, for example of ctx, ends the sequence.
func Answer(ctx context.Context, f Chunk, queries []uint64, k int, p Plan, o Options) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		answer := func(part []uint64) bool {
			s, err := NewSearcher(part, k, p, o)
			if err != nil {
				yield(Hit{}, err)
				return false
			}
			defer s.Close()
			for h, err := range s.Hits(ctx, f) {
				if !yield(h, err) || err != nil {
					return false
				}
			}
			return true
		}
		for part := range slices.Chunk(queries, max(1, p.Queries)) {
			if !answer(part) {
				return
			}
			o.First += uint64(len(part))
		}
	}
}
