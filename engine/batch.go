package engine

import (
	"context"
	"errors"
	"iter"
	"math"
	"sync/atomic"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/parallel"
)

// BatchOptions configures a batch of queries.
type BatchOptions struct {
	K int // maximum distance, at most the index's
	// Sketches are the sketches of the queries, in their order. Answers leave out documents with a similarity below
	// the threshold. Without sketches (nil or zero), answers are unverified.
	Sketches   []sketch.Sketch
	Docs       int            // maximum number of documents of each hit; see AllDocs and FirstDoc
	Threads    int            // default: one for each processor, or fewer if Budget is too small for them
	MatchBytes uint64         // memory for the matches of a sweep; default: a quarter of the rest of Budget, at most 1 GiB
	Budget     *memory.Budget // memory of the batch; nil: no limit
}

// Batch is [View.Batch] of a snapshot of the index.
func (x *Index) Batch(ctx context.Context, queries []simhash.Fingerprint, o BatchOptions,
	emit func(query int, hits []Hit) error) error {
	v, err := x.View()
	if err != nil {
		return err
	}
	defer v.Release()
	return v.Batch(ctx, queries, o, emit)
}

// Batch answers queries in parallel. It calls emit for each query with hits, in order of the queries, on the
// goroutine of the caller. A query with tens of thousands of documents is emitted in several calls, and so is a hit
// with very many documents. An error of emit or ctx ends the batch. So does [ErrDense], for a query that is near too
// many fingerprints.
//
// A batch of 8,192 queries or more sweeps the segments in order: up to 4 million queries at a time, or fewer so that
// their matches fit in o.MatchBytes. It reserves this memory from o.Budget. If it does not fit, the error is a
// memory.TooLargeError. Smaller batches are answered in chunks of up to 256 queries. Memory is bounded for all
// answers: see [Index.PlanBatch].
func (v View) Batch(ctx context.Context, queries []simhash.Fingerprint, o BatchOptions,
	emit func(query int, hits []Hit) error) error {
	if err := v.index.CheckDistance(o.K); err != nil {
		return err
	}
	p := search.PlanBatch(v.live, len(queries), o.Threads, o.MatchBytes, o.Budget)
	reservation, err := p.Reserve(o.Budget)
	if err != nil {
		return err
	}
	defer reservation.Release()
	b := &batch{emit: func(query int, hits []search.Hit) error { return emit(query, hitsOf(hits)) }, index: v.index, view: v.live, o: o, plan: p, goroutines: v.index.live.Goroutines(p.Threads)}
	b.size.Store(search.BatchChunk)
	b.remainder = b.index.searcher(ctx)
	defer b.remainder.Done()
	words := simhash.Words(queries)
	for first := 0; first < len(words); first += search.BatchSweep {
		if err := b.run(ctx, first, words[first:min(first+search.BatchSweep, len(words))]); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// A BatchPlan says how a batch is answered, and its memory in bytes.
type BatchPlan struct {
	Queries int
	Threads int    // goroutines
	Orders  uint64 // bytes of the queries in the order of a table; 0 without a sweep
	Matches uint64 // bytes of the matches of a sweep; if there are more, fewer queries are swept at a time
	Answers uint64 // bytes of answers that are not emitted yet, and of buffers

	MatchBytes uint64 // limit of Matches, if there is a sweep
}

// Bytes returns the sum.
func (p *BatchPlan) Bytes() uint64 { return p.Orders + p.Matches + p.Answers }

// PlanBatch returns how [Index.Batch] will answer queries in the rest of o.Budget: with little memory, by fewer
// goroutines. The error is a [memory.TooLargeError] if a sweep does not fit even so, or [ErrClosed]. A batch without
// a sweep takes little memory and is not refused.
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
	goroutines int // number of goroutines that answer chunks
	emit       func(query int, hits []search.Hit) error
	size       atomic.Int64     // queries of the next chunk: fewer after large answers
	remainder  *search.Searcher // answers queries that chunks left, on the goroutine that emits
}

// run answers queries. first is the number of the first query in the batch.
func (b *batch) run(ctx context.Context, first int, queries []uint64) error {
	matches, err := search.Sweep(ctx, b.view, queries, b.o.K, b.plan.Threads, int(min(b.plan.MatchesMax(), math.MaxInt)))
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
		Window: 4 * b.goroutines}
	return parallel.Ordered(ctx, o, func(_ context.Context, yield func(*chunk) bool) error {
		for start := 0; start < len(queries); {
			end := min(start+int(b.size.Load()), len(queries))
			if !yield(&chunk{first: first + start, queries: queries[start:end], sweeps: matches.Skip(start),
				verifier: b.verifier(first + start)}) {
				break
			}
			start = end
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

// A chunk is a list of queries that a goroutine answers together.
type chunk struct {
	first    int // number of the first query in the batch
	queries  []uint64
	sweeps   search.SweepResult
	verifier rows.Verifier
	answers  search.Answers // answers of the first done queries
	done     int            // number of queries with answers; the answers of the others are too large
}

// search answers chunks.
func (b *batch) search(ctx context.Context, chunks iter.Seq[*chunk]) (err error) {
	s := b.index.searcher(ctx)
	defer s.Done()
	for c := range chunks {
		if c.answers, c.done, err = s.SearchSome(b.view, c.queries, b.o.K, b.o.Docs, c.sweeps, c.verifier); err != nil {
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

// finish emits the answers of a chunk, and then answers the remaining queries one by one.
func (b *batch) finish(ctx context.Context, c *chunk) error {
	if err := c.answers.Each(c.first, b.emit); err != nil {
		return err
	}
	for i := c.done; i < len(c.queries); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		emit := func(hits []search.Hit) error { return b.emit(c.first+i, hits) }
		if err := b.remainder.Stream(b.view, simhash.Fingerprint(c.queries[i]), c.verifier.From(i), b.o.K, b.o.Docs,
			emit); err != nil {
			return err
		}
	}
	return ctx.Err()
}
