package plan

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"example.org/ndd/engine/index/distribution"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sections"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/permute"
)

// TestPlanningIsQuick checks that for any fingerprints, a plan examines and allocates no more than for uniform ones
// with k = 5, which has the most designs. For k = 8 it needs a little more, because nothing grows with the number of
// flips. The largest sample takes at most 0.7 billion steps, some tenths of a second.
func TestPlanningIsQuick(t *testing.T) {
	const n = 1 << 13 // a smaller sample is faster, and growth with flips would still be visible
	cost := func(fingerprints []uint64, k int) (steps, bytes uint64) {
		s, err := NewSample(fingerprints, n, 1)
		if err != nil {
			return 0, 0 // too few distinct ones
		}
		before := allocated()
		_, err = New(t.Context(), Request{Fingerprints: 1 << 30, K: k, Seed: 1, Sample: s, IDs: IDsRows})
		must.Do(t, err)
		return s.steps, allocated() - before
	}
	uniformSteps, uniformBytes := cost(uniformKeys(n, 3), 5)
	if maximum := uint64(n * 20_000); uniformSteps == 0 || uniformSteps > maximum {
		t.Errorf("uniform fingerprints: %d steps, want at most %d", uniformSteps, maximum)
	}
	for i, set := range sets.Skewed(n, 1) {
		for _, k := range []int{0, 3, 8} {
			if !long.Form() && i%6 > 0 {
				continue
			}
			if steps, bytes := cost(set.Base, k); steps > 2*uniformSteps || bytes > 2*uniformBytes {
				t.Errorf("%s, k = %d: %d steps and %d bytes, uniform fingerprints for k = 5 take %d and %d", set.Name, k, steps,
					bytes, uniformSteps, uniformBytes)
			}
		}
	}
}

// allocated returns all bytes allocated so far, including freed ones.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestPlanningIsCancelled checks that a cancelled context ends planning.
func TestPlanningIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(ctx, Request{Fingerprints: 1000, K: 3}); !errors.Is(err, context.Canceled) {
		t.Errorf("a plan that was called off: %v", err)
	}
}

// TestSamePlan checks that the same request gives the same plan, down to the last digit and the words.
func TestSamePlan(t *testing.T) {
	n := long.Or(10_000, 20_000)
	for i, set := range sets.Skewed(n, 2) {
		if !long.Form() && i%4 > 0 {
			continue
		}
		var first string
		for range 2 {
			s, _ := NewSample(set.Base, SampleSize, 1)
			p, err := New(t.Context(), Request{Fingerprints: uint64(n), K: 3, Seed: 1, Sample: s, IDs: IDsRows})
			must.Do(t, err)
			if got := words(p); first == "" {
				first = got
			} else if got != first {
				t.Errorf("%s:\n%s\nthen\n%s", set.Name, first, got)
			}
		}
	}
}

// TestLongMasks compares the candidates that a sample predicts for masks of 24 to 32 bits with a count of all
// fingerprints. They agree within a tenth, or within five if there are few. The sample has distinct fingerprints; a
// sample of documents would have too many frequent ones.
func TestLongMasks(t *testing.T) {
	n := long.Or(100_000, 1_000_000)
	for i, set := range sets.Skewed(n, 3) {
		if !long.Form() && i%4 > 0 {
			continue
		}
		all := distinctOf(set.Base)
		var d distribution.Distinct
		d.Add(set.Base)
		s, err := NewSample(d.Sample(), SampleSize, 1)
		if err != nil {
			continue
		}
		for _, name := range []string{"cover-11-6-3", "cover-8-4-3"} {
			design, err := permute.ByName(name, 3, 1)
			must.Do(t, err)
			var reported, counted float64
			for _, table := range design.Tables[:6] {
				reported += s.estimate(table.Mask, 1).share(table.Leading(), 0) * float64(len(all))
				perm := permute.New(table.Mask)
				keys := make([]uint64, len(all))
				for i, x := range all {
					keys[i] = perm.Apply(x)
				}
				slices.Sort(keys)
				e := estimate{sample: new(Sample), keys: keys}
				counted += 2 * e.agreeing(table.Leading()) / float64(len(all))
			}
			if math.Abs(reported-counted) > 0.1*counted+5 {
				t.Errorf("%s, %s: %.5g candidates said, %.5g counted", set.Name, name, reported, counted)
			}
		}
	}
}

