package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"ndd/engine/near/cluster"
	"ndd/engine/oracle/sets"
)

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
