package segment

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/must"
)

// TestSearchEach searches segments of several designs, layouts and sizes together, and compares with all their
// fingerprints, for every k. Parts of the tables of a segment find together what all tables find.
func TestSearchEach(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 6))
	var segments []*Segment
	var stored [][]uint64
	for i, design := range []string{"halves", "paper-10", "halves", "paper-10", "halves"} {
		fingerprints := make([]uint64, []int{30_000, 5_000, 1_000, 20_000, 0}[i])
		for j := range fingerprints {
			if fingerprints[j] = rng.Uint64(); j%2 == 0 {
				fingerprints[j] = rng.Uint64N(1<<20) << 22 // crowded, so that many tables find the same
			}
		}
		s := inMemory(t, fingerprints, Options{Design: named(t, design, 3), Threads: 1,
			Table: table.Options{Layout: table.Layout(layouts[i/2%2])}})
		slices.Sort(fingerprints)
		segments, stored = append(segments, s), append(stored, slices.Compact(fingerprints))
	}
	type found struct {
		segment int
		Match
	}
	order := func(a, b found) int {
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.Query, b.Query),
			cmp.Compare(a.Fingerprint, b.Fingerprint))
	}
	var c Scratch
	for k := range 4 {
		for range 20 {
			queries := make([]uint64, 1+rng.IntN(searchEachMax))
			for i := range queries {
				of := stored[rng.IntN(4)]
				queries[i] = of[rng.IntN(len(of))] ^ 1<<rng.IntN(64)
			}
			var want, got []found
			for i, fingerprints := range stored {
				for q, query := range queries {
					for _, f := range fingerprints {
						if bits.OnesCount64(f^query) <= k {
							want = append(want, found{i, Match{q, f}})
						}
					}
				}
			}
			must.Do(t, SearchEach(segments, queries, k, &c, func(i int, m Match) { got = append(got, found{i, m}) }))
			slices.SortFunc(want, order)
			slices.SortFunc(got, order)
			if !slices.Equal(got, want) {
				t.Fatalf("k=%d: %d matches, want %d", k, len(got), len(want))
			}
		}
	}
	if err := SearchEach(segments, []uint64{0}, 4, &c, nil); err == nil {
		t.Error("searched beyond the design")
	}
	must.Do(t, SearchEach(segments[4:], []uint64{0}, 3, &c, nil))
	for i, s := range segments {
		queries := stored[i][:min(100, len(stored[i]))]
		want, err := s.Search(nil, queries, 3, &c)
		must.Do(t, err)
		for range 10 {
			var got []Match
			for numbers := rng.Perm(len(s.Tables())); len(numbers) > 0; {
				n := rng.IntN(len(numbers) + 1)
				slices.Sort(numbers[:n])
				got, err = s.SearchTables(got, numbers[:n], queries, 3, &c)
				must.Do(t, err)
				numbers = numbers[n:]
			}
			compareMatches(t, fmt.Sprint("in parts, segment ", i), got, want)
		}
	}
}
