package permute

import (
	"slices"
	"testing"
)

// TestRecursion compares the four designs of section 3.1.2 of the paper for 2^34 fingerprints and k = 3. It checks the
// keys that a probe compares, and the ends of the recursion.
func TestRecursion(t *testing.T) {
	for _, c := range []struct {
		f, k, d, tau int
		want         Split
	}{
		{64, 3, 34, 4, Split{20, []int{6}, 31}},
		{64, 3, 34, 7, Split{16, []int{4, 4}, 28}},
		{64, 3, 34, 10, Split{10, []int{5}, 25}},
		{64, 3, 34, 19, Split{4, []int{4}, 16}},
		{64, 3, 34, 35, Split{Tables: 1}},
		{64, 0, 34, 4, Split{1, []int{1}, 64}},
		{4, 3, 34, 4, Split{}},
	} {
		got := Recursion(c.f, c.k, c.d, c.tau)
		if got.Tables != c.want.Tables || got.Low != c.want.Low || !slices.Equal(got.Blocks, c.want.Blocks) {
			t.Errorf("X(%d, %d, %d), tau = %d: %+v, want %+v", c.f, c.k, c.d, c.tau, got, c.want)
		}
	}
}
