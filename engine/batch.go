package engine

import (
	"context"
	"errors"
	"iter"
	"math"
	"sync/atomic"

	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/sketch"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/search"
	"ndd/engine/index/live/version"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/parallel"
)

// BatchOptions configures a batch of queries.
type BatchOptions struct {
	K int // largest distance, at most the index's
	// Sketches are those of the queries, by query: documents whose sketches are unlike them are left out.
	// nil, and the zero sketch, leave answers unverified.
	Sketches   []sketch.Sketch
	Docs       int            // how many documents of each hit to look up; see AllDocs and FirstDoc
	Threads    int            // default: as many as there are processors; fewer where Budget has not the memory for them
	MatchBytes uint64         // for the matches of a sweep; default: a quarter of what Budget has left, 1 GiB at most
	Budget     *memory.Budget // source of the memory; nil: no limit
}

// Batch is [View.Batch] of what the index holds now.
func (x *Index) Batch(ctx context.Context, queries []simhash.Fingerprint, o BatchOptions,
	emit func(query int, hits []Hit) error) error {
	v, err := x.View()
	if err != nil {
		return err
	}
	defer v.Release()
	return v.Batch(ctx, queries, o, emit)
}

// Batch answers queries in parallel and calls emit for each that has hits, in order of the queries,
// from the goroutine that called it: once with all hits, or several times, where they have tens of
// thousands of documents, with the next ones in order each time. A hit with very many documents
// comes in several calls, with other documents of its in each. An error of emit, or of ctx, ends
// it, and so does a query that finds too many fingerprints: [ErrDense].
//
// Of 8,192 queries or more, segments are swept in order, 4 million
// queries at a time, or fewer, so that their matches fit in o.MatchBytes; the memory for that is
// reserved from o.Budget, and the error is a memory.TooLargeError where it does not fit. Smaller
// batches are answered in chunks of up to 256. Memory is bounded whatever the
// queries find: see [Index.PlanBatch].
func (v View) Batch(ctx context.Context, queries []simhash.Fingerprint, o BatchOptions,
	emit func(query int, hits []Hit) error) error {
	if err := v.index.CheckDistance(o.K); err != nil {
		return err
	}
	p := search.PlanBatch(v.live, len(queries), o.Threads, o.MatchBytes, o.Budget)
	reserved, err := p.Reserve(o.Budget)
	if err != nil {
		return err
	}
	defer reserved.Release()
	b := &batch{emit: func(query int, hits []search.Hit) error { return emit(query, hitsOf(hits)) }, index: v.index, view: v.live, o: o, plan: p, goroutines: v.index.live.Goroutines(p.Threads)}
	b.size.Store(search.BatchChunk)
	b.rest = b.index.searcher(ctx)
	defer b.rest.Done()
	words := simhash.Words(queries)
	for first := 0; first < len(words); first += search.BatchSweep {
		if err := b.run(ctx, first, words[first:min(first+search.BatchSweep, len(words))]); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// A BatchPlan is how a batch is answered, and the memory that it takes, in bytes.
type BatchPlan struct {
	Queries int
	Threads int    // at a time
	Orders  uint64 // the queries in the order of a table that is swept; 0 when none is
	Matches uint64 // of a sweep; where there are more, fewer queries are swept at a time
	Answers uint64 // on their way, and what goroutines work in

	MatchBytes uint64 // for the matches of a sweep, if there is one
}

// Bytes returns the whole.
func (p *BatchPlan) Bytes() uint64 { return p.Orders + p.Matches + p.Answers }

// PlanBatch returns how [Index.Batch] will answer queries in the memory that o.Budget has left, and
// how much of it that takes: fewer goroutines where it is little. The error is a
// [memory.TooLargeError] when a sweep does not fit even so, or [ErrClosed]. So few queries that
// there is no sweep take next to nothing, and are not refused.
func (x *Index) PlanBatch(queries int, o BatchOptions) (BatchPlan, error) {
	w, err := x.live.View()
	if err != nil {
		return BatchPlan{}, err
	}
	defer w.Release()
	p := search.PlanBatch(w, queries, o.Threads, o.MatchBytes, o.Budget)
	r, err := p.Reserve(o.Budget)
	r.Release()
	return BatchPlan(p), err
}

// batch is one call of Batch.
type batch struct {
	index      *Index
	view       version.View
	o          BatchOptions
	plan       search.BatchPlan
	goroutines int // that answer chunks
	emit       func(query int, hits []search.Hit) error
	size       atomic.Int64     // queries of the next chunk: fewer where they find much
	rest       *search.Searcher // of what chunks left, in the goroutine that emits
}

// run answers queries. The first one has number first in the batch.
func (b *batch) run(ctx context.Context, first int, queries []uint64) error {
	swept, err := search.Sweep(ctx, b.view, queries, b.o.K, b.plan.Threads, int(min(b.plan.MostMatches(), math.MaxInt)))
	if errors.Is(err, segment.ErrTooMany) {
		// Half as many queries have about half as many matches.
		half := len(queries) / 2
		if err := b.run(ctx, first, queries[:half]); err != nil {
			return err
		}
		return b.run(ctx, first+half, queries[half:])
	}
	if err != nil {
		return err
	}
	o := parallel.Options{Workers: min(b.goroutines, (len(queries)+search.BatchChunk-1)/search.BatchChunk),
		Ahead: 4 * b.goroutines}
	return parallel.Ordered(ctx, o, func(_ context.Context, yield func(*chunk) bool) error {
		for at := 0; at < len(queries); {
			end := min(at+int(b.size.Load()), len(queries))
			if !yield(&chunk{first: first + at, queries: queries[at:end], swept: swept.From(at),
				verifier: b.verifier(first + at)}) {
				break
			}
			at = end
		}
		return nil
	}, b.search, func(c *chunk) error { return b.finish(ctx, c) })
}

// verifier returns the verifier of the queries from number first on.
func (b *batch) verifier(first int) rows.Verifier {
	if b.o.Sketches == nil {
		return rows.Verifier{}
	}
	return b.index.live.Config().Verifier(b.o.Sketches[first:])
}

// A chunk is queries that a goroutine answers together. The first one has number first in the batch.
type chunk struct {
	first    int
	queries  []uint64
	swept    search.Swept
	verifier rows.Verifier
	answers  search.Answers // of the first
	done     int            // queries: the others find too much to be held
}

// search answers chunks.
func (b *batch) search(ctx context.Context, chunks iter.Seq[*chunk]) (err error) {
	s := b.index.searcher(ctx)
	defer s.Done()
	for c := range chunks {
		if c.answers, c.done, err = s.SearchSome(b.view, c.queries, b.o.K, b.o.Docs, c.swept, c.verifier); err != nil {
			return err
		}
		if n := len(c.queries); c.done < n {
			b.size.Store(int64(max(c.done, 1)))
		} else if n == int(b.size.Load()) {
			b.size.Store(int64(min(2*n, search.BatchChunk)))
		}
	}
	return nil
}

// finish emits the answers of a chunk, and then those that were too much to be held beside others,
// one by one.
func (b *batch) finish(ctx context.Context, c *chunk) error {
	if err := c.answers.Each(c.first, b.emit); err != nil {
		return err
	}
	for i := c.done; i < len(c.queries); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		emit := func(hits []search.Hit) error { return b.emit(c.first+i, hits) }
		if err := b.rest.Stream(b.view, simhash.Fingerprint(c.queries[i]), c.verifier.From(i), b.o.K, b.o.Docs,
			emit); err != nil {
			return err
		}
	}
	return ctx.Err()
}
