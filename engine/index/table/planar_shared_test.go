package table

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/engine/oracle"
	"ndd/engine/oracle/hostile"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// shared is the tables of a design over one set, and their sections.
type shared struct {
	design  permute.Design
	perms   []permute.Permutation
	written []recorder
	tables  []Table
}

func newShared(t testing.TB, base []uint64, name string) *shared {
	t.Helper()
	s := &shared{}
	var err error
	s.design, err = permute.Named(name, 3, 1)
	must.Do(t, err)
	for _, d := range s.design.Tables {
		perm := permute.New(d.Mask)
		var keys []uint64
		for _, f := range base {
			keys = append(keys, perm.Apply(f))
		}
		r := recorded(t, "", distinct(keys), Options{Layout: LayoutPlanar})
		tab, err := Open(sourceOf(r), "", LayoutPlanar)
		must.Do(t, err)
		s.perms, s.written, s.tables = append(s.perms, perm), append(s.written, r), append(s.tables, tab)
	}
	return s
}

// searches ask some of the tables for queries, within distance k.
func (s *shared) searches(numbers []int, queries []uint64, k int) (tables []Table, all []Search) {
	for _, i := range numbers {
		search := Search{Leading: s.perms[i].Leading(), Flips: permute.Flips(0, 0), K: k, Perm: &s.perms[i]}
		for _, q := range queries {
			search.Queries = append(search.Queries, s.perms[i].Apply(q))
		}
		for _, e := range s.design.Tables[:i] {
			search.Earlier = append(search.Earlier, Finder{s.perms[i].Apply(e.Mask), 0})
		}
		tables, all = append(tables, s.tables[i]), append(all, search)
	}
	return tables, all
}

// hits are what a caller makes of the matches of some tables: the fingerprints of those that are of the first
// table of the design that finds them.
func (s *shared) hits(matches []Match, numbers []int, queries []uint64) (hits []Match) {
	for _, m := range matches {
		if m.Table == Shared {
			if slices.Contains(numbers, s.design.First(m.Key)) {
				hits = append(hits, Match{Query: m.Query, Key: queries[m.Query] ^ m.Key})
			}
			continue
		}
		number := numbers[m.Table]
		f := s.perms[number].Invert(m.Key)
		if s.design.First(f^queries[m.Query]) == number {
			hits = append(hits, Match{Query: m.Query, Key: f})
		}
	}
	return hits
}

// However many queries are asked at once, and whichever tables together, every answer is found
// once.
func TestShared(t *testing.T) {
	oracle.EachKernel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, 11))
		var c Scratch
		for _, name := range []string{"cover-11-6-3", "paper-16"} {
			crowd := sets.Set{Name: "crowd"} // more hits than there is room for
			for range 3000 {
				crowd.Base = append(crowd.Base, rng.Uint64N(1<<12)<<26)
			}
			crowd.Queries = crowd.Base[:200]
			for _, set := range append(sets.All(3000, 200, 3, 5), crowd) {
				s := newShared(t, set.Base, name)
				for _, n := range []int{7, 8, 33, len(set.Queries)} {
					queries := set.Queries[:n]
					k := 1 + rng.IntN(3)
					var got, want []Match
					for _, h := range oracle.Search(distinct(set.Base), queries, k) {
						want = append(want, Match{Query: h.Query, Key: h.Fingerprint})
					}
					for numbers := rng.Perm(len(s.tables)); len(numbers) > 0; {
						some := numbers[:min(len(numbers), 3+rng.IntN(len(s.tables)))]
						slices.Sort(some)
						tables, searches := s.searches(some, queries, k)
						matches, err := SearchAll(nil, tables, searches, &c)
						must.Do(t, err)
						got = append(got, s.hits(matches, some, queries)...)
						numbers = numbers[len(some):]
					}
					if !slices.Equal(order(got), order(want)) {
						t.Fatalf("%s, %s, %d queries, distance %d: %d answers, want %d", name, set.Name, n, k, len(got), len(want))
					}
				}
			}
		}
	})
}

// Tables that do not hold the same, or lie otherwise: an error or an answer, which is near its query.
func TestSharedHostile(t *testing.T) {
	oracle.EachKernel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 7))
		var scratch Scratch
		numbers := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
		answers := 0
		for _, set := range sets.All(900, 40, 3, 11) {
			s := newShared(t, set.Base, "cover-11-6-3")
			for range 40 {
				i := rng.IntN(len(s.tables))
				bad, c := []store.Section(s.written[i]), hostile.Change{Section: uint16(rng.Uint32())}
				for range 1 + rng.IntN(20) {
					c.At, c.Bytes = uint16(rng.Uint32()), []byte{byte(rng.Uint32())}
					bad = c.Apply(bad)
				}
				sound := s.tables[i]
				tab, err := Open(sourceOf(bad), "", LayoutPlanar)
				if err != nil {
					continue
				}
				s.tables[i] = tab
				tables, searches := s.searches(numbers, set.Queries, 3)
				matches, err := SearchAll(nil, tables, searches, &scratch)
				if err != nil && !errors.Is(err, store.ErrCorrupt) {
					t.Fatal(err)
				}
				for _, m := range matches {
					if m.Table == Shared {
						m.Table, m.Key = 0, searches[0].Queries[m.Query]^s.perms[0].Apply(m.Key)
					}
					if bits.OnesCount64(m.Key^searches[m.Table].Queries[m.Query]) > 3 {
						t.Fatalf("match %#x is far from its query", m.Key)
					}
				}
				answers += len(matches)
				s.tables[i] = sound
			}
		}
		if answers == 0 {
			t.Fatal("no search finds anything")
		}
	})
}
