package live

import (
	"slices"
	"testing"
)

// TestTiers flushes 110 memtables, one after the other, and merges as pick says, into an empty
// index and into one that was built of a hundred times as many: how often a document is written, by
// its flush and by merges, how much room the largest merge takes and how many segments there are.
func TestTiers(t *testing.T) {
	const unit, flushes = 1 << 20, 110
	for _, base := range []uint64{0, 100 * unit, 1000 * unit} {
		var sizes []uint64
		if base > 0 {
			sizes = append(sizes, base)
		}
		written, total, bytes := uint64(0), base, 0.0
		c := Config{Design: halves(t), Table: planar}
		times := map[[2]uint64]float64{} // a plan takes a millisecond
		write := func(docs uint64) {
			written += docs
			of := [2]uint64{docs, min(total/docs, smallShare)}
			if times[of] == 0 { // two tables and the numbers of documents are 14 bytes a document, four tables 25
				times[of] = 1 + 0.4*float64(len(c.designOf(docs, docs*of[1]).Tables)-2)
			}
			bytes += float64(docs) * times[of]
		}
		for n := uint64(1); n <= flushes; n++ {
			sizes = append(sizes, unit)
			total += unit
			write(unit)
			for {
				begin, end := pickOutgrown(sizes)
				if begin == end {
					break
				}
				merged := uint64(0)
				for _, docs := range sizes[begin:end] {
					merged += docs
				}
				write(merged)
				sizes = slices.Replace(sizes, begin, end, merged)
				if merged > total {
					t.Errorf("%d flushes: a merge takes %d beside %d", n, merged, total)
				}
			}
			if base > 0 && sizes[0] != base {
				t.Fatalf("%d flushes: what was built is written again: %v", n, sizes)
			}
			if each := bytes / float64(n*unit); n >= 10 && each > 5.6 {
				t.Errorf("%d flushes: %.2f bytes are written for each", n, each)
			}
			if each := float64(written) / float64(n*unit); each > 4.2 {
				t.Errorf("%d flushes: each document is written %.2f times", n, each)
			}
			if len(sizes) > 7+1 {
				t.Errorf("%d flushes: %d segments", n, len(sizes))
			}
		}
		t.Logf("%d flushes onto %d documents: written %.2f times, %.2f times the bytes that they have in the end, %v",
			flushes, base, float64(written)/(flushes*unit), bytes/(flushes*unit), sizes)
	}
}

// TestPickOutgrown: what may not be merged is left, smaller segments among and behind go with the
// others, and larger ones stay.
func TestPickOutgrown(t *testing.T) {
	const no = neverMerged
	for _, c := range []struct {
		sizes      []uint64
		begin, end int
	}{
		{nil, 0, 0},
		{[]uint64{1}, 0, 0},
		{[]uint64{1, 1}, 0, 0},
		{[]uint64{1, 1, 1}, 0, 3},
		{[]uint64{9, 1, 1}, 0, 0},
		{[]uint64{9, 1, 1, 1}, 1, 4},
		{[]uint64{3, 3, 1, 1, 1}, 0, 5},
		{[]uint64{3, 5}, 0, 0},
		{[]uint64{3, 6}, 0, 0},
		{[]uint64{100, 9, 1, 9}, 0, 0},
		{[]uint64{100, 9, 1, 20}, 1, 4},
		{[]uint64{1, 1, 1, no, 1, 1}, 0, 3},
		{[]uint64{1, 1, no, 1, 1}, 0, 0},
		{[]uint64{1, 1, 1, no, 1, 1, 1}, 4, 7},
		{[]uint64{no, no}, 0, 0},
	} {
		for i := range c.sizes {
			c.sizes[i] *= fewDocs
		}
		if begin, end := pickOutgrown(c.sizes); begin != c.begin && begin != end || end-begin != c.end-c.begin {
			t.Errorf("%v: [%d, %d), want [%d, %d)", c.sizes, begin, end, c.begin, c.end)
		}
	}
	for n, want := range []int{0, 0, 0, 0, 4, 5} { // few documents
		if begin, end := pickOutgrown([]uint64{1, 1, 1, 1, 1}[:n]); end-begin != want {
			t.Errorf("%d segments of a document: %d are merged, want %d", n, end-begin, want)
		}
	}
}
