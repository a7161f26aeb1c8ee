package segment

import (
	"cmp"
	"slices"
	"testing"

	"ndd/engine/index/table"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/permute"
)

// compareMatches demands the same matches, which it sorts.
func compareMatches(t *testing.T, what string, got, want []Match) {
	t.Helper()
	for _, list := range [][]Match{got, want} {
		slices.SortFunc(list, func(a, b Match) int {
			return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Fingerprint, b.Fingerprint))
		})
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d matches, want %d", what, len(got), len(want))
	}
}

// Consecutive numbers are the most skewed fingerprints: a query for distance 6 has a fifth of them.
// Whatever the design, its radius and the layout, one query alone is answered by a scan, as matches
// make probes dearer; of uniform fingerprints it is not.
func TestConsecutiveAreScanned(t *testing.T) {
	const n, k = 100_000, 6
	consecutive := make([]uint64, n)
	for i := range consecutive {
		consecutive[i] = uint64(i)
	}
	for _, name := range []string{"one", "halves", "thirds"} {
		design, err := permute.Named(name, k, 1)
		must.Do(t, err)
		for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
			s := inMemory(t, consecutive, Options{Design: design, Table: table.Options{Layout: layout}})
			if !s.searchPlan(k).scans(s, s.every, 1) {
				t.Errorf("%s, %s: a query of consecutive numbers makes probes of %.0f ns, a scan takes %.0f", name, layout,
					s.searchPlan(k).ns, table.ScanNS(layout, n, 1))
			}
		}
	}
	design, err := permute.Named("halves", 3, 1)
	must.Do(t, err)
	if s := inMemory(t, sets.Uniform(n, 3), Options{Design: design}); s.searchPlan(3).scans(s, s.every, 1) {
		t.Error("uniform fingerprints are scanned")
	}
}

// Many fingerprints are located by one pass over a table, few by looking each up: both find the
// same, of any layout, and nothing for those that are not there.
func TestLocateMany(t *testing.T) {
	prints := sets.Uniform(20_000, 5)
	for i := range prints {
		prints[i] = prints[i/3*3] // three documents each
	}
	for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
		design, err := permute.Named("halves", 3, 1)
		must.Do(t, err)
		s := inMemory(t, prints, Options{Design: design, Table: table.Options{Layout: layout}})
		var c Scratch
		for _, n := range []int{1, 100, 2000, 20_000} {
			asked := slices.Clone(prints[:n])
			for i := range asked {
				if i%7 == 3 {
					asked[i] = ^asked[i] // is not there
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
