package scan

import (
	"fmt"
	"iter"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/permute"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// answer maps chunks of the given size in any order, the last one twice, and returns the sorted hits.
func answer(t testing.TB, tables *tables, base []uint64, chunk int) []oracle.Hit {
	t.Helper()
	hits := newHits(nil, t.TempDir(), 1<<20, 1)
	defer hits.Close()
	to := &expander{tables, 0, hits.Writer()}
	m, err := tables.newMapper(func(matches []match) error { return to.take(t.Context(), matches) })
	must.Do(t, err)
	defer m.Close()
	for first := (len(base) - 1) / chunk * chunk; first >= 0 && len(base) > 0; first -= chunk {
		must.Do(t, m.Map(t.Context(), Chunk{base[first:min(first+chunk, len(base))], uint64(first)}, func(int) {}))
	}
	must.Do(t, m.Map(t.Context(), Chunk{Fingerprints: base[:min(chunk, len(base))]}, func(int) {}))
	to.to.Close()
	return collectRecords(t, hits)
}

func collectRecords(t testing.TB, hits *hits) []oracle.Hit {
	return collect(t, func(yield func(Hit, error) bool) {
		for r, err := range hits.All() {
			if !yield(hitOf(r), err) {
				return
			}
		}
	})
}

func collect(t testing.TB, hits iter.Seq2[Hit, error]) (list []oracle.Hit) {
	t.Helper()
	for h, err := range hits {
		must.Do(t, err)
		list = append(list, oracle.Hit{Query: int(h.Query), Distance: h.Distance, Fingerprint: h.Fingerprint,
			Row: int(h.Row)})
	}
	return list
}

func TestOracle(t *testing.T) {
	for k := 0; k <= 6; k++ {
		if !long.Form() && k%3 > 0 {
			continue
		}
		for _, set := range sets.All(600, 100, k, uint64(k)+77) {
			queries := append(slices.Clone(set.Queries), set.Queries[:20]...) // some twice
			o := buildOptions{K: k, Threads: 2, Fingerprints: uint64(len(set.Base))}
			compare(t, set.Name, set.Base, queries, o, 100, 2048)
		}
	}
}

// compare compares answers of tables of queries with brute force.
func compare(t *testing.T, what string, base, queries []uint64, o buildOptions, chunks ...int) {
	t.Helper()
	want := oracle.Search(base, queries, o.K)
	tables, err := newTables(queries, o)
	must.Do(t, err)
	defer tables.Close()
	for _, chunk := range chunks {
		if got := answer(t, tables, base, chunk); !slices.Equal(got, want) {
			t.Fatalf("k=%d, %s, chunks of %d: %d hits, want %d", o.K, what, chunk, len(got), len(want))
		}
	}
}

// TestLayouts answers few queries with the layouts for many: every design and number of buckets that some number of
// queries selects.
func TestLayouts(t *testing.T) {
	seen := map[string]bool{}
	for k := 0; k <= 4; k++ {
		for _, pretended := range []int{1, 100, 1000, 10_000, 100_000, 1_000_000, 4_000_000, 16_000_000, 100_000_000} {
			s := chooseStrategy(workload{queries: pretended, k: k})
			name := fmt.Sprint(k, s)
			if seen[name] {
				continue
			}
			seen[name] = true
			s = inLessMemory(s)
			base, queries := sets.Planted(3000, 300)
			if k%2 == 1 {
				set := sets.All(2000, 300, k, 5)[1] // clustered
				base, queries = set.Base, set.Queries
			}
			compare(t, name, base, queries, buildOptions{K: k, Threads: 1, Strategy: &s}, 1000)
		}
	}
	if len(seen) < 15 {
		t.Errorf("only %d layouts", len(seen))
	}
}

// inLessMemory returns the same strategy with smaller parts, maps, tables and partitions.
func inLessMemory(s strategy) strategy {
	s.part = min(s.part, filteredPrintsMin)
	if s.mapBits > 0 {
		s.mapBits = mapBitsMin
	}
	for _, g := range s.groups {
		for i, l := range g.layouts {
			if l.bucketBits > 18 {
				l.bucketBits = 18
				if l.dropBits > 0 {
					l.dropBits = 32 - l.bucketBits
				}
				g.layouts[i] = l
			}
		}
	}
	return s
}

// TestPrefilter answers through prefilters of any size, whether they would pay or not.
func TestPrefilter(t *testing.T) {
	for _, k := range []int{1, 3, 4, 6} {
		if !long.Form() && k != 3 {
			continue
		}
		for i, set := range sets.All(1500, 300, k, uint64(k)+7) {
			queries := append(slices.Clone(set.Queries), set.Queries[:9]...)
			s := prefilterStrategy(workload{queries: len(queries), k: k, fingerprints: 1}, mapBitsMin+(i+k)%3)
			compare(t, set.Name, set.Base, queries, buildOptions{K: k, Threads: 1, Strategy: &s}, 700)
		}
	}
}

// TestDilate compares with every pair of numbers.
func TestDilate(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, words := range []int{8, 16, 64} {
		src, dst, want := make([]uint64, words), make([]uint64, words), make([]uint64, words)
		for range 9 {
			bit := rng.IntN(64 * words)
			src[bit/64] |= 1 << (bit % 64)
			for other := range 64 * words {
				if bits.OnesCount(uint(bit^other)) <= 1 {
					want[other/64] |= 1 << (other % 64)
				}
			}
		}
		if dilate(dst, src); !slices.Equal(dst, want) {
			t.Errorf("%d words: got %x, want %x", words, dst, want)
		}
	}
}

// TestLarge has realistic sizes: tables larger than a cache, and long buckets, because a third of the queries share
// leading bits. It compares the hits of some rows of F with brute force.
func TestLarge(t *testing.T) {
	n, nq := long.Or(300_000, 1_500_000), 300_000
	rng := rand.New(rand.NewPCG(1, 2))
	base, queries := sets.Uniform(n, 1), sets.Uniform(nq, 2)
	for i := 0; i < nq; i += 3 {
		queries[i] &= 1<<40 - 1
	}
	for range nq / 10 {
		base[rng.IntN(n)] = sets.Flip(rng, queries[rng.IntN(nq)], rng.IntN(4))
	}
	tables, err := newTables(queries, buildOptions{K: 3, Threads: 2})
	must.Do(t, err)
	defer tables.Close()
	if tables.strategy.mapBits == 0 {
		t.Fatal("no prefilter")
	}
	got := answer(t, tables, base, n/3+1)
	rows := map[int]bool{}
	for i := 0; i < n; i += n / 199 {
		rows[i] = true
	}
	for i := 0; i < len(got); i += len(got)/100 + 1 {
		rows[got[i].Row] = true
	}
	mine := slices.DeleteFunc(slices.Clone(got), func(h oracle.Hit) bool { return !rows[h.Row] })
	sample, some := slices.Sorted(maps.Keys(rows)), []uint64(nil)
	for _, row := range sample {
		some = append(some, base[row])
	}
	want := oracle.Search(some, queries, 3)
	for i := range want {
		want[i].Row = sample[want[i].Row]
	}
	if len(got) < nq/20 || len(want) < 80 || !slices.Equal(mine, want) {
		t.Errorf("%d hits; of the sample %d, want %d", len(got), len(mine), len(want))
	}
}

func TestBadQueries(t *testing.T) {
	if _, err := newTables(nil, buildOptions{K: 9, Threads: 1}); err == nil {
		t.Fatal("no error for k = 9")
	}
	tables, err := newTables(nil, buildOptions{K: 3, Threads: 1})
	must.Do(t, err)
	defer tables.Close()
	if got := answer(t, tables, []uint64{1, 2}, 10); got != nil {
		t.Fatalf("hits of no queries: %v", got)
	}
}

// BenchmarkMap maps random fingerprints, as many as a part of a prefilter, past random queries. It measures the
// chosen strategy, no prefilter, and maps of other sizes. The cost model is derived from it, and it shows better
// choices. One fingerprint in 10,000 matches.
func BenchmarkMap(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 6))
	base := sets.Uniform(filteredPrints, 5)
	for _, nq := range []int{10, 100, 1000, 10_000, 100_000, 1_000_000, 4_000_000, 16_000_000} {
		queries := sets.Uniform(nq, 6)
		for i := 0; i < len(base); i += 10_000 {
			base[i] = sets.Flip(rng, queries[rng.IntN(nq)], i/10_000%4)
		}
		chosen := chooseStrategy(workload{queries: nq, k: 3})
		benchmarkMap(b, "chosen", base, queries, chosen)
		if chosen.mapBits == 0 {
			continue
		}
		benchmarkMap(b, "plain", base, queries, chooseStrategy(workload{queries: nq, k: 3, noPrefilter: true}))
		for bits := max(mapBitsMin, chosen.mapBits-2); bits <= min(32, chosen.mapBits+1); bits++ {
			benchmarkMap(b, "prefilter", base, queries, prefilterStrategy(workload{queries: nq, k: 3}, bits))
		}
	}
}

