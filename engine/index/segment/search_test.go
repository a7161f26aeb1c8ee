package segment

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/engine/index/table"
	"ndd/engine/oracle/must"
	"ndd/permute"
)

// TestSearchTables says that the tables may be asked in any parts: together
// they find what a search of all finds.
func TestSearchTables(t *testing.T) {
	design, err := permute.Named("paper-10", 3, 1)
	must.Do(t, err)
	rng := rand.New(rand.NewPCG(1, 5))
	prints := make([]uint64, 20000)
	for i := range prints {
		prints[i] = rng.Uint64N(1<<20) << 22 // crowded, so that many tables find the same
	}
	for _, layout := range layouts {
		s := inMemory(t, prints, Options{Design: design, Threads: 1, Table: table.Options{Layout: table.Layout(layout)}})
		var c Scratch
		queries := prints[:100]
		if none, err := s.SearchTables(nil, nil, queries, 3, &c); err != nil || len(none) > 0 {
			t.Errorf("%s: no tables find %d matches, %v", layout, len(none), err)
		}
		want, err := s.Search(nil, queries, 3, &c)
		if err != nil || len(want) <= len(queries) {
			t.Fatal(len(want), err)
		}
		for range 10 {
			numbers := rng.Perm(len(s.Tables()))
			var got []Match
			for len(numbers) > 0 {
				n := 1 + rng.IntN(len(numbers))
				slices.Sort(numbers[:n])
				got, err = s.SearchTables(got, numbers[:n], queries, 3, &c)
				must.Do(t, err)
				numbers = numbers[n:]
			}
			compareMatches(t, layout, got, want)
		}
	}
}
