package main

import (
	"slices"
	"testing"

	"ndd/engine/oracle/must"
	"ndd/permute"
)

// TestGenerateRange: the ranges of a table are all fingerprints, each once, in the table's order.
func TestGenerateRange(t *testing.T) {
	const n = 3*cells + 1234
	for number, tab := range generatedDesign.Tables {
		p := permute.New(tab.Mask)
		var want []uint64
		for i := range uint64(n) {
			want = append(want, p.Apply(generated(i)))
		}
		slices.Sort(want)
		if distinct := slices.Compact(slices.Clone(want)); len(distinct) != n {
			t.Fatalf("%d of %d are distinct", len(distinct), n)
		}
		for _, parts := range []uint64{1, 4, 1 << cellBits} {
			var got []uint64
			for part := range parts {
				keys, err := generateRange(t.Context(), make([]uint64, 2*n), make([]uint64, 2*n), n, number, part, parts)
				must.Do(t, err)
				got = append(got, keys...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("table %d in %d ranges differs", number, parts)
			}
		}
	}
}
