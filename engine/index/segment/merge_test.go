package segment

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
)

// sources returns segments of fingerprints, with several designs and layouts, as the input of a merge, and the
// fingerprints that are kept.
func sources(t *testing.T, rng *rand.Rand, lists [][]uint64, drop func() bool) (all []Source, kept []uint64) {
	t.Helper()
	for i, fingerprints := range lists {
		o := Options{Design: named(t, "halves", 3), Threads: 1, Table: table.Options{Layout: table.Layout(layouts[i%2])}}
		if i%3 == 2 {
			o.Design = design(t, 4)
		}
		s := Source{Segment: inMemory(t, fingerprints, o)}
		if i != 1 {
			s.Rows = NewRowSet(uint64(len(fingerprints)))
		}
		for row, f := range fingerprints {
			if s.Rows != nil && drop() {
				s.Rows.Drop(uint64(row))
				continue
			}
			kept = append(kept, f)
		}
		if s.Len() > uint64(len(fingerprints)) {
			t.Fatalf("%d rows kept of %d", s.Len(), len(fingerprints))
		}
		all = append(all, s)
	}
	return all, kept
}

// TestMergeSameAsBuilt merges segments of several designs and layouts, with much and little memory and several
// threads. The result is byte for byte the segment that is built from the same documents.
func TestMergeSameAsBuilt(t *testing.T) {
	t.Parallel()
	const sortedApart = 600_000 // more than are sorted at a time
	rng := rand.New(rand.NewPCG(14, 7))
	for name, f := range map[string]func(int) uint64{
		"random": func(int) uint64 { return rng.Uint64() },
		"few":    func(int) uint64 { return rng.Uint64N(500) * 0x9e3779b97f4a7c15 },
		"half":   func(int) uint64 { return rng.Uint64() * uint64(rng.IntN(2)) },
	} {
		for kind, drop := range map[string]func() bool{
			"none": func() bool { return false }, "some": func() bool { return rng.IntN(3) == 0 },
			"most": func() bool { return rng.IntN(50) != 0 }, "all": func() bool { return true },
		} {
			var lists [][]uint64
			sizes := []int{long.Raced(20_000, 2_000), 3_000, 1, 0, 700}
			if long.Form() || !long.Race() && name == "random" && kind == "some" {
				sizes[0] = sortedApart
			}
			for _, n := range sizes {
				lists = append(lists, sets.Generate(n, f))
			}
			all, kept := sources(t, rng, lists, drop)
			for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
				if sizes[0] == sortedApart && layout == table.LayoutHuffman && !long.Form() {
					continue
				}
				o := Options{Design: *all[0].Segment.Design(), Threads: 1, Table: table.Options{Layout: layout}}
				want := written(t, Input{Fingerprints: kept}, o)
				docs := uint64(len(kept))
				for _, c := range []struct {
					threads int
					bytes   uint64
				}{{1, NeedBytes(docs, o)}, {3, 1 << 40}, {1, smallBytes(docs, o) + docs*9}, {2,
					smallBytes(docs, o) + threadBytes + docs/2}} {
					o.Threads, o.Budget, o.TempDir = c.threads, memory.NewBudget(memory.Set(c.bytes)), t.TempDir()
					got := written(t, Input{Sources: all}, o)
					if !bytes.Equal(got, want) {
						t.Errorf("%s, %s left out, %s, %d threads, %d bytes of memory: another segment", name, kind, layout,
							c.threads, c.bytes)
					}
				}
			}
		}
	}
}

// TestMergeRefuses merges fingerprints and segments together, and segments whose documents contradict their
// description.
func TestMergeRefuses(t *testing.T) {
	fingerprints := append(sets.Uniform(3000, 3), sets.Uniform(100, 3)...)
	all, _ := sources(t, nil, [][]uint64{fingerprints}, func() bool { return false })
	o := Options{Design: design(t, 4), Threads: 1}
	if err := Write(t.Context(), nowhere{}, Input{Sources: all, Fingerprints: fingerprints}, o); err == nil {
		t.Error("fingerprints are merged with segments")
	}
	s := all[0].Segment
	s.docs.firsts.Words[2] &^= -s.docs.firsts.Words[2] & s.docs.firsts.Words[2] // two fingerprints become one
	for _, rows := range []*RowSet{nil, NewRowSet(s.Documents())} {
		if rows != nil {
			rows.Drop(7)
		}
		if err := Write(t.Context(), nowhere{}, Input{Sources: []Source{{Segment: s, Rows: rows}}}, o); !errors.Is(err,
			store.ErrCorrupt) {
			t.Errorf("merged: %v", err)
		}
	}
}

// TestRowSet compares a set of rows with a list.
func TestRowSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []uint64{0, 1, 63, 64, 65, 513, 5000} {
		for _, share := range []float64{0, 0.01, 0.5, 0.99, 1} {
			s, kept := NewRowSet(n), []uint64{}
			for row := range n {
				if rng.Float64() < share {
					s.Drop(row)
					s.Drop(row)
				} else {
					kept = append(kept, row)
				}
			}
			for _, from := range []uint64{0, n / 3, n} {
				var got, want []uint64
				s.Runs(from, n, func(row, n uint64) bool {
					for i := range n {
						got = append(got, row+i)
					}
					return true
				})
				for _, row := range kept {
					if row >= from {
						want = append(want, row)
					}
				}
				if !slices.Equal(got, want) || s.Len() != uint64(len(kept)) {
					t.Errorf("%d rows, %v dropped: %d and %d rows, want %d", n, share, len(got), s.Len(), len(want))
				}
			}
			ranks := rank(s)
			for i, row := range kept {
				if !s.Has(row) || ranks.rankOf(row) != uint64(i) {
					t.Fatalf("%d rows: row %d is number %d, want %d", n, row, ranks.rankOf(row), i)
				}
			}
		}
	}
}
