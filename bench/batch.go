package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"ndd/engine/memory"
	"ndd/engine/near/cluster"
	"ndd/engine/near/scan"
	"ndd/engine/oracle"
	"ndd/engine/oracle/sets"
)

// pass streams fingerprints without an index past tables of the queries (section 3.3 of the paper),
// for several numbers of queries. The first queries are held against a comparison of all with all.
func pass(ctx context.Context, b *bench, r *Result) error {
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
	var last scan.Hit
	for h, err := range scan.Answer(ctx, open, queries, distance, p, o) {
		if err != nil {
			return 0, 0, err
		}
		if hits == 0 || h.Query != last.Query || h.Fingerprint != last.Fingerprint {
			hits++
			sum += oracle.Term(int(h.Query), h.Fingerprint)
		}
		last = h
	}
	return hits, sum, nil
}

// join finds all near pairs of a corpus with itself, and groups them.
func join(ctx context.Context, b *bench, r *Result) error {
	r.Columns = []string{"M fingerprints/s, 1 thread", "in reads of memory", "all threads", "near pairs", "clusters"}
	for _, n := range []int{max(1000, b.n/10), b.n} {
		b.say("%d fingerprints", n)
		base, _ := sets.Planted(n, 0)
		pairs := 0
		for _, err := range cluster.Pairs(ctx, base, cluster.Options{K: distance}) {
			if err != nil {
				return err
			}
			pairs++
		}
		if n <= 100_000 {
			if want := pairsOf(base); pairs != want {
				return fmt.Errorf("%d pairs of %d fingerprints, comparing all with all finds %d", pairs, n, want)
			}
		}
		var rates [2]Cell
		var found [2]int
		for i, threads := range []int{1, 0} {
			took, err := rounds(b.rounds, func() error {
				c, err := cluster.Find(ctx, base, cluster.Options{K: distance, Threads: threads})
				if err == nil {
					found[i] = c.Len()
				}
				return err
			})
			if err != nil {
				return err
			}
			rates[i] = took
		}
		if found[0] != found[1] {
			return fmt.Errorf("one thread found %d clusters, all threads %d", found[0], found[1])
		}
		read := float64(8*n) / machineMemory().ReadGBps / 1e9
		r.row(humanize.Comma(int64(n)), rates[0].rate(float64(n)/1e6), number(rates[0].Value/read), rates[1].rate(float64(n)/1e6), number(float64(pairs)), number(float64(found[0])))
	}
	r.note("every pair within k = %d of a corpus of which one in a hundred is near another: sorted, joined, clustered", distance)
	r.note("verified: up to 100,000 fingerprints the pairs are those of comparing all with all; larger ones by one thread against all")
	return nil
}
