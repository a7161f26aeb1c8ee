package plan

import (
	"slices"
	"testing"

	"ndd/engine/index/distribution"
	"ndd/engine/index/table"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/permute"
)

// TestWideLines holds the bytes of planar tables of skewed sets against those that a plan with a
// sample foretells, wide lines included: within four in a hundred.
func TestWideLines(t *testing.T) {
	n := long.Or(60_000, 300_000)
	for _, set := range sets.Skewed(n, 7) {
		prints := slices.Compact(slices.Sorted(slices.Values(set.Base)))
		var distinct distribution.Distinct
		distinct.Add(prints)
		sample, err := NewSample(distinct.Sample(), SampleSize, 1)
		if err != nil {
			continue // too few distinct ones
		}
		for _, name := range []string{"halves", "thirds"} {
			design, err := permute.Named(name, 3, 1)
			must.Do(t, err)
			r := Request{Fingerprints: uint64(len(prints)), K: 3, Layout: table.LayoutPlanar,
				Designs: []permute.Design{design}, Sample: sample, Seed: 1}
			p, err := New(t.Context(), r)
			must.Do(t, err)
			built, wide := uint64(0), uint64(0)
			for _, tab := range inMemory(t, prints, p.Choice).Tables() {
				for _, part := range tab.Parts() {
					if built += part.Bytes; part.Name == "wide" {
						wide += part.Bytes
					}
				}
			}
			said := p.Choice.TableBytes
			t.Logf("%s, %s: %d bytes said, %d built, %d of them for wide lines", set.Name, name, said, built, wide)
			if float64(said) < 0.96*float64(built) || float64(said) > 1.04*float64(built) {
				t.Errorf("%s, %s: %d bytes said, %d built, %d of them for wide lines", set.Name, name, said, built, wide)
			}
		}
	}
}
