package segment

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/engine/index/table"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// TestEveryDesign searches by every design for large k, whose tables have radii of more than 2, in
// both layouts, and compares with all fingerprints. Some of the designs for each k must answer by
// probes: a scan would find all whatever these do.
func TestEveryDesign(t *testing.T) {
	t.Parallel()
	ks := []int{5, 6, 7, 8}
	n := long.Or(10_000, 40_000)
	prints := sets.Uniform(n, 4)
	for _, k := range ks {
		rng := rand.New(rand.NewPCG(2, uint64(k)))
		var queries []uint64
		var want []Match
		for i := range 24 {
			queries = append(queries, sets.Near(rng, prints[rng.IntN(n)], i%(k+2)))
			for _, f := range prints {
				if bits.OnesCount64(f^queries[i]) <= k {
					want = append(want, Match{i, f})
				}
			}
		}
		sortMatches(want)
		probed := 0
		for _, design := range permute.Catalogue(k, 1) {
			for _, layout := range layouts {
				var m store.Memory
				o := Options{Design: design, Threads: 2, Table: table.Options{Layout: table.Layout(layout)}}
				must.Do(t, Write(t.Context(), &m, Input{Fingerprints: prints}, o))
				s, err := Open(m.Source())
				must.Do(t, err)
				var tables []int
				for i := range s.Tables() {
					tables = append(tables, i)
				}
				var c Scratch
				for _, at := range []int{1, 4, len(queries)} { // one at a time, some, and all
					var got []Match
					for from := 0; from < len(queries); from += at {
						part := queries[from:min(from+at, len(queries))]
						if !s.searchPlan(k).scans(s, tables, len(part)) {
							probed++
						}
						found, err := s.Search(nil, part, k, &c)
						must.Do(t, err)
						for _, x := range found {
							got = append(got, Match{from + x.Query, x.Fingerprint})
						}
					}
					if sortMatches(got); !slices.Equal(got, want) {
						t.Errorf("k = %d, %s, %s, %d queries at a time: %d matches, want %d", k, design.Name, layout, at, len(got),
							len(want))
					}
				}
				s.Close()
			}
		}
		if probed < 100 {
			t.Errorf("k = %d: %d searches by probes", k, probed)
		}
	}
}

// sortMatches sorts matches by query and fingerprint.
func sortMatches(list []Match) {
	slices.SortFunc(list, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
}
