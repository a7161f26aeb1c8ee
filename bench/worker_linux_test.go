package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ndd/engine"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/index/worker"
	"ndd/engine/oracle"
	"ndd/engine/storage/store"
	"ndd/numa"
	"ndd/permute"
)

// The environment of BenchmarkWorker.
//
//	NDD_INDEX               an index folder for k = 3; without it one is built of NDD_BASE (see BenchmarkTable), two planar tables
//	NDD_QUERIES             as of BenchmarkTable

// BenchmarkWorker queries an index through workers (package worker) and directly: one
// query after the other, from eight goroutines at a time, and in batches of one
// and two threads. All ways must give the same answers. A single query through a worker is expected
// to take longer by one hand-over (BenchmarkHandOver), which many goroutines and batches share.
func BenchmarkWorker(b *testing.B) {
	base, queries := tableInput(b)
	dir := os.Getenv("NDD_INDEX")
	if dir == "" {
		dir = workerIndex(b, base)
	}
	queries = queries[:min(len(queries), 200_000)]
	defer lockMachine(b)()
	h := numa.New(numa.Options{})
	want := ""
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
		o := way.options
		o.Verify = engine.VerifyFast
		x, err := engine.Open(b.Context(), dir, o)
		if err != nil {
			b.Fatal(err)
		}
		n := x.Stats().Fingerprints
		found := func(b *testing.B, sum string) {
			if want == "" {
				want = sum
				b.Logf("%d queries: %s", len(queries), sum)
			}
			if sum != want {
				b.Fatalf("%s, others found %s", sum, want)
			}
		}
		for _, askers := range []int{1, 8} {
			b.Run(fmt.Sprintf("way=%s/ask=online/goroutines=%d/n=%d", way.name, askers, n), func(b *testing.B) {
				for b.Loop() {
					took, sum := queryOnline(b, x, queries, askers)
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
					b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
					found(b, sum)
				}
				b.ReportMetric(float64(len(queries))*float64(b.N)/b.Elapsed().Seconds(), "queries/s")
			})
		}
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("way=%s/ask=batch/threads=%d/n=%d", way.name, threads, n), func(b *testing.B) {
				for b.Loop() {
					hits, sum := 0, uint64(0)
					err := x.Batch(b.Context(), simhash.Fingerprints(queries), engine.BatchOptions{K: distance, Threads: threads}, func(q int, list []engine.Hit) error {
						for i := range list {
							hits++
							sum += oracle.Term(q, uint64(list[i].Fingerprint))
						}
						return nil
					})
					if err != nil {
						b.Fatal(err)
					}
					found(b, fmt.Sprintf("results=%d checksum=%016x", hits, sum))
				}
				b.ReportMetric(float64(len(queries))*float64(b.N)/b.Elapsed().Seconds(), "queries/s")
			})
		}
		if r, ok := x.Live().Spread(); ok {
			b.Log(r)
		}
		x.Close()
	}
}

// workerIndex builds an index of the base.
func workerIndex(b *testing.B, base []uint64) string {
	dir := b.TempDir()
	path := filepath.Join(dir, "base.bin")
	if err := os.WriteFile(path, store.Bytes64(base), 0o644); err != nil {
		b.Fatal(err)
	}
	f, err := ndf.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	design, err := permute.Named("halves", distance, 1)
	if err != nil {
		b.Fatal(err)
	}
	dir = filepath.Join(dir, "index")
	if err := engine.Build(b.Context(), dir, []*ndf.File{f}, engine.BuildOptions{Options: segment.Options{Design: design, Threads: 2, Table: table.Options{Layout: table.LayoutPlanar}}}); err != nil {
		b.Fatal(err)
	}
	return dir
}

// queryOnline makes every query once, from a number of goroutines, and returns how long
// each took.
func queryOnline(b *testing.B, x *engine.Index, queries []uint64, askers int) (took []time.Duration, found string) {
	took = make([]time.Duration, len(queries))
	var hits, sum atomic.Uint64
	var all sync.WaitGroup
	for a := range askers {
		all.Go(func() {
			var h, s uint64
			for q := a; q < len(queries); q += askers {
				at := time.Now()
				list, err := x.Query(b.Context(), simhash.Fingerprint(queries[q]), distance, 0)
				took[q] = time.Since(at)
				if err != nil {
					b.Error(err)
					return
				}
				for i := range list {
					h++
					s += oracle.Term(q, uint64(list[i].Fingerprint))
				}
			}
			hits.Add(h)
			sum.Add(s)
		})
	}
	all.Wait()
	return took, fmt.Sprintf("results=%d checksum=%016x", hits.Load(), sum.Load())
}

// BenchmarkHandOver measures the time to submit an empty task to a pinned worker and to wait for it:
// with a worker that polls, with one that sleeps, and with tasks of many goroutines at a time.
func BenchmarkHandOver(b *testing.B) {
	h := numa.New(numa.Options{})
	for _, c := range []struct {
		name   string
		askers int
		pause  time.Duration
	}{{"awake", 1, 0}, {"asleep", 1, 200 * time.Microsecond}, {"many", 64, 0}} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("worker=%s/askers=%d/workers=%d", c.name, c.askers, workers), func(b *testing.B) {
				crew := numa.NewCrew(h, h.Nodes()[0], workers, func(*numa.Worker) func([]*numa.Latch) {
					return func(tasks []*numa.Latch) {
						for _, l := range tasks {
							l.Done()
						}
					}
				})
				defer crew.Close()
				each := 1 + 20000/c.askers
				if c.pause > 0 {
					each = 1000
				}
				var took []time.Duration
				var mu sync.Mutex
				rounds := 0
				for b.Loop() {
					rounds++
					var all sync.WaitGroup
					for range c.askers {
						all.Go(func() {
							var done numa.Latch
							own := make([]time.Duration, each)
							for i := range own {
								if c.pause > 0 {
									time.Sleep(c.pause)
								}
								at := time.Now()
								done.Begin(1)
								done.Wait(h, crew.Post(&done, true))
								own[i] = time.Since(at)
							}
							mu.Lock()
							took = append(took, own...)
							mu.Unlock()
						})
					}
					all.Wait()
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
				b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
				b.ReportMetric(float64(rounds*each*c.askers)/b.Elapsed().Seconds(), "tasks/s")
				b.ReportMetric(float64(crew.Stats().Tasks)/float64(crew.Stats().Batches), "tasks/batch")
			})
		}
	}
}
