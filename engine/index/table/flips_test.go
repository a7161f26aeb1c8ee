package table

import (
	"slices"
	"testing"

	"ndd/permute"
)

// TestFlipList: a search is given every pattern of its set, once.
func TestFlipList(t *testing.T) {
	var l flipList
	for leading := range 13 {
		for radius := range permute.MaxK + 1 {
			set := permute.Flips(leading, radius)
			var got []uint64
			for flips := l.first(set); len(flips) > 0; flips = l.next() {
				got = append(got, flips...)
			}
			if want := slices.Collect(set.All()); !slices.Equal(got, want) || len(got) != set.Len() {
				t.Fatalf("%d leading bits, radius %d: %d patterns, want %d", leading, radius, len(got), len(want))
			}
		}
	}
}
