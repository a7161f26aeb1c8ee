package table

import (
	"context"
	"errors"
	"flag"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/permute"
)

// TestProbingEstimates compares the predicted number of candidates of a query of skewed keys with a count. For the
// chosen leading bits, the prediction is at most twice and at least half of the count, except for keys between two
// fences. One query is taken from each part of the sorted keys: a random quarter of 32 queries could be in a single
// group.
func TestProbingEstimates(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	for _, set := range skewed(100_000) {
		name, keys := set.Name, set.Base
		for _, o := range layouts {
			tab := build(t, keys, o)
			const between = fenceKeys
			for radius := range 5 {
				p := tab.PlanProbes(64, radius, 3)
				if want := float64(permute.Ball(p.Leading, radius)); p.Probes != want {
					t.Errorf("%s, %v, radius %d: %v probes of %d bits, want %v", name, o, radius, p.Probes, p.Leading, want)
				}
				queries := long.Or(32, 64)
				agree := 0
				for i := range queries {
					q := keys[(i*len(keys)+rng.IntN(len(keys)))/queries] // a random key of each part
					for _, key := range keys {
						if bits.OnesCount64((key^q)>>(64-p.Leading)) <= radius {
							agree++
						}
					}
				}
				counted := float64(agree) / float64(queries)
				if p.Candidates > 2*counted+between || counted > 2*p.Candidates+2*between {
					t.Errorf("%s, %v, radius %d, %d bits: %.0f candidates said, %.0f counted", name, o, radius, p.Leading,
						p.Candidates, counted)
				}
			}
		}
	}
}

// TestProbingIsQuick checks that the cost of a query by probing is computed quickly, for any keys, radius and number
// of leading bits. The flips of 64 bits are not enumerated, which would never end, and nothing large is allocated.
func TestProbingIsQuick(t *testing.T) {
	var memory [2]runtime.MemStats
	for _, set := range skewed(30_000) {
		tab := build(t, set.Base, Options{Layout: LayoutPlanar})
		for _, p := range []int{1, 13, 24, 40, 64} {
			for radius := range permute.MaxK + 1 {
				runtime.ReadMemStats(&memory[0])
				got := tab.PlanProbes(p, radius, permute.MaxK)
				runtime.ReadMemStats(&memory[1])
				if bytes := memory[1].TotalAlloc - memory[0].TotalAlloc; bytes > 1<<16 || got.Leading > p || got.NS <= 0 {
					t.Errorf("%s: radius %d of %d bits: %+v, %d bytes to say what queries cost", set.Name, radius, p, got, bytes)
				}
			}
		}
	}
}

// TestScan checks that a scan finds the same keys as a comparison of all keys, also if keys are skewed, and ends with
// its context.
func TestScan(t *testing.T) {
	for _, set := range skewed(20_000) {
		name, keys, queries := set.Name, set.Base, set.Queries
		for _, o := range layouts {
			tab := build(t, keys, o)
			var c Scratch
			for _, k := range []int{0, 3, 8} {
				got, err := Scan(nil, tab, queries, k, &c)
				must.Do(t, err)
				want := find(keys, &Search{Queries: queries, K: k})
				if !slices.Equal(order(got), order(want)) {
					t.Errorf("%s, %v, k = %d: %d matches, want %d", name, o, k, len(got), len(want))
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			c.SetContext(ctx)
			if got, err := Scan(nil, tab, queries, 8, &c); !errors.Is(err, context.Canceled) || len(got) > 0 {
				t.Errorf("%s, %v: %d matches and %v of a scan that was called off", name, o, len(got), err)
			}
			s := &Search{Queries: queries, Leading: 12, Flips: permute.Flips(12, 2), K: 3}
			if _, err := search(tab, s, &c); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %v: %v of a search that was called off", name, o, err)
			}
		}
	}
}

var costKeys = flag.Int("costs.n", 1<<20, "keys of BenchmarkCosts")

// BenchmarkCosts measures the constants of searchCosts on uniform keys, in ns: a probe, a candidate of a long run, a
// candidate whose low bits match, an unpacked key, and a comparison.
func BenchmarkCosts(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	keys := distinct(sets.Uniform(*costKeys, 1))
	queries := make([]uint64, 256)
	for _, layout := range []Layout{LayoutPlanar, LayoutHuffman} {
		b.Run("layout="+string(layout), func(b *testing.B) {
			tab := build(b, keys, Options{Layout: layout})
			var c Scratch
			var matches []Match
			times := func(leading, radius, k, queryCount int) float64 {
				best := time.Duration(1 << 62)
				for range 20 {
					for i := range queries {
						queries[i] = rng.Uint64()
					}
					s := Search{Queries: queries[:queryCount], Leading: leading, Flips: permute.Flips(leading, radius), K: k}
					began := time.Now()
					var err error
					matches, err = SearchAll(matches[:0], []Table{tab}, []Search{s}, &c)
					must.Do(b, err)
					best = min(best, time.Since(began))
				}
				return float64(best) / float64(queryCount)
			}
			scan := func(queryCount int) float64 {
				best := time.Duration(1 << 62)
				for range 5 {
					began := time.Now()
					var err error
					matches, err = Scan(matches[:0], tab, queries[:queryCount], 3, &c)
					must.Do(b, err)
					best = min(best, time.Since(began))
				}
				return float64(best) / float64(len(keys))
			}
			for b.Loop() {
				const leading = 24
				probe := times(leading, 1, 3, 256) / (leading + 1)
				run := times(3, 0, 0, 4) / (float64(len(keys)) / 8)
				passing := times(3, 0, 6, 4) / (float64(len(keys)) / 8)
				one, many := scan(1), scan(9)
				b.ReportMetric(probe, "probe-ns")
				b.ReportMetric(run, "candidate-ns")
				b.ReportMetric((passing-run)/(float64(permute.Ball(lowBits, 6))/(1<<lowBits)), "pass-ns")
				b.ReportMetric(one, "walk-ns")
				b.ReportMetric((many-one)/8, "compare-ns")
			}
		})
	}
}
