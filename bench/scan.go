package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/scan"
	"example.org/ndd/engine/oracle/sets"
)

// scanQueries compares a stream of fingerprints with tables of the queries, without an index (section 3.3 of the
// paper), for several numbers of queries. The first queries are compared with all fingerprints.
func scanQueries(ctx context.Context, b *bench, r *Result) error {
	base, all := sets.Planted(b.n, b.queries)
	r.Columns = []string{"M fingerprints/s, 1 thread", "all threads", "hits"}
	for count := min(1000, len(all)); ; count = min(count*10, len(all)) {
		queries := all[:count]
		b.say("%d queries", count)
		var got answer
		times, err := b.byThreads(func(threads int) (err error) {
			got, err = b.scan(ctx, base, queries, threads, count)
			return err
		})
		if err != nil {
			return err
		}
		if count <= 1000 {
			if want := compareAll(base, queries); got != want {
				return fmt.Errorf("%v, comparing all with all finds %v", got, want)
			}
		}
		r.row(humanize.Comma(int64(count))+" queries", times[0].rate(float64(b.n)/1e6), times[1].rate(float64(b.n)/1e6), got.hits)
		if count == len(all) {
			break
		}
	}
	r.note("k = %d; 200 mappers, as in the paper, need 40 s divided by the M fingerprints/s of one thread, for 8e9 fingerprints", distance)
	r.note("verified: the answers to the first %d queries are those of comparing all with all", min(1000, len(all)))
	return nil
}

// scan answers queries by a scan of base. It returns the hits of the first ones, as answerOf does.
func (b *bench) scan(ctx context.Context, base, queries []uint64, threads, first int) (answer, error) {
	s, err := b.searcher(queries, threads, uint64(b.n))
	if err != nil {
		return answer{}, err
	}
	defer s.Close()
	return answerOf(s.Hits(ctx, scan.Slice(base, 0)), first)
}

// searcher builds the tables of queries, by the plan for n fingerprints.
func (b *bench) searcher(queries []uint64, threads int, n uint64) (*scan.Searcher, error) {
	o := scan.Options{Threads: threads, Temp: b.dir, Budget: memory.NewBudget(memory.Machine{}.Limit(0)),
		Fingerprints: n, Once: true}
	p, err := scan.NewPlan(len(queries), distance, false, o)
	if err != nil {
		return nil, err
	}
	return scan.NewSearcher(queries, distance, p, o)
}

// answerOf returns the hits of the first queries, each distinct fingerprint once a query.
func answerOf(hits iter.Seq2[scan.Hit, error], first int) (a answer, err error) {
	var last scan.Hit
	for h, err := range hits {
		if err != nil {
			return answer{}, err
		}
		if h.Query < uint64(first) && (a.hits == 0 || h.Query != last.Query || h.Fingerprint != last.Fingerprint) {
			a.add(int(h.Query), h.Fingerprint)
		}
		last = h
	}
	return a, nil
}
