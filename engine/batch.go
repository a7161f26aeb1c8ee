package engine

import (
	"context"
	"errors"
	"iter"
	"math"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live"
	"ndd/engine/index/segment"
	"ndd/engine/parallel"
)

// chunkQueries is how many queries a goroutine answers together: enough to
// share the misses of a table among their probes, few enough for results to
// flow.
const chunkQueries = 256

func chunksOf(queries int) int { return (queries + chunkQueries - 1) / chunkQueries }

// Batch answers queries in parallel and calls emit once for each that has
// hits, in order of the queries, from the goroutine that called it. An error of
// emit, or of ctx, ends it.
//
// Of 8,192 queries or more, segments are swept in order (see
// segment.Segment.Sweep), 4 million queries at a time, or fewer, so that their
// matches fit in o.MatchBytes; the memory for that is reserved from o.Budget,
// and the error is a memory.TooLargeError where it does not fit. Smaller
// batches are answered in chunks of 256, and memory is bounded by the hits of
// 4 * Threads * 256 queries.
func (x *Index) Batch(ctx context.Context, queries []simhash.Fingerprint, o BatchOptions, emit func(query int, hits []Hit) error) error {
	if err := x.checkK(o.K); err != nil {
		return err
	}
	w, err := x.live.View() // one for all queries
	if err != nil {
		return err
	}
	defer w.Release()
	p := planBatch(w, len(queries), o)
	reserved, err := p.reserve(o.Budget)
	if err != nil {
		return err
	}
	defer reserved.Release()
	o.Threads, o.MatchBytes = p.Threads, p.matchBytes
	b := &batch{index: x, view: w, o: o, emit: emit, goroutines: x.live.Goroutines(o.Threads)}
	words := simhash.Words(queries)
	for first := 0; first < len(words); first += sweepQueries {
		if err := b.run(ctx, first, words[first:min(first+sweepQueries, len(words))]); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// sweepQueries are swept at a time at most.
const sweepQueries = 4 << 20

// An Answer is what one query found.
type Answer struct {
	Query int // its number
	Hits  []Hit
}

// Answers is Batch as an iterator. After an error there is nothing more.
func (x *Index) Answers(ctx context.Context, queries []simhash.Fingerprint, o BatchOptions) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		stopped := errors.New("stopped")
		err := x.Batch(ctx, queries, o, func(query int, hits []Hit) error {
			if !yield(Answer{query, hits}, nil) {
				return stopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(Answer{}, err)
		}
	}
}

// batch is one call of Batch.
type batch struct {
	index      *Index
	view       live.View
	o          BatchOptions
	goroutines int // that answer chunks
	emit       func(query int, hits []Hit) error
}

// run answers the queries, of which the first is number first of all.
func (b *batch) run(ctx context.Context, first int, queries []uint64) error {
	swept, err := b.view.Sweep(ctx, queries, b.o.K, b.o.Threads, int(min(b.o.MatchBytes/matchBytes, math.MaxInt)))
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
	o := parallel.Options{Workers: min(b.goroutines, chunksOf(len(queries))), Ahead: 4 * b.goroutines}
	return parallel.Ordered(ctx, o, func(_ context.Context, yield func(*chunk) bool) error {
		for at := 0; at < len(queries); at += chunkQueries {
			c := &chunk{first: first + at, queries: queries[at:min(at+chunkQueries, len(queries))], swept: swept.From(at), lengths: b.lengths(first + at)}
			if !yield(c) {
				break
			}
		}
		return nil
	}, b.search, func(c *chunk) error { return c.answers.Each(c.first, b.emit) })
}

// lengths returns what leaves out documents of the queries from number first on.
func (b *batch) lengths(first int) live.Lengths {
	l := live.Lengths{Ratio: b.index.live.Config().MaxLengthRatio}
	if b.o.TextBytes != nil {
		l.Of = b.o.TextBytes[first:]
	}
	return l
}

// A chunk is queries that a goroutine answers together, of which the first is number first of all.
type chunk struct {
	first   int
	queries []uint64
	swept   live.Swept
	lengths live.Lengths
	answers live.Answers
}

// search answers chunks.
func (b *batch) search(ctx context.Context, chunks iter.Seq[*chunk]) (err error) {
	s := b.index.live.Searcher()
	s.Until(ctx)
	defer s.Done()
	for c := range chunks {
		if c.answers, err = s.Search(b.view, c.queries, b.o.K, b.o.Docs, c.swept, c.lengths); err != nil {
			return err
		}
	}
	return nil
}
