package mapreduce

import (
	"context"
	"fmt"
	"strconv"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/near/scan"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// A Scan is the job of section 3.3 of the paper. Each map searches a chunk of F for all queries of the side file Q.
//
//	in      fingerprints, as the job fingerprint writes them
//	shuffle row of Q (6 digits), distance (1), fingerprint (11), ID
//	out     row of Q	fingerprint, distance, ID
//
// The key has all fields that are sorted, so a reduce holds no hits in memory, even if a query has many of them.
type Scan struct {
	Queries string // file with the queries
	K       int
	Disk    *disk.Disk // disk for hits of a chunk that do not fit in memory; nil: the system's
}

func (j Scan) mapPart(ctx context.Context, t *task) (err error) {
	// Open and verify the queries.
	q, err := ndf.Open(j.Queries, ndf.OpenOptions{})
	if err != nil {
		return err
	}
	defer q.Close()
	if err := q.Verify(ctx, t.Threads); err != nil {
		return err
	}
	t.read.Recipe = recipeName(q.Recipe())
	t.sideFile = j.Queries
	queries := q.Fingerprints()
	if uint64(len(queries)) >= 1<<(6*rowDigits) {
		return fmt.Errorf("%s: %d queries are more than %d", j.Queries, len(queries), uint64(1)<<(6*rowDigits))
	}
	// Plan the search.
	reservation, err := t.Budget.Reserve("reading fingerprints", batchBytes)
	if err != nil {
		return err
	}
	defer reservation.Release()
	o := scan.Options{Threads: t.Threads, Budget: t.Budget, Disk: j.Disk, Fingerprints: chunkPrints,
		Once: true}
	plan, err := scan.NewPlan(len(queries), j.K, o)
	if err != nil {
		return err
	}
	// Search each batch. The first one builds the tables.
	defer store.EndFaults(store.BeginFaults(), &err) // the queries are mapped
	var s *scan.Searcher
	defer func() {
		if s != nil {
			s.Close()
		}
	}()
	return t.batches(ctx, func(b *batch) (err error) {
		if s == nil {
			if s, err = scan.NewSearcher(queries, j.K, plan, o); err != nil {
				return err
			}
		}
		return j.sendHits(ctx, t, s, b)
	})
}

func (j Scan) sendHits(ctx context.Context, t *task, s *scan.Searcher, b *batch) error {
	var key []byte
	for h, err := range s.Hits(ctx, scan.Chunk{Fingerprints: b.values}) {
		if err != nil {
			return err
		}
		key = appendNumber(key[:0], h.Query, rowDigits)
		key = appendNumber(key, uint64(h.Distance), 1)
		key = appendNumber(key, h.Fingerprint, printDigits)
		key = b.appendID(key, int(h.Row))
		if err := t.send(t.partition(h.Query), key, nil); err != nil {
			return err
		}
	}
	return nil
}

// chunkPrints are the fingerprints of a chunk: the paper's 64 MiB.
const chunkPrints = 8 << 20

func (j Scan) reduce(ctx context.Context, t *task) error {
	var row, value []byte
	return t.distinct(ctx, func(key, _ []byte) error {
		k := readKey(key)
		query, distance, fingerprint := k.number(rowDigits), k.number(1), k.number(printDigits)
		if err := k.err("hit", 1); err != nil {
			return err
		}
		row = strconv.AppendUint(row[:0], query, 10)
		value = append(strconv.AppendUint(append(appendPrint(value[:0], fingerprint), ' '), distance, 10), ' ')
		value = append(value, k.unread...)
		return t.result(row, value)
	})
}
