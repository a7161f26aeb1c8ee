package segment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"ndd/engine/oracle/sets"
	"ndd/engine/store"
	"ndd/engine/table"
	"ndd/permute"
)

// inMemory builds a segment of fingerprints.
func inMemory(t testing.TB, prints []uint64, o Options) *Segment {
	t.Helper()
	var m store.Memory
	if err := Write(context.Background(), &m, Input{Fingerprints: prints}, o); err != nil {
		t.Fatal(err)
	}
	s, err := Open(m.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestSweepIsSearch holds the two ways to answer a batch against each other,
// with regions small enough for many of them.
func TestSweepIsSearch(t *testing.T) {
	for _, k := range []int{0, 1, 3, 5} {
		for _, name := range []string{"halves", "one", "choose-6-1"} {
			d, err := permute.Named(name, k, 3)
			if err != nil || name == "one" && k > 3 {
				continue
			}
			for _, set := range sets.All(4_000, 300, k, 5) {
				s := inMemory(t, set.Base, Options{Design: d, Table: table.Options{Layout: table.LayoutHuffman, BlockBytes: 64}})
				for _, ask := range slices.Compact([]int{0, k / 2, k}) {
					var c Scratch
					want, err := s.Search(nil, set.Queries, ask, &c)
					if err != nil {
						t.Fatal(err)
					}
					for _, threads := range []int{1, 3} {
						found, err := s.Sweep(context.Background(), set.Queries, ask, threads, len(want))
						if err != nil {
							t.Fatal(err)
						}
						var got []Match
						for q := range set.Queries {
							for _, f := range found.Of(q) {
								got = append(got, Match{q, f})
							}
						}
						if !slices.Equal(sorted(got), sorted(want)) {
							t.Fatalf("k=%d asked for %d, %s, %s: %d matches, want %d", k, ask, name, set.Name, len(got), len(want))
						}
					}
				}
			}
		}
	}
}

func sorted(m []Match) []Match {
	m = slices.Clone(m)
	slices.SortFunc(m, func(a, b Match) int {
		if a.Query != b.Query {
			return a.Query - b.Query
		}
		if a.Fingerprint < b.Fingerprint {
			return -1
		}
		return 1
	})
	return m
}

func TestSweepLimit(t *testing.T) {
	d, _ := permute.Named("halves", 3, 1)
	base := []uint64{1, 2, 3, 4, 5} // all within 3 bits of each other: 25 matches
	s := inMemory(t, base, Options{Design: d})
	if _, err := s.Sweep(context.Background(), base, 3, 1, 24); !errors.Is(err, ErrTooMany) {
		t.Fatal(err)
	}
	if f, err := s.Sweep(context.Background(), nil, 3, 1, 7); err != nil || f.Len() != 0 {
		t.Fatal(f, err)
	}
}

func TestGroupFlips(t *testing.T) {
	flips := permute.Flips(20, 2)
	for _, bits := range []int{0, 1, 5, 20} {
		t.Run(fmt.Sprint(bits), func(t *testing.T) {
			n := 0
			for _, g := range groupFlips(flips, bits) {
				for _, f := range g.flips {
					if n++; int(f>>1>>(63-bits)) != g.region {
						t.Fatalf("flip %#x in the group of region %d", f, g.region)
					}
				}
			}
			if n != len(flips) {
				t.Fatalf("%d flips of %d", n, len(flips))
			}
		})
	}
}
