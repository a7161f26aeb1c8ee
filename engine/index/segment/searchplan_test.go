package segment

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/permute"
)

// compareMatches sorts the matches and requires that they are the same.
func compareMatches(t *testing.T, name string, got, want []Match) {
	t.Helper()
	for _, list := range [][]Match{got, want} {
		slices.SortFunc(list, func(a, b Match) int {
			return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Fingerprint, b.Fingerprint))
		})
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d matches, want %d", name, len(got), len(want))
	}
}

// TestScanOfConsecutive checks that consecutive numbers are the most skewed fingerprints. A query for distance 6
// matches a fifth of them, and matches make probes more expensive. So a single query is answered by a scan, for every
// design, radius and layout. With uniform fingerprints it is not.
func TestScanOfConsecutive(t *testing.T) {
	const n, k = 100_000, 6
	consecutive := sets.Generate(n, func(i int) uint64 { return uint64(i) })
	for _, name := range []string{"one", "halves", "thirds"} {
		for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
			s := inMemory(t, consecutive, Options{Design: named(t, name, k), Table: table.Options{Layout: layout}})
			if !s.searchPlan(k).scans(s, s.numbers, 1) {
				t.Errorf("%s, %s: a query of consecutive numbers makes probes of %.0f ns, a scan takes %.0f", name, layout,
					s.searchPlan(k).ns, table.ScanNS(layout, n, 1))
			}
		}
	}
	if s := inMemory(t, sets.Uniform(n, 3), Options{Design: named(t, "halves", 3)}); s.searchPlan(3).scans(s, s.numbers, 1) {
		t.Error("uniform fingerprints are scanned")
	}
}

// TestLocateMany checks that many fingerprints are located like single ones, in any layout, and that absent ones have
// no documents.
func TestLocateMany(t *testing.T) {
	fingerprints := sets.Uniform(20_000, 5)
	for i := range fingerprints {
		fingerprints[i] = fingerprints[i/3*3] // three documents each
	}
	for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
		s := inMemory(t, fingerprints, Options{Design: named(t, "halves", 3), Table: table.Options{Layout: layout}})
		var c Scratch
		for _, n := range []int{1, 100, 2000, 20_000} {
			asked := slices.Clone(fingerprints[:n])
			for i := range asked {
				if i%7 == 3 {
					asked[i] = ^asked[i] // is not stored
				}
			}
			together, single := make([]Range, n), make([]Range, 1)
			must.Do(t, s.Locate(together, asked, &c))
			for i := 0; i < n; i += 1 + n/500 {
				if err := s.Locate(single, asked[i:i+1], &c); err != nil || single[0] != together[i] ||
					(single[0].Len() == 0) != (i%7 == 3) {
					t.Fatalf("%s: fingerprint %d of %d: %+v, by itself %+v, %v", layout, i, n, together[i], single[0], err)
				}
			}
		}
	}
}

// TestEveryDesign searches with every design for large k, in both layouts, and compares with all fingerprints. Some
// designs for each k must probe, because a scan would find everything.
func TestEveryDesign(t *testing.T) {
	t.Parallel()
	ks := []int{5, 6, 7, 8}
	n := long.Or(10_000, 40_000)
	fingerprints := sets.Uniform(n, 4)
	for _, k := range ks {
		rng := rand.New(rand.NewPCG(2, uint64(k)))
		var queries []uint64
		var want []Match
		for i := range 24 {
			queries = append(queries, sets.Flip(rng, fingerprints[rng.IntN(n)], i%(k+2)))
			for _, f := range fingerprints {
				if bits.OnesCount64(f^queries[i]) <= k {
					want = append(want, Match{i, f})
				}
			}
		}
		probed := 0
		for _, design := range permute.Catalogue(k, 1) {
			for _, layout := range layouts {
				s := inMemory(t, fingerprints, Options{Design: design, Threads: 2, Table: table.Options{Layout: table.Layout(layout)}})
				var c Scratch
				for _, pos := range []int{1, 4, len(queries)} { // batches of one, of some, and of all
					var got []Match
					for from := 0; from < len(queries); from += pos {
						part := queries[from:min(from+pos, len(queries))]
						if !s.searchPlan(k).scans(s, s.numbers, len(part)) {
							probed++
						}
						found, err := s.Search(nil, part, k, &c)
						must.Do(t, err)
						for _, x := range found {
							got = append(got, Match{from + x.Query, x.Fingerprint})
						}
					}
					compareMatches(t, fmt.Sprintf("k = %d, %s, %s, %d queries at a time", k, design.Name, layout, pos), got, want)
				}
			}
		}
		if probed < 100 {
			t.Errorf("k = %d: %d searches by probes", k, probed)
		}
	}
}
