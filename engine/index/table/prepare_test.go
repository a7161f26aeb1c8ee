package table

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/permute"
)

// TestPrepare searches tables of several sizes with and without prepared probes. The leading bits range from fewer than
// the bucket bits to many more. It tests several radii, distances, and more queries than a round. Both searches find
// the same, and probes are prepared if they are few.
func TestPrepare(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 12))
	var c Scratch
	for _, n := range []int{1, 300, 20_000} {
		keys := distinct(sets.Generate(n, func(i int) uint64 {
			if i%3 == 0 {
				return rng.Uint64N(1 << 24) // many keys in few buckets
			}
			return rng.Uint64()
		}))
		table := build(t, keys, Options{Layout: LayoutPlanar})
		queries := sets.Generate(70, func(int) uint64 { return keys[rng.IntN(len(keys))] ^ 1<<rng.IntN(64) })
		for _, leading := range []int{0, 3, 8, 11, 12, 13, 14, 16, 20, 32, 64} {
			for radius := range 3 {
				for k := range 4 {
					s := Search{Queries: queries, Leading: leading, Flips: permute.Flips(leading, radius), K: k}
					want, err := search(table, &s, &c)
					must.Do(t, err)
					s.Prepare(table)
					for _, few := range []int{1, 7} {
						alone := s
						alone.Queries = queries[:few]
						compareAlone(t, table, &alone, want, &c)
					}
					if leading == 8 && radius == 0 {
						compareMany(t, table, &s, &c)
					}
					if few := s.Flips.Len() <= flipChunk/8; few && s.prepared == nil {
						t.Fatalf("%d keys, %d leading bits, radius %d: nothing is made in advance", n, leading, radius)
					}
					compareAlone(t, table, &s, want, &c)
					part := s // a sweep searches for some of the patterns at a time
					if part.Flips.Radius--; part.Flips.Len() > 0 {
						some, err := search(table, &part, &c)
						must.Do(t, err)
						part.prepared = nil
						if smaller, err := search(table, &part, &c); err != nil || !slices.Equal(some, smaller) {
							t.Fatalf("%d keys, %d leading bits, radius %d, k = %d, prepared for one more: %d matches, want %d; %v", n,
								leading, radius, k, len(some), len(smaller), err)
						}
					}
				}
			}
		}
	}
}

// compareAlone searches for each of the first few queries and compares with the matches of the whole batch.
func compareAlone(t *testing.T, table Table, s *Search, want []Match, c *Scratch) {
	t.Helper()
	got, err := search(table, s, c)
	must.Do(t, err)
	want = slices.DeleteFunc(slices.Clone(want), func(m Match) bool { return m.Query >= len(s.Queries) })
	if !slices.Equal(order(got), order(want)) {
		t.Fatalf("%d keys, %d leading bits, radius %d, k = %d, %d queries: %d matches, want %d", table.Len(), s.Leading,
			s.Flips.Radius, s.K, len(s.Queries), len(got), len(want))
	}
}

// compareMany searches for one query in very many tables, whose probes fill more than a round. Each table must have the
// same matches as alone.
func compareMany(t *testing.T, table Table, s *Search, c *Scratch) {
	t.Helper()
	few := *s
	few.Queries = few.Queries[:1]
	const tables = probesPerRound + 7
	want, err := search(table, &few, c)
	must.Do(t, err)
	got, err := SearchAll(nil, slices.Repeat([]Table{table}, tables), slices.Repeat([]Search{few}, tables), c)
	must.Do(t, err)
	for i := range tables {
		var of []Match
		for _, m := range got {
			if m.Table == i {
				of = append(of, Match{Query: m.Query, Key: m.Key})
			}
		}
		if !slices.Equal(order(of), order(want)) {
			t.Fatalf("%d keys, k = %d, table %d of %d: %d matches, want %d", table.Len(), s.K, i, tables, len(of), len(want))
		}
	}
}