// TestSkewedIndexes builds an index for each of ten skewed sets and one k of 0, 3 and 8 (twenty sets and all k in the
// long form), with the chosen design, and compares its answers with a linear scan. The costs grow only with n. A build
// allocates little more than with uniform fingerprints. Queries allocate their answers and a few megabytes. Their
// probes and scans cost at most ten linear scans. The test counts costs and measures no time.
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
func chosenSegment(t *testing.T, fingerprints []uint64, k int) *segment.Segment {
	t.Helper()
	var distinct distribution.Distinct
	distinct.Add(fingerprints)
	r := Request{Fingerprints: min(distinct.Count(), uint64(len(fingerprints))), Documents: uint64(len(fingerprints)), K: k,
		IDs: IDsRows, Seed: 1}
	r.Sample, _ = NewSample(distinct.Sample(), SampleSize, 1)
	p, err := New(t.Context(), r)
	must.Do(t, err)
	return inMemory(t, fingerprints, p.Choice)
}

// inMemory builds a segment of fingerprints as a plan has chosen.
func inMemory(t *testing.T, fingerprints []uint64, choice Option) *segment.Segment {
	t.Helper()
	var m sections.Memory
	o := segment.Options{Design: choice.Design, Table: table.Options{Layout: choice.Layout}}
	must.Do(t, segment.Write(t.Context(), &m, segment.Input{Fingerprints: fingerprints}, o))
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
		queries = append(queries, sets.Flip(rng, set.Base[rng.IntN(len(set.Base))], rng.IntN(k+2)))
	}
	list := distinctOf(set.Base)
	var want []segment.Match
	for i, q := range queries {
		for _, f := range list {
			if bits.OnesCount64(f^q) <= k {
				want = append(want, segment.Match{Query: i, Fingerprint: f})
			}
		}
	}
	looks := &lookedAt{Context: t.Context()}
	var scratch segment.Scratch
	scratch.SetContext(looks)
	before := allocated()
	got, err := s.Search(nil, queries, k, &scratch)
	must.Do(t, err)
	order := func(a, b segment.Match) int {
		return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Fingerprint, b.Fingerprint))
	}
	if slices.SortFunc(got, order); !slices.Equal(got, want) {
		t.Fatalf("%s, k = %d: %d matches, a linear scan finds %d", set.Name, k, len(got), len(want))
	}
	const matchBytes = (24 + 16) * 8 // one match of a table and one of the segment, in lists that grow by a quarter at a time
	if took, maximum := allocated()-before, uint64(8<<20+matchBytes*len(want)); took > maximum {
		t.Errorf("%s, k = %d: %d queries with %d matches allocate %d bytes, %d are due at most", set.Name, k,
			len(queries), len(want), took, maximum)
	}
	if maximum := looksOf(s, len(list), len(queries)); looks.n > maximum {
		t.Errorf("%s, k = %d, %s: %d queries look at their context %d times, ten linear scans would %d times", set.Name,
			k, s.Layout(), len(queries), looks.n, maximum)
	}
}

// lookedAt is a context that counts how often it is checked.
type lookedAt struct {
	context.Context
	n int
}

func (c *lookedAt) Err() error {
	c.n++
	return nil
}

// looksOf returns how often a search may check its context if it costs as much as ten linear scans, by the fixed costs.
// It checks the context once for each round of probes, and for each run of keys of a scan.
func looksOf(s *segment.Segment, n, queries int) int {
	round, run := 512*20.0, 64 // ns of a round, and keys, of the planar layout
	if s.Layout() == table.LayoutHuffman {
		round, run = 64*110.0, 100
	}
	probing := (10*table.ScanNS(s.Layout(), float64(n), queries) + float64(queries)*table.ScanFromNS) / round
	// minimum allows for checks between runs of a few hundred keys, which are probed.
	const minimum = 2000
	return max(int(probing), n/run, minimum)
}
