package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/dustin/go-humanize"

	"ndd/engine/memory"
	"ndd/engine/near/scan"
	"ndd/engine/oracle"
	"ndd/engine/oracle/sets"
)

// scanQueries streams fingerprints without an index past tables of the queries (section 3.3 of the paper),
// for several numbers of queries. The first queries are held against a comparison of all with all.
func scanQueries(ctx context.Context, b *bench, r *Result) error {
	base, all := sets.Planted(b.n, b.queries)
	o := scan.Options{Temp: b.dir, Budget: memory.NewBudget(memory.Machine{}.Limit(0)), Fingerprints: uint64(b.n)}
	open := func() (scan.Source, error) { return scan.Slice(base, 0), nil }
	read := float64(8*b.n) / machineMemory().ReadGBps / 1e9
	r.Columns = []string{"M fingerprints/s, 1 thread", "in reads of memory", "all threads", "hits"}
	for count := min(1000, len(all)); ; count = min(count*10, len(all)) {
		queries := all[:count]
		b.say("%d queries", count)
		var rates [2]Cell
		var hits int
		var sum uint64
		for i, threads := range []int{1, 0} {
			o.Threads = threads
			took, err := rounds(b.rounds, func() (err error) {
				hits, sum, err = scanSum(ctx, open, queries, o)
				return err
			})
			if err != nil {
				return err
			}
			rates[i] = took
		}
		if got := answer(hits, sum); count <= 1000 && got != compareAll(base, queries) {
			return fmt.Errorf("%s, comparing all with all finds %s", got, compareAll(base, queries))
		}
		r.row(humanize.Comma(int64(count))+" queries", rates[0].rate(float64(b.n)/1e6), number(rates[0].Value/read), rates[1].rate(float64(b.n)/1e6), number(float64(hits)))
		if count == len(all) {
			break
		}
	}
	r.note("k = %d; in reads of memory: time divided by that of reading the fingerprints once, on one thread", distance)
	r.note("verified: the answers to the first %d queries are those of comparing all with all", min(1000, len(all)))
	return nil
}

// scanSum returns the number of hits, each distinct fingerprint once a query, and their checksum.
func scanSum(ctx context.Context, open func() (scan.Source, error), queries []uint64, o scan.Options) (hits int, sum uint64, err error) {
	p, err := scan.NewPlan(len(queries), distance, false, o)
	if err != nil {
		return 0, 0, err
	}
	return sumOf(len(queries), scan.Answer(ctx, open, queries, distance, p, o))
}

// sumOf reads all hits, and returns the number of those of the first queries, each distinct fingerprint once a query, and their checksum.
func sumOf(first int, all iter.Seq2[scan.Hit, error]) (hits int, sum uint64, err error) {
	var last scan.Hit
	for h, err := range all {
		if err != nil {
			return 0, 0, err
		}
		if h.Query < uint64(first) && (hits == 0 || h.Query != last.Query || h.Fingerprint != last.Fingerprint) {
			hits++
			sum += oracle.Term(int(h.Query), h.Fingerprint)
		}
		last = h
	}
	return hits, sum, nil
}
