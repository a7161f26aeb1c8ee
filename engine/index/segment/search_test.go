package segment

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/engine/index/table"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
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
		var m store.Memory
		if err := Write(t.Context(), &m, Input{Fingerprints: prints},
			Options{Design: design, Threads: 1, Table: table.Options{Layout: table.Layout(layout)}}); err != nil {
			t.Fatal(err)
		}
		s, err := Open(m.Source())
		must.Do(t, err)
		defer s.Close()
		var c Scratch
		order := func(list []Match) []Match {
			slices.SortFunc(list, func(a, b Match) int {
				return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Fingerprint, b.Fingerprint))
			})
			return list
		}
		queries := prints[:100]
		want, err := s.Search(nil, queries, 3, &c)
		if err != nil || len(want) <= len(queries) {
			t.Fatal(len(want), err)
		}
		order(want)
		for range 10 {
			numbers := rng.Perm(len(s.Tables()))
			var got []Match
			for len(numbers) > 0 {
				n := 1 + rng.IntN(len(numbers))
				got, err = s.SearchTables(got, numbers[:n], queries, 3, &c)
				must.Do(t, err)
				numbers = numbers[n:]
			}
			if !slices.Equal(order(got), want) {
				t.Fatalf("%s: %d matches, want %d", layout, len(got), len(want))
			}
		}
	}
}
