package segment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sections"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/permute"
)

// inMemory builds a segment of fingerprints.
func inMemory(t testing.TB, fingerprints []uint64, o Options) *Segment {
	t.Helper()
	var m sections.Memory
	must.Do(t, Write(context.Background(), &m, Input{Fingerprints: fingerprints}, o))
	return opened(t, &m)
}

// TestSweepIsSearch compares sweeps with searches, in both layouts, with regions so small that there are many, and
// several groups of flips.
func TestSweepIsSearch(t *testing.T) {
	t.Parallel()
	n := long.Or(1_500, 4_000)
	layouts := 0 // layouts alternate between segments
	for _, k := range []int{0, 1, 3, 5} {
		if !long.Form() && k != 3 {
			continue
		}
		for _, name := range []string{"halves", "one", "choose-6-1"} {
			d, err := permute.ByName(name, k, 3)
			if err != nil || name == "one" && k > 3 {
				continue
			}
			layouts++ // each set in another one than by the design before
			for _, set := range sets.All(n, 300, k, 5) {
				layout := []table.Layout{table.LayoutHuffman, table.LayoutPlanar}[layouts%2]
				layouts++
				s := inMemory(t, set.Base, Options{Design: d, Table: table.Options{Layout: layout, BlockBytes: 64}})
				for _, ask := range slices.Compact([]int{0, k / 2, k}) {
					var c Scratch
					want, err := s.Search(nil, set.Queries, ask, &c)
					must.Do(t, err)
					for way, sweep := range map[string]func() (*MatchLists, error){
						"one thread": func() (*MatchLists, error) {
							return s.Sweep(context.Background(), set.Queries, ask, len(want), []Team{{Threads: 1}})
						},
						"three threads": func() (*MatchLists, error) {
							return s.Sweep(context.Background(), set.Queries, ask, len(want), []Team{{Threads: 3}})
						},
						"teams": func() (*MatchLists, error) {
							small := regions{bytes: 1 << 10, minQueries: 4, maxQueries: 64}
							w := &sweep{segment: s, plan: s.searchPlan(ask), regions: small, queries: set.Queries, limit: len(want)}
							return w.run(context.Background(), teams(s))
						},
					} {
						found, err := sweep()
						must.Do(t, err)
						var got []Match
						for q := range set.Queries {
							for _, f := range found.Fingerprints(q) {
								got = append(got, Match{q, f})
							}
						}
						compareMatches(t, fmt.Sprintf("k=%d asked for %d, %s, %s, %s", k, ask, name, set.Name, way), got, want)
					}
				}
			}
		}
	}
}

// teams returns one team per table of a segment. One team runs its steps one after the other.
func teams(s *Segment) []Team {
	inTurn := func(ctx context.Context, steps []Step) error {
		for len(steps) > 0 {
			extra, err := steps[0]()
			if err != nil {
				return err
			}
			if steps = append(steps[1:], steps[0]); !extra {
				steps = steps[:len(steps)-1]
			}
		}
		return nil
	}
	list := []Team{{Tables: []int{0}, Threads: 3, Run: inTurn}}
	for i := 1; i < len(s.Tables()); i++ {
		list = append(list, Team{Tables: []int{i}})
	}
	return list
}

func TestSweepLimit(t *testing.T) {
	base := []uint64{1, 2, 3, 4, 5} // all within 3 bits of each other: 25 matches
	s := inMemory(t, base, Options{Design: named(t, "halves", 3)})
	if _, err := s.Sweep(context.Background(), base, 3, 24, []Team{{Threads: 1}}); !errors.Is(err, ErrTooMany) {
		t.Fatal(err)
	}
	if f, err := s.Sweep(context.Background(), nil, 3, 7, []Team{{Threads: 1}}); err != nil || f.Len() != 0 {
		t.Fatal(f, err)
	}
}
