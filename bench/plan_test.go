package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/plan"
	"ndd/engine/index/table"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
	"ndd/permute"
)

var (
	planFingerprints = flag.Int("plan.n", 10_000_000, "fingerprints of BenchmarkPlan")
	planWith         = flag.String("plan.design", "", "the one design of BenchmarkPlan, instead of six")
	planAll          = flag.Bool("plan.all", false,
		"let BenchmarkPlan take every design that 'ndd design' lists, in both layouts")
)

// BenchmarkPlan builds indexes of six designs, queries them one query at a time and
// in batches, on one thread, and prints the predictions of package plan beside the
// measurements: bytes should agree within 2 %, times within a factor of 1.3. Times are
// the best of many rounds, each of other queries, which have no answers; those of
// other queries are held against a linear scan first.
func BenchmarkPlan(b *testing.B) {
	cases := []planCase{
		{"one", table.LayoutPlanar},
		{"halves", table.LayoutPlanar},
		{"mixed-3-1000", table.LayoutPlanar},
		{"cover-6-4-3", table.LayoutPlanar},
		{"cover-11-6-3", table.LayoutPlanar},
		{"halves", table.LayoutHuffman},
		{"paper-10", table.LayoutHuffman},
	}
	const k = distance
	n := *planFingerprints
	if *planAll {
		cases = allPlanCases(b, n, k)
	}
	prints := bigMemory()
	if n > len(prints) {
		b.Fatalf("%d fingerprints: at most %d", n, len(prints))
	}
	prints = prints[:n] // uniform: it is filled with hashes
	path := filepath.Join(b.TempDir(), "base.bin")
	must.Do(b, os.WriteFile(path, store.Bytes64(prints), 0o644))
	for _, c := range cases {
		if *planWith != "" && *planWith != c.design {
			continue
		}
		b.Run(fmt.Sprintf("design=%s/layout=%s/n=%d", c.design, c.layout, n), func(b *testing.B) {
			design, err := permute.Named(c.design, k, 1)
			must.Do(b, err)
			p, err := plan.New(b.Context(), plan.Request{Fingerprints: uint64(n), K: k, Layout: c.layout,
				Designs: []permute.Design{design}})
			must.Do(b, err)
			x, err := buildIndex(b.Context(), filepath.Join(b.TempDir(), "index"), path, c.design, c.layout)
			must.Do(b, err)
			defer x.Close()
			queries := slices.Clone(prints[:20])
			for i := range queries {
				queries[i] ^= 1<<(i%(k+2)) - 1
			}
			must.Do(b, verifyIndex(b.Context(), x, prints, queries))
			var online, batch float64
			for b.Loop() {
				online, batch = timeQueries(b, x, k, p.Choice.OnlineNS)
			}
			bytes := float64(x.Stats().TableBytes)
			report := func(what string, predicted, measured float64) {
				b.ReportMetric(measured, what)
				b.ReportMetric(predicted/measured, "predicted/"+what)
			}
			report("B/fp", float64(p.Choice.TableBytes)/float64(n), bytes/float64(n))
			report("online-ns", p.Choice.OnlineNS, online)
			report("batch-ns", p.Choice.BatchNS, batch)
			b.ReportMetric(0, "ns/op")
		})
	}
}

// A planCase is a design in a layout.
type planCase struct {
	design string
	layout table.Layout
}

// allPlanCases returns those that a plan for n fingerprints looks at.
func allPlanCases(b *testing.B, n, k int) (cases []planCase) {
	p, err := plan.New(b.Context(), plan.Request{Fingerprints: uint64(n), K: k})
	must.Do(b, err)
	for _, o := range p.Options {
		cases = append(cases, planCase{o.Design.Name, o.Layout})
	}
	return cases
}

// timeQueries returns the time of a query alone and in a batch of batchCount, in ns: the shortest
// of many rounds of a millisecond or more, each of other queries. Rounds of one kind follow one
// another, as queries of one kind do in use: what caches and branch predictors know is of that
// kind.
func timeQueries(b *testing.B, x *engine.Index, k int, about float64) (online, batch float64) {
	const batchCount = 1024
	rng := rand.New(rand.NewPCG(3, 4))
	online = leastTime(rng, min(max(int(1e6/about), 16), batchCount), func(queries []uint64) {
		for _, q := range queries {
			if _, err := x.Query(b.Context(), simhash.Fingerprint(q), k, engine.AllDocs); err != nil {
				b.Fatal(err)
			}
		}
	})
	return online, leastTime(rng, batchCount, func(queries []uint64) {
		err := x.Batch(context.Background(), simhash.Fingerprints(queries), engine.BatchOptions{K: k, Threads: 1},
			func(int, []engine.Hit) error { return nil })
		must.Do(b, err)
	})
}

// leastTime returns the least time of a query in ns, of rounds of count queries each: 150 rounds or
// what a second has, and 0.3 seconds at least.
func leastTime(rng *rand.Rand, count int, answer func(queries []uint64)) float64 {
	best := math.Inf(1)
	for begun, rounds := time.Now(), 0; ; rounds++ {
		if took := time.Since(begun); rounds > 0 && (took > time.Second || rounds >= 150 && took > 300*time.Millisecond) {
			return best
		}
		queries := randomWords(rng, count)
		begin := time.Now()
		answer(queries)
		best = min(best, float64(time.Since(begin))/float64(count))
	}
}

func randomWords(rng *rand.Rand, n int) []uint64 {
	words := make([]uint64, n)
	for i := range words {
		words[i] = rng.Uint64()
	}
	return words
}
