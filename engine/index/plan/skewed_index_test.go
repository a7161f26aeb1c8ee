package plan

import (
	"cmp"
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/engine/index/distribution"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

// TestSkewedIndexes builds an index of each of ten skewed sets for one of k = 0, 3 and 8, of twenty for all of
// them in the long form, as it is chosen for them, and holds its answers against a linear scan. What that
// takes grows with n only: a build allocates little more than one of uniform fingerprints, queries
// allocate what their answers take and a few megabytes, and their probes and scans cost no more
// than ten linear scans. All of that is counted, and no time is taken.
func TestSkewedIndexes(t *testing.T) {
	n := long.Or(8_000, 100_000)
	all := append([]sets.Set{{Name: "uniform", Base: sets.Uniform(n, 9)}}, sets.Skewed(n, 6)...)
	var uniform uint64
	for i, set := range all {
		for _, k := range []int{0, 3, 8} {
			if !long.Form() && i > 0 && (i%2 > 0 || []int{0, 3, 8}[i/2%3] != k) {
				continue
			}
			before := allocated()
			s := chosenSegment(t, set.Base, k)
			took := allocated() - before
			if i == 0 {
				uniform = max(uniform, took)
			} else if took > 3*uniform {
				t.Errorf("%s, k = %d: to plan and to build allocates %d bytes, for uniform fingerprints %d at most", set.Name,
					k, took, uniform)
			}
			checkSkewed(t, set, s, k)
		}
	}
}

// chosenSegment builds the segment that a plan chooses for fingerprints.
func chosenSegment(t *testing.T, prints []uint64, k int) *segment.Segment {
	t.Helper()
	var distinct distribution.Distinct
	distinct.Add(prints)
	r := Request{Fingerprints: min(distinct.Count(), uint64(len(prints))), Documents: uint64(len(prints)), K: k,
		IDs: IDsRows, Seed: 1}
	r.Sample, _ = NewSample(distinct.Sample(), SampleSize, 1)
	p, err := New(t.Context(), r)
	must.Do(t, err)
	return inMemory(t, prints, p.Choice)
}

// inMemory builds a segment of fingerprints as a plan has chosen.
func inMemory(t *testing.T, prints []uint64, choice Option) *segment.Segment {
	t.Helper()
	var m store.Memory
	o := segment.Options{Design: choice.Design, Table: table.Options{Layout: choice.Layout}}
	must.Do(t, segment.Write(t.Context(), &m, segment.Input{Fingerprints: prints}, o))
	s, err := segment.Open(m.Source())
	must.Do(t, err)
	t.Cleanup(s.Close)
	return s
}

// checkSkewed asks a segment of a set for queries like it, in one batch and one at a time.
func checkSkewed(t *testing.T, set sets.Set, s *segment.Segment, k int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(k)))
	var queries []uint64
	for range 16 {
		queries = append(queries, sets.Near(rng, set.Base[rng.IntN(len(set.Base))], rng.IntN(k+2)))
	}
	list := slices.Compact(slices.Sorted(slices.Values(set.Base)))
	var want []segment.Match
	for i, q := range queries {
		for _, f := range within(list, q, k) {
			want = append(want, segment.Match{Query: i, Fingerprint: f})
		}
	}
	looks := &lookedAt{Context: t.Context()}
	var scratch segment.Scratch
	scratch.Until(looks)
	before := allocated()
	got, err := s.Search(nil, queries, k, &scratch)
	must.Do(t, err)
	order := func(a, b segment.Match) int {
		return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Fingerprint, b.Fingerprint))
	}
	if slices.SortFunc(got, order); !slices.Equal(got, want) {
		t.Fatalf("%s, k = %d: %d matches, a linear scan finds %d", set.Name, k, len(got), len(want))
	}
	const matchBytes = (24 + 16) * 8 // of a table and of the segment, in lists that grow by a quarter at a time
	if took, most := allocated()-before, uint64(8<<20+matchBytes*len(want)); took > most {
		t.Errorf("%s, k = %d: %d queries with %d matches allocate %d bytes, %d are due at most", set.Name, k,
			len(queries), len(want), took, most)
	}
	if most := looksOf(s, len(list), len(queries)); looks.n > most {
		t.Errorf("%s, k = %d, %s: %d queries look at their context %d times, ten linear scans would %d times", set.Name,
			k, s.Layout(), len(queries), looks.n, most)
	}
}

// within are those of the list within distance k of the query.
func within(list []uint64, query uint64, k int) (near []uint64) {
	for _, f := range list {
		if bits.OnesCount64(f^query) <= k {
			near = append(near, f)
		}
	}
	return near
}

// lookedAt is a context that counts how often it is looked at.
type lookedAt struct {
	context.Context
	n int
}

func (c *lookedAt) Err() error {
	c.n++
	return nil
}

// looksOf returns how often a search may look at its context that costs as much as ten linear
// scans, by the fixed costs: it does for each round of probes, or for each run of keys that a scan
// walks over.
func looksOf(s *segment.Segment, n, queries int) int {
	round, run := 512*20.0, 64 // ns of a round, and keys, of the planar layout
	if s.Layout() == table.LayoutHuffman {
		round, run = 64*110.0, 100
	}
	probing := (10*table.ScanNS(s.Layout(), float64(n), queries) + float64(queries)*table.ScanFromNS) / round
	// looks between runs of a few hundred keys, where fingerprints that are alike are few enough to
	// be probed for
	const least = 2000
	return max(int(probing), n/run, least)
}
