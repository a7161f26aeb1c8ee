package scan

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"ndd/engine/memory"
)

// A Searcher has tables of some queries, for F that comes in parts, one after the other. It may be
// used from many goroutines. Close it when done.
type Searcher struct {
	tables   *tables
	options  Options
	reserved *memory.Reservation
}

// NewSearcher returns a Searcher for queries that all fit in memory: p is a plan of [NewPlan] for
// them, made with options that say Once. The queries are not needed any more. Cost: that of
// building the tables.
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

// Hits returns every hit of the queries against a part of F, in the order of [Answer]. After an
// error, which may be that of ctx, there is nothing more.
func (s *Searcher) Hits(ctx context.Context, f Source) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		hits, err := s.tables.scanHits(ctx, f, s.options)
		if err != nil {
			yield(Hit{}, err)
			return
		}
		defer hits.Close()
		for h, err := range hits.all(ctx) {
			if !yield(h, err) || err != nil {
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

// Answer returns every hit of the queries against F, in order: row of Q, distance, fingerprint, row
// of F, which is read more than once where the queries do not fit in memory together. p is a plan of
// [NewPlan] for the same queries, k and options. After an error, which may be that of ctx, there is
// nothing more.
func Answer(ctx context.Context, f Source, queries []uint64, k int, p Plan, o Options) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		stopped := errors.New("stopped")
		err := inParts(queries, k, p, o, func(s *Searcher) error {
			for h, err := range s.Hits(ctx, f) {
				if err != nil {
					return err
				}
				if !yield(h, nil) {
					return stopped
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(Hit{}, err)
		}
	}
}

// inParts calls search with tables of as many of the queries as fit, until all are done.
func inParts(queries []uint64, k int, p Plan, o Options, search func(*Searcher) error) error {
	onePart := func(queries []uint64) error {
		s, err := NewSearcher(queries, k, p, o)
		if err != nil {
			return err
		}
		defer s.Close()
		return search(s)
	}
	for part := range slices.Chunk(queries, max(1, p.Queries)) {
		if err := onePart(part); err != nil {
			return err
		}
		o.First += uint64(len(part))
	}
	return nil
}
