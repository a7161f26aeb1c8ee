package live

import (
	"slices"
	"testing"
)

// TestTiers flushes 110 memtables, one after the other, and merges as pick says, into an empty index and into one that was built of a
// hundred times as many: how often a document is written, by its flush and by merges, how much room the largest merge takes and how
// many segments there are.
func TestTiers(t *testing.T) {
	const unit, flushes = 1 << 20, 110
	for _, base := range []uint64{0, 100 * unit} {
		var sizes []uint64
		if base > 0 {
			sizes = append(sizes, base)
		}
		written, total := uint64(0), base
		for n := uint64(1); n <= flushes; n++ {
			sizes = append(sizes, unit)
			written, total = written+unit, total+unit
			for {
				tiers := make([]int, len(sizes))
				for i, docs := range sizes {
					tiers[i] = tier(docs, unit)
				}
				begin, end := pickTier(tiers)
				if begin == end {
					break
				}
				merged := uint64(0)
				for _, docs := range sizes[begin:end] {
					merged += docs
				}
				written += merged
				sizes = slices.Replace(sizes, begin, end, merged)
				if merged > total {
					t.Errorf("%d flushes: a merge takes %d beside %d", n, merged, total)
				}
			}
			if base > 0 && sizes[0] != base {
				t.Fatalf("%d flushes: what was built is written again: %v", n, sizes)
			}
			if each := float64(written) / float64(n*unit); each > 4.1 {
				t.Errorf("%d flushes: each document is written %.2f times", n, each)
			}
			if len(sizes) > 3*4+1 {
				t.Errorf("%d flushes: %d segments", n, len(sizes))
			}
		}
		t.Logf("%d flushes onto %d documents: written %.2f times, %v", flushes, base, float64(written)/(flushes*unit), sizes)
	}
}

// TestPickTier: what may not be merged is left, smaller segments among and behind go with the others, and larger ones stay.
func TestPickTier(t *testing.T) {
	const no = neverMerged
	for _, c := range []struct {
		tiers      []int
		begin, end int
	}{
		{nil, 0, 0},
		{[]int{0, 0, 0}, 0, 0},
		{[]int{0, 0, 0, 0}, 0, 4},
		{[]int{3, 0, 0, 0}, 0, 0},
		{[]int{3, 0, 0, 0, 0}, 1, 5},
		{[]int{1, 0, 1, 1, 1, 0, 0}, 0, 7},
		{[]int{1, 1, 1, 1, no, 0, 0, 0}, 0, 4},
		{[]int{0, 0, no, 0, 0}, 0, 0},
		{[]int{2, 2, 1, 1, 1, 1, 0, 0, 0}, 2, 9},
		{[]int{0, 0, 0, 0, 2, 1, 1, 1, 1}, 0, 4},
	} {
		if begin, end := pickTier(c.tiers); begin != c.begin && begin != end || end-begin != c.end-c.begin {
			t.Errorf("%v: [%d, %d), want [%d, %d)", c.tiers, begin, end, c.begin, c.end)
		}
	}
}
