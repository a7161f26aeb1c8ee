package plan

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"ndd/engine/index/distribution"
	"ndd/engine/oracle/skewed"
	"ndd/permute"
)

// TestPlanningIsQuick: whatever the fingerprints, a plan takes no more than a few times what it takes for uniform ones, and
// for k = 8 no more than for k = 5, which has most designs: nothing in it grows with the number of flips.
func TestPlanningIsQuick(t *testing.T) {
	const n = 1 << 13 // a sample of less costs less; what grows with flips would show all the same
	took := func(prints []uint64, k int) time.Duration {
		s, err := NewSample(prints, n, 1)
		if err != nil {
			return 0 // too few distinct ones
		}
		best := time.Duration(math.MaxInt64)
		for range 2 {
			began := time.Now()
			if _, err := New(t.Context(), Request{Fingerprints: 1 << 30, K: k, Seed: 1, Sample: s, IDs: IDsRows}); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(began))
		}
		return best
	}
	uniform := took(uniformKeys(n, 3), 5)
	for i, set := range skewed.Sets(n, 1) {
		for _, k := range []int{0, 3, 8} {
			if testing.Short() && i%4 > 0 {
				continue
			}
			if d := took(set.Fingerprints, k); d > 10*uniform+5*time.Second { // what grows with flips takes minutes
				t.Errorf("%s, k = %d: planned in %v, uniform fingerprints for k = 5 in %v", set.Name, k, d, uniform)
			}
		}
	}
}

// TestPlanningEnds: a context that is done ends planning.
func TestPlanningEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(ctx, Request{Fingerprints: 1000, K: 3}); !errors.Is(err, context.Canceled) {
		t.Errorf("a plan that was called off: %v", err)
	}
}

// TestSamePlan: the same request gives the same plan, down to the last digit and the words.
func TestSamePlan(t *testing.T) {
	for _, set := range skewed.Sets(20_000, 2) {
		var first string
		for range 2 {
			s, _ := NewSample(set.Fingerprints, SampleSize, 1)
			p, err := New(t.Context(), Request{Fingerprints: 20_000, K: 3, Seed: 1, Sample: s, IDs: IDsRows})
			if err != nil {
				t.Fatal(err)
			}
			if got := words(p); first == "" {
				first = got
			} else if got != first {
				t.Errorf("%s:\n%s\nthen\n%s", set.Name, first, got)
			}
		}
	}
}

// TestLongMasks holds the candidates that a sample foretells under masks of 24 to 32 bits against those
// counted among all fingerprints, within a tenth or the five that tell few from none: the sample is one of
// distinct fingerprints, of which documents would show the frequent ones too often.
func TestLongMasks(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 200_000
	}
	for _, set := range skewed.Sets(n, 3) {
		all := slices.Compact(slices.Sorted(slices.Values(set.Fingerprints)))
		var distinct distribution.Distinct
		distinct.Add(set.Fingerprints)
		s, err := NewSample(distinct.Sample(), SampleSize, 1)
		if err != nil {
			continue
		}
		for _, name := range []string{"cover-11-6-3", "cover-8-4-3"} {
			design, err := permute.Named(name, 3, 1)
			if err != nil {
				t.Fatal(err)
			}
			var said, counted float64
			for _, table := range design.Tables[:6] {
				share, _ := s.share(table.Mask, table.Leading(), 0)
				said += share * float64(len(all))
				perm := permute.New(table.Mask)
				keys := make([]uint64, len(all))
				for i, x := range all {
					keys[i] = perm.Apply(x)
				}
				slices.Sort(keys)
				pairs, _ := agreeing(keys, table.Leading())
				counted += 2 * pairs / float64(len(all))
			}
			if math.Abs(said-counted) > 0.1*counted+5 {
				t.Errorf("%s, %s: %.5g candidates said, %.5g counted", set.Name, name, said, counted)
			}
		}
	}
}
