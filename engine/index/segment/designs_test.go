package segment

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"ndd/engine/index/table"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
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
		probed := 0
		for _, design := range permute.Catalogue(k, 1) {
			for _, layout := range layouts {
				s := inMemory(t, prints, Options{Design: design, Threads: 2, Table: table.Options{Layout: table.Layout(layout)}})
				var c Scratch
				for _, at := range []int{1, 4, len(queries)} { // one at a time, some, and all
					var got []Match
					for from := 0; from < len(queries); from += at {
						part := queries[from:min(from+at, len(queries))]
						if !s.searchPlan(k).scans(s, s.every, len(part)) {
							probed++
						}
						found, err := s.Search(nil, part, k, &c)
						must.Do(t, err)
						for _, x := range found {
							got = append(got, Match{from + x.Query, x.Fingerprint})
						}
					}
					compareMatches(t, fmt.Sprintf("k = %d, %s, %s, %d queries at a time", k, design.Name, layout, at), got, want)
				}
			}
		}
		if probed < 100 {
			t.Errorf("k = %d: %d searches by probes", k, probed)
		}
	}
}
