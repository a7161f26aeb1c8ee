package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/table"
	"ndd/engine/index/worker"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/numa"
)

var workerFingerprints = flag.Int("worker.n", 1_000_000, "fingerprints of BenchmarkWorker")

// BenchmarkWorker queries an index through workers (package worker) and directly: one query after
// the other, from eight goroutines at a time, and in batches of one and two threads. All ways must
// give the same answers. A single query through a worker takes longer by one hand-over, which many
// goroutines and batches share.
func BenchmarkWorker(b *testing.B) {
	base, queries := sets.Planted(*workerFingerprints, 100_000)
	path, dir := filepath.Join(b.TempDir(), "base.bin"), filepath.Join(b.TempDir(), "index")
	must.Do(b, os.WriteFile(path, store.Bytes64(base), 0o644))
	built, err := buildIndex(b.Context(), dir, path, "halves", table.LayoutPlanar)
	must.Do(b, err)
	built.Close()
	h := numa.New(numa.Options{})
	var want answer
	for _, way := range []struct {
		name    string
		options engine.OpenOptions
	}{
		{"mapped", engine.OpenOptions{}},
		{"loaded", engine.OpenOptions{Load: true}},
		{"arena", engine.OpenOptions{Spread: &worker.Options{Host: h, Direct: true}}},
		{"workers1", engine.OpenOptions{Spread: &worker.Options{Host: h, Workers: 1}}},
		{"workers2", engine.OpenOptions{Spread: &worker.Options{Host: h, Workers: 2}}},
	} {
		x, err := engine.Open(b.Context(), dir, way.options)
		must.Do(b, err)
		bench := func(name string, ask func(b *testing.B) answer) {
			b.Run(fmt.Sprintf("way=%s/%s/n=%d", way.name, name, len(base)), func(b *testing.B) {
				for b.Loop() {
					got := ask(b)
					if want == (answer{}) {
						want = got
					}
					if got != want {
						b.Fatalf("%v, others found %v", got, want)
					}
				}
				b.ReportMetric(float64(len(queries))*float64(b.N)/b.Elapsed().Seconds(), "queries/s")
			})
		}
		for _, callers := range []int{1, 8} {
			bench(fmt.Sprintf("ask=online/goroutines=%d", callers), func(b *testing.B) answer {
				return queryOnline(b, x, queries, callers)
			})
		}
		for _, threads := range []int{1, 2} {
			bench(fmt.Sprintf("ask=batch/threads=%d", threads), func(b *testing.B) answer {
				a, err := batchSum(b.Context(), x, queries, threads)
				must.Do(b, err)
				return a
			})
		}
		x.Close()
	}
}

// queryOnline asks every query once, from a number of goroutines, and reports how long one takes.
func queryOnline(b *testing.B, x *engine.Index, queries []uint64, callers int) (sum answer) {
	took := make([]time.Duration, len(queries))
	var mu sync.Mutex
	var group sync.WaitGroup
	for c := range callers {
		group.Go(func() {
			var own answer
			for q := c; q < len(queries); q += callers {
				at := time.Now()
				list, err := x.Query(b.Context(), simhash.Fingerprint(queries[q]), distance, 0)
				took[q] = time.Since(at)
				if err != nil {
					b.Error(err)
					return
				}
				for i := range list {
					own.add(q, uint64(list[i].Fingerprint))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			sum.plus(own)
		})
	}
	group.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
	return sum
}
