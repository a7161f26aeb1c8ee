package mapreduce

import (
	"context"
	"fmt"
	"strconv"

	"github.com/dustin/go-humanize"

	"ndd/engine/corpus/ndf"
	"ndd/engine/near/scan"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// A Scan is the job of section 3.3 of the paper: chunks of F against a file of queries Q, which every map has beside it.
//
//	in      fingerprints, in any [Form]
//	shuffle row of Q (6 digits), distance (1), fingerprint (11), ID
//	out     row of Q	fingerprint, distance, ID
//
// Everything that is to be sorted is the key, so that a reduce holds nothing, however many hits a query has.
type Scan struct {
	Queries string // file with the queries
	K       int
	Temp    string     // folder for hits of a chunk that do not fit in memory
	Disk    *disk.Disk // that it is on; nil: the system's
}

func (j Scan) mapPart(ctx context.Context, t *task) error {
	q, err := ndf.Open(j.Queries)
	if err != nil {
		return err
	}
	defer q.Close()
	if s := q.Store(); s != nil {
		if err := s.Verify(ctx, t.Threads, nil); err != nil {
			return err
		}
	}
	if err := t.sameRecipe(j.Queries, q.Recipe()); err != nil {
		return err
	}
	t.beside = j.Queries
	queries := q.Fingerprints()
	if uint64(len(queries)) >= 1<<(6*rowDigits) {
		return fmt.Errorf("%s: %d queries are more than %d", j.Queries, len(queries), uint64(1)<<(6*rowDigits))
	}
	reading, err := t.Budget.Reserve("reading fingerprints", t.readBytes())
	if err != nil {
		return err
	}
	defer reading.Release()
	o := scan.Options{Threads: t.Threads, Budget: t.Budget, Temp: j.Temp, Disk: j.Disk, Fingerprints: chunkPrints, Once: true}
	plan, err := scan.NewPlan(len(queries), j.K, false, o)
	if err != nil {
		return err
	}
	if t.Say != nil {
		t.Say(fmt.Sprintf("searching for %s queries", humanize.Comma(int64(len(queries)))), t.Budget.Total(t.readBytes()+plan.Bytes()))
	}
	if t.Form == Paths { // which reserves what a file takes
		reading.Release()
	}
	tables := buildTables(queries, j.K, plan, o)
	defer tables.close()
	err = t.chunks(ctx, func(c chunk) error {
		s, err := tables.searcher()
		if err != nil {
			return err
		}
		return j.sendHits(ctx, t, s, c)
	})
	if err != nil {
		return err
	}
	_, err = tables.searcher()
	return err
}

// A tableBuild is tables of queries that a goroutine builds while the first fingerprints are read.
type tableBuild struct {
	built chan struct{} // closed when the others are there
	s     *scan.Searcher
	err   error
}

// buildTables begins to build the tables of queries.
func buildTables(queries []uint64, k int, plan scan.Plan, o scan.Options) *tableBuild {
	b := &tableBuild{built: make(chan struct{})}
	go func() {
		defer close(b.built)
		defer store.CatchFault(&b.err)() // the queries are mapped
		b.s, b.err = scan.NewSearcher(queries, k, plan, o)
	}()
	return b
}

// searcher waits for the tables.
func (b *tableBuild) searcher() (*scan.Searcher, error) {
	<-b.built
	return b.s, b.err
}

func (b *tableBuild) close() {
	if s, _ := b.searcher(); s != nil {
		s.Close()
	}
}

// sendHits sends the hits of a chunk.
func (j Scan) sendHits(ctx context.Context, t *task, s *scan.Searcher, c chunk) error {
	var key []byte
	for h, err := range s.Hits(ctx, c.prints) {
		if err != nil {
			return err
		}
		key = appendNumber(key[:0], h.Query, rowDigits)
		key = appendNumber(key, uint64(h.Distance), 1)
		key = appendNumber(key, h.Fingerprint, printDigits)
		if key, err = c.appendID(key, int(h.Row)); err != nil {
			return err
		}
		t.counters.add(hits, 1)
		if err := t.send(t.partition(h.Query), key, nil); err != nil {
			return err
		}
	}
	return nil
}

// hitDigits is the part of a hit's key that all have.
const hitDigits = rowDigits + 1 + printDigits

func (j Scan) reduce(ctx context.Context, t *task) error {
	var last, row, value []byte
	return t.sorted(ctx, func(_ int, key, _ []byte) error {
		if string(key) == string(last) { // a chunk was mapped twice, or F has no rows
			return nil
		}
		last = append(last[:0], key...)
		if len(key) <= hitDigits {
			return fmt.Errorf("%.40q is no hit", key)
		}
		query, ok1 := number(key[:rowDigits])
		distance, ok2 := number(key[rowDigits : rowDigits+1])
		print, ok3 := number(key[rowDigits+1 : hitDigits])
		if !ok1 || !ok2 || !ok3 {
			return fmt.Errorf("%.40q is no hit", key)
		}
		t.counters.add(hits, 1)
		row = strconv.AppendUint(row[:0], query, 10)
		value = fmt.Appendf(value[:0], "%016x %d %s", print, distance, key[hitDigits:])
		return t.result(row, value)
	})
}
