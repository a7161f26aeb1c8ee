package scan

import (
	"flag"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ndd/engine/oracle/sets"
)

var (
	collections = flag.Int("pauses", 30, "collections beside scans in TestPauses")
	pauseMax    = flag.Duration("pauses.most", 0,
		"the longest that a collection may wait for scans, 999 times in 1,000; 0: it is only measured")
)

// TestPauses runs garbage collections during a scan, and in its long form during scans on all processors. A kernel
// cannot be interrupted, so every collection would wait for a slow one. On a loaded machine many collections wait for
// a processor, so the short form only requires that one in ten is short in one of many turns.
func TestPauses(t *testing.T) {
	base, queries := sets.Planted(1<<20, 20_000)
	scanners, turns := 1, 50
	if *pauseMax > 0 {
		scanners, turns = runtime.GOMAXPROCS(0), 1
	}
	var over atomic.Bool
	var group sync.WaitGroup
	var scans atomic.Int64
	for range scanners {
		group.Go(func() {
			for !over.Load() {
				p, err := NewPlan(len(queries), 3, Options{Threads: 1})
				if err != nil {
					t.Error(err)
					return
				}
				for _, err := range Answer(t.Context(), Chunk{Fingerprints: base}, queries, 3, p, Options{Threads: 1}) {
					if err != nil {
						t.Error(err)
						return
					}
				}
				scans.Add(1)
			}
		})
	}
	defer group.Wait()
	defer over.Store(true)
	for turn := 1; ; turn++ {
		got := pausesOf(t, func() {
			first := scans.Load()
			for n := 0; (n < *collections || scans.Load() < first+2) && !t.Failed(); n++ {
				runtime.GC()
			}
		})
		tenth, last := got(0.1), got(0.999)
		t.Logf("stops during %d scans: a tenth within %v, half %v, 99.9 %% %v", scans.Load(), tenth, got(0.5), last)
		if *pauseMax > 0 && last > *pauseMax {
			t.Errorf("some wait %v for scans", last)
		}
		if tenth <= 5*time.Millisecond || t.Failed() {
			return
		}
		if turn == turns {
			t.Fatalf("nine in ten collections wait longer than %v for scans, in each of %d turns", tenth, turns)
		}
	}
}

// pausesOf returns the quantiles of the times for which garbage collections waited for goroutines to stop, during calls
// of collect.
func pausesOf(t *testing.T, collect func()) (quantile func(float64) time.Duration) {
	t.Helper()
	before := pauses()
	collect()
	after := pauses()
	all := uint64(0)
	for i := range after.Counts {
		after.Counts[i] -= before.Counts[i]
		all += after.Counts[i]
	}
	if all < uint64(*collections) && !t.Failed() {
		t.Fatalf("only %d stops", all)
	}
	return func(q float64) time.Duration {
		seen := uint64(0)
		for i, n := range after.Counts {
			if seen += n; float64(seen) >= q*float64(all) {
				return time.Duration(after.Buckets[i+1] * 1e9)
			}
		}
		return 0
	}
}

// pauses returns how long collections have waited for goroutines to stop.
func pauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64Histogram()
}
