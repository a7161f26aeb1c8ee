package segment

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"ndd/engine/index/table"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/oracle/skewed"
	"ndd/permute"
)

// Whatever the fingerprints and the design, a search for k = 8 finds what a linear scan finds, each
// match once, all tables together or some at a time; no table's probes would cost a query more than
// ten scans of the table where it is not scanned, and neither the plan nor the search takes memory
// for flips.
func TestSearchOfSkewed(t *testing.T) {
	const n, k = 20_000, 8
	rng := rand.New(rand.NewPCG(8, 8))
	scanned, probed := 0, 0
	for i, set := range skewed.Sets(n, 5) {
		if !long.Form() && i%3 > 0 {
			continue
		}
		list := slices.Compact(slices.Sorted(slices.Values(set.Fingerprints)))
		var queries []uint64
		var want []Match
		for q := range 6 {
			queries = append(queries, sets.Near(rng, list[rng.IntN(len(list))], q*2))
			for _, f := range list {
				if bits.OnesCount64(f^queries[q]) <= k {
					want = append(want, Match{q, f})
				}
			}
		}
		for _, name := range []string{"one", "thirds"} {
			design, err := permute.Named(name, k, 1)
			must.Do(t, err)
			for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
				s := inMemory(t, set.Fingerprints, Options{Design: design, Table: table.Options{Layout: layout}})
				before := allocatedBytes()
				p := s.searchPlan(k)
				if took := allocatedBytes() - before; took > 1<<20 {
					t.Errorf("%s, %s, %s: the plan of a search allocates %d bytes", set.Name, name, layout, took)
				}
				if p.scans(s, s.every, 1) {
					scanned++
				} else {
					probed++
				}
				sum := 0.0
				for _, ns := range p.ns {
					sum += ns
				}
				if most := 10*table.ScanNS(layout, float64(len(list)), 1) + table.ScanFromNS; !p.scans(s, s.every, 1) &&
					sum > most {
					t.Errorf("%s, %s, %s: a query by probing takes %.0f ns, a scan %.0f", set.Name, name, layout, sum, most)
				}
				checkMatches(t, s, queries, k, s.every, want)
				checkMatches(t, s, queries, k, []int{}, nil)
				if len(s.every) == 3 {
					var c Scratch
					got, err := s.SearchTables(nil, []int{2, 0}, queries, k, &c)
					if err == nil {
						got, err = s.SearchTables(got, []int{1}, queries, k, &c)
					}
					must.Do(t, err)
					compareMatches(t, "in two parts", got, want)
				}
			}
		}
	}
	if scanned == 0 || probed == 0 {
		t.Errorf("%d segments are scanned and %d probed: both should be", scanned, probed)
	}
}

func checkMatches(t *testing.T, s *Segment, queries []uint64, k int, tables []int, want []Match) {
	t.Helper()
	var c Scratch
	got, err := s.SearchTables(nil, tables, queries, k, &c)
	must.Do(t, err)
	compareMatches(t, fmt.Sprint("tables ", tables), got, want)
}

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

// allocatedBytes is what was allocated so far, freed or not.
func allocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
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
