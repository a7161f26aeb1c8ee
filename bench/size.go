package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/index/distribution"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/storage/store"
)

// size builds and searches two planar tables of 1e6, 1e7, ... up to b.n fingerprints, or of b.n alone
// where they are more than 1e9, and holds bytes and time against the model of `ndd design`.
//
// Fingerprints are made from their numbers: there is neither a file nor an array of them. The tables are
// built one after the other as `ndd build` does, in 8.4 bytes of memory a fingerprint, into a file, which
// is then read into memory.
func size(ctx context.Context, b *bench, r *Result) error {
	r.Columns = []string{"B/fingerprint", "of the bound", "build s", "build M/s", "ns, one by one", "batch ns",
		"of the model", "batch in misses", "hits"}
	first := 1_000_000
	if b.n > manyFingerprints {
		first = b.n // each size less takes minutes, too
	}
	for n := min(first, b.n); ; n = min(n*10, b.n) {
		b.say("%s fingerprints", humanize.Comma(int64(n)))
		if err := b.sizeOf(ctx, uint64(n), r); err != nil {
			return fmt.Errorf("%d fingerprints: %w", n, err)
		}
		if n == b.n {
			break
		}
	}
	r.note("two planar tables (halves) without documents' numbers; fingerprints are made in place; one by one and in "+
		"batches of 256, on one thread; k = %d", distance)
	r.note("of the model: time divided by what ndd design says for a query of a batch")
	return nil
}

// manyFingerprints are asked all queries, and fewer 200,000 at most.
const manyFingerprints = 1e9

func (b *bench) sizeOf(ctx context.Context, n uint64, r *Result) error {
	count := b.queries
	if n < manyFingerprints {
		count = min(count, 200_000)
	}
	batch := newGeneratedBatch(n, count)
	began := time.Now()
	path, err := b.buildGenerated(ctx, n)
	if err != nil {
		return err
	}
	file, err := store.Load(ctx, nil, path, store.KindSegment, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := os.Remove(path); err != nil {
		return err
	}
	s, err := segment.Open(file)
	if err != nil {
		return err
	}
	defer s.Close()
	build := time.Since(began).Seconds()
	bytes := 0.0
	for _, t := range s.Tables() {
		bytes += float64(table.Bytes(t)) / float64(n)
	}
	if err := searchAll(ctx, s, batch.queries, 256, batch.add); err != nil {
		return err
	}
	if err := batch.verify(ctx, n, r); err != nil {
		return err
	}
	var times [2]Cell
	for i, together := range []int{1, 256} {
		times[i], err = b.repeat(func() error { return searchAll(ctx, s, batch.queries, together, func(int, uint64) {}) })
		if err != nil {
			return err
		}
		times[i] = times[i].scale(1e9 / float64(count))
	}
	model, err := foretold(ctx, n, generatedDesign, table.LayoutPlanar)
	if err != nil {
		return err
	}
	ns := times[1]
	bound := distribution.Bound(n) / 8 * float64(len(generatedDesign.Tables))
	r.row(humanize.Comma(int64(n)), bytes, bytes/bound, build, float64(n)/build/1e6, times[0], ns,
		ns.Value/model.BatchNS, ns.Value/machineMemory().IndependentNs, batch.hits)
	return nil
}

// searchAll searches queries, some together, and calls add with each hit.
func searchAll(ctx context.Context, s *segment.Segment, queries []uint64, together int,
	add func(query int, fingerprint uint64)) (err error) {
	var scratch segment.Scratch
	var matches []segment.Match
	for from := 0; from < len(queries) && err == nil; from += together {
		part := queries[from:min(from+together, len(queries))]
		if matches, err = s.Search(matches[:0], part, distance, &scratch); err == nil {
			err = ctx.Err()
		}
		for _, m := range matches {
			add(from+m.Query, m.Fingerprint)
		}
	}
	return err
}
