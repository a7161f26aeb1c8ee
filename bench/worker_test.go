package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ndd/engine"
	"ndd/engine/index/table"
	"ndd/engine/index/worker"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/numa"
)

var workerFingerprints = flag.Int("worker.n", 1_000_000, "fingerprints of BenchmarkWorker")

// BenchmarkWorker queries an index through workers (package worker) and directly: one query after
// the other, and in batches of one and two threads. All ways must give the same answers. A single
// query through a worker takes longer by one hand-over, which batches share.
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
		for _, threads := range []int{0, 1, 2} { // 0: one by one
			b.Run(fmt.Sprintf("way=%s/threads=%d/n=%d", way.name, threads, len(base)), func(b *testing.B) {
				for b.Loop() {
					var got answer
					if threads == 0 {
						got, err = ask(b.Context(), x, queries, 0, len(queries))
					} else {
						got, err = batchSum(b.Context(), x, queries, threads)
					}
					must.Do(b, err)
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
		x.Close()
	}
}
