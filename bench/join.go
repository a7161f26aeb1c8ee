package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/dustin/go-humanize"

	"ndd/engine/near/cluster"
	"ndd/engine/oracle"
	"ndd/engine/oracle/sets"
)

// join finds all near pairs of a corpus with itself, and groups them.
func join(ctx context.Context, b *bench, r *Result) error {
	r.Columns = []string{"M fingerprints/s, 1 thread", "in reads of memory", "all threads", "near pairs", "clusters"}
	for _, n := range []int{max(1000, b.n/10), b.n} {
		b.say("%d fingerprints", n)
		base, _ := sets.Planted(n, 0)
		distinct := distinct(base)
		pairs := 0
		if err := cluster.Join(ctx, distinct, cluster.Choose(len(distinct), distance), runtime.GOMAXPROCS(0),
			func(uint64, uint64) { pairs++ }); err != nil {
			return err
		}
		if n <= 100_000 {
			if want := len(oracle.Pairs(distinct, distance)); pairs != want {
				return fmt.Errorf("%d pairs of %d fingerprints, comparing all with all finds %d", pairs, n, want)
			}
		}
		found := -1
		times, err := b.byThreads(func(threads int) error {
			c, err := cluster.Find(ctx, cluster.NewPrints(base), cluster.Options{K: distance, Threads: threads})
			if err != nil {
				return err
			}
			if found >= 0 && c.Len() != found {
				return fmt.Errorf("%d clusters with %d threads, before %d", c.Len(), threads, found)
			}
			found = c.Len()
			return nil
		})
		if err != nil {
			return err
		}
		read := float64(8*n) / machineMemory().ReadGBps / 1e9
		r.row(humanize.Comma(int64(n)), times[0].rate(float64(n)/1e6), times[0].Value/read,
			times[1].rate(float64(n)/1e6), pairs, found)
	}
	r.note("every pair within k = %d of a corpus of which one in a hundred is near another: sorted, joined, clustered",
		distance)
	r.note("verified: up to 100,000 fingerprints the pairs are those of comparing all with all; larger ones by one " +
		"thread against all")
	return nil
}
