package plan_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"ndd/engine/index/distribution"
	"ndd/engine/index/plan"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/oracle/sets"
	"ndd/engine/oracle/skewed"
	"ndd/engine/storage/store"
)

// busy is how much longer something may take on a machine that does other things, or with the race detector, which
// does not see the kernel of the linear scan.
const busy = 2 * time.Second

// TestSkewedIndexes builds an index of each of twenty skewed sets for k = 0, 3 and 8, as it is chosen for them, and
// holds its answers against a linear scan. What that takes grows with n only: queries allocate what their answers
// take and a few megabytes. Times are bounded where only a search that writes out or walks the flips of many
// bits can be, for minutes: ten times a build of uniform fingerprints and ten times the linear scan, and what a
// machine that does other things takes beside.
func TestSkewedIndexes(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	all := append([]skewed.Set{{Name: "uniform", Fingerprints: sets.Uniform(n, 9)}}, skewed.Sets(n, 6)...)
	var slowest time.Duration
	for i, set := range all {
		for _, k := range []int{0, 3, 8} {
			began := time.Now()
			s := chosenSegment(t, set.Fingerprints, k)
			took := time.Since(began)
			if i == 0 {
				slowest = max(slowest, took)
			} else if took > 10*slowest+busy {
				t.Errorf("%s, k = %d: built in %v, uniform fingerprints in %v at most", set.Name, k, took, slowest)
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
	r := plan.Request{Fingerprints: min(distinct.Count(), uint64(len(prints))), Documents: uint64(len(prints)), K: k, IDs: plan.IDsRows, Seed: 1}
	r.Sample, _ = plan.NewSample(distinct.Sample(), plan.SampleSize, 1)
	p, err := plan.New(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var m store.Memory
	o := segment.Options{Design: p.Choice.Design, Table: table.Options{Layout: p.Choice.Layout}}
	if err := segment.Write(t.Context(), &m, segment.Input{Fingerprints: prints}, o); err != nil {
		t.Fatal(err)
	}
	s, err := segment.Open(m.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// checkSkewed asks a segment of a set for queries like it, in one batch and one at a time.
func checkSkewed(t *testing.T, set skewed.Set, s *segment.Segment, k int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(k)))
	var queries []uint64
	for range 16 {
		queries = append(queries, sets.Near(rng, set.Fingerprints[rng.IntN(len(set.Fingerprints))], rng.IntN(k+2)))
	}
	list := slices.Compact(slices.Sorted(slices.Values(set.Fingerprints)))
	var want []segment.Match
	linear := fastest(func() {
		want = want[:0]
		for i, q := range queries {
			for _, f := range within(list, q, k) {
				want = append(want, segment.Match{Query: i, Fingerprint: f})
			}
		}
	})
	var got []segment.Match
	var scratch segment.Scratch
	search := func(queries []uint64) {
		var err error
		if got, err = s.Search(got[:0], queries, k, &scratch); err != nil {
			t.Fatal(err)
		}
	}
	before := allocated()
	search(queries)
	order := func(a, b segment.Match) int {
		return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Fingerprint, b.Fingerprint))
	}
	if slices.SortFunc(got, order); !slices.Equal(got, want) {
		t.Fatalf("%s, k = %d: %d matches, a linear scan finds %d", set.Name, k, len(got), len(want))
	}
	const matchBytes = (24 + 16) * 8 // of a table and of the segment, in lists that grow by a quarter at a time
	if took, most := allocated()-before, uint64(8<<20+matchBytes*len(want)); took > most {
		t.Errorf("%s, k = %d: %d queries with %d matches allocate %d bytes, %d are due at most", set.Name, k, len(queries), len(want), took, most)
	}
	if took := fastest(func() { search(queries) }); took > 10*linear+busy {
		t.Errorf("%s, k = %d: %d queries take %v, a linear scan %v", set.Name, k, len(queries), took, linear)
	}
}

// fastest is the least time of some calls of f.
func fastest(f func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 3 {
		began := time.Now()
		f()
		least = min(least, time.Since(began))
	}
	return least
}

// allocated is what was allocated so far, freed or not.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
