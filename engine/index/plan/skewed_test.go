package plan

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"ndd/engine/index/distribution"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/permute"
)

// TestPlanningIsQuick: whatever the fingerprints, a plan looks at no more keys and allocates no
// more than one for uniform ones and k = 5, which has most designs, and little more for k = 8:
// nothing in it grows with the number of flips. That is half a billion keys at most for the largest
// sample, which takes some tenths of a second.
func TestPlanningIsQuick(t *testing.T) {
	const n = 1 << 13 // a sample of less costs less; what grows with flips would show all the same
	cost := func(prints []uint64, k int) (steps, bytes uint64) {
		s, err := NewSample(prints, n, 1)
		if err != nil {
			return 0, 0 // too few distinct ones
		}
		before := allocated()
		_, err = New(t.Context(), Request{Fingerprints: 1 << 30, K: k, Seed: 1, Sample: s, IDs: IDsRows})
		must.Do(t, err)
		return s.steps, allocated() - before
	}
	uniformSteps, uniformBytes := cost(uniformKeys(n, 3), 5)
	if most := uint64(n << 14); uniformSteps == 0 || uniformSteps > most {
		t.Errorf("uniform fingerprints: %d steps, want at most %d", uniformSteps, most)
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

// allocated is what was allocated so far, freed or not.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
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

// TestLongMasks holds the candidates that a sample foretells under masks of 24 to 32 bits against those
// counted among all fingerprints, within a tenth or the five that tell few from none: the sample is one of
// distinct fingerprints, of which documents would show the frequent ones too often.
func TestLongMasks(t *testing.T) {
	n := long.Or(100_000, 1_000_000)
	for i, set := range sets.Skewed(n, 3) {
		if !long.Form() && i%4 > 0 {
			continue
		}
		all := slices.Compact(slices.Sorted(slices.Values(set.Base)))
		var distinct distribution.Distinct
		distinct.Add(set.Base)
		s, err := NewSample(distinct.Sample(), SampleSize, 1)
		if err != nil {
			continue
		}
		for _, name := range []string{"cover-11-6-3", "cover-8-4-3"} {
			design, err := permute.Named(name, 3, 1)
			must.Do(t, err)
			var said, counted float64
			for _, table := range design.Tables[:6] {
				said += s.share(table.Mask, table.Leading(), 0) * float64(len(all))
				perm := permute.New(table.Mask)
				keys := make([]uint64, len(all))
				for i, x := range all {
					keys[i] = perm.Apply(x)
				}
				slices.Sort(keys)
				e := estimate{keys: keys}
				counted += 2 * e.agreeing(table.Leading()) / float64(len(all))
			}
			if math.Abs(said-counted) > 0.1*counted+5 {
				t.Errorf("%s, %s: %.5g candidates said, %.5g counted", set.Name, name, said, counted)
			}
		}
	}
}
