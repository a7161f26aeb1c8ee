package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"ndd/engine/near/cluster"
	"ndd/engine/oracle/sets"
)

// dedupPairs is the number of pairs within 3 bits in sets.Planted, by its size: for 1e6 counted by
// comparing all with all, for the others by joins in two designs.
var dedupPairs = map[int]uint64{1e6: 10072, 1e7: 100779, 1e8: 1007585}

// duplicates is how many of the fingerprints are not the first of their cluster, by way of their pairs, which are
// counted.
func duplicates(b *testing.B, base []uint64) (n int) {
	above := map[uint64]uint64{} // towards the root of a fingerprint's cluster
	root := func(f uint64) uint64 {
		for above[f] != 0 {
			f = above[f]
		}
		return f
	}
	pairs := uint64(0)
	for p, err := range cluster.Pairs(b.Context(), base, cluster.Options{K: 3}) {
		if err != nil {
			b.Fatal(err)
		}
		pairs++
		if x, y := root(p.A), root(p.B); x != y {
			above[x] = y
			n++
		}
	}
	if want, known := dedupPairs[len(base)]; known && pairs != want {
		b.Fatalf("%d pairs, want %d", pairs, want)
	}
	return n
}

// BenchmarkDedup groups fingerprints, of which one in a hundred is 1 to 3 bits from another,
// as `ndd dedup` does, at k = 3: sort, join, cluster. read-ratio is its time divided by that of
// reading the fingerprints once. Measured, one thread: 1e7 in 1.29 s, 1e8 in 14.4 s, where C++ that
// sorts and walks took 18.8. NDD_DEDUP is the number of fingerprints (default 1e6; 1e8 takes
// 4.2 GB).
func BenchmarkDedup(b *testing.B) {
	n := 1_000_000
	if s := os.Getenv("NDD_DEDUP"); s != "" {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			b.Fatal(err)
		}
		n = int(f)
	}
	machine := reportMemory(b)
	base, _ := sets.Planted(n, 0)
	want := duplicates(b, base)
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("n=%d/threads=%d", n, threads), func(b *testing.B) {
			gone := 0
			for b.Loop() {
				r, err := cluster.Find(context.Background(), base, cluster.Options{K: 3, Threads: threads})
				if err != nil {
					b.Fatal(err)
				}
				gone = r.Rows() - r.Len() - (len(base) - r.Distinct)
			}
			if gone != want {
				b.Fatalf("%d documents could go, want %d", gone, want)
			}
			seconds := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(float64(gone), "duplicates")
			b.ReportMetric(seconds*1e9/float64(n), "ns/fingerprint")
			b.ReportMetric(seconds/(8*float64(n)/machine.ReadGBps/1e9), "read-ratio")
		})
	}
}
