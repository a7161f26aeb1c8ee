package table

import (
	"slices"
	"testing"

	"ndd/permute"
)

// TestFlipList: a search is given every pattern of its set, once, whatever is listed and whatever is walked, and the
// same again when it asks again.
func TestFlipList(t *testing.T) {
	var l flipList
	for leading := range 13 {
		for radius := range permute.MaxK + 1 {
			set := permute.Flips(leading, radius)
			want := slices.Sorted(set.All())
			for range 2 {
				var got []uint64
				for flips := l.first(set); len(flips) > 0; flips = l.next() {
					got = append(got, flips...)
				}
				if slices.Sort(got); !slices.Equal(got, want) || len(got) != set.Len() {
					t.Fatalf("%d leading bits, radius %d: %d patterns, want %d", leading, radius, len(got), len(want))
				}
			}
		}
	}
}