func benchmarkMap(b *testing.B, what string, base, queries []uint64, s strategy) {
	b.Run(fmt.Sprintf("q=%d/plan=%s/map=%d/tables=%d", len(queries), what, s.mapBits, len(s.groups[0].tables)), func(b *testing.B) {
		tables, err := newTables(queries, buildOptions{K: 3, Threads: 2, Strategy: &s})
		must.Do(b, err)
		defer tables.Close()
		benchmarkTables(b, tables, base, len(base)/10_000, s.cost)
	})
}

// benchmarkTables maps fingerprints. Some of them match.
func benchmarkTables(b *testing.B, t *tables, base []uint64, matches int, cost float64) {
	n := 0
	m, err := t.newMapper(func(matches []match) error { n += len(matches); return nil })
	must.Do(b, err)
	defer m.Close()
	for b.Loop() {
		n = 0
		must.Do(b, m.Map(b.Context(), Chunk{Fingerprints: base}, func(int) {}))
	}
	if n < matches {
		b.Fatalf("%d matches", n)
	}
	b.ReportMetric(cost, "predicted-ns/fp")
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(len(base)), "ns/fp")
}

// BenchmarkLayout maps random fingerprints past random queries in one table of each layout. The cost model is derived
// from it.
func BenchmarkLayout(b *testing.B) {
	base := sets.Uniform(4<<20, 7)
	for _, nq := range []int{1000, 10_000, 100_000, 300_000, 1_000_000, 4_000_000, 16_000_000} {
		queries := sets.Uniform(nq, 8)
		for bits := 1; bits <= 22; bits++ {
			if mean := float64(nq) / float64(int(1)<<bits); mean < 3 || mean > 130 {
				continue
			}
			l := layoutOf(nq, bits, false, false)
			s := strategy{part: partPrints, groups: []group{{tables: []permute.Table{{Mask: 0x5555555555555555}},
				layouts: []layout{l}}}}
			tables, err := newTables(queries, buildOptions{K: 3, Threads: 2, Strategy: &s})
			must.Do(b, err)
			b.Run(fmt.Sprintf("q=%d/bits=%d/lanes=%d/bytes=%d", nq, bits, tables.tables[0].buckets.Lanes, l.bytes),
				func(b *testing.B) { benchmarkTables(b, tables, base, 0, l.cost) })
			tables.Close()
		}
	}
}
