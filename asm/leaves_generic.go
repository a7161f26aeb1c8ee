package asm

import (
	"fmt"
	"slices"
)

// leavesGeneric is the specification of leaves: SortLeaves, whose first leaf begins at from.
// It stops before a leaf that is longer than LeafMax or not within src.
func leavesGeneric(dst, src []uint64, ends []uint32, from uint32) (done int) {
	for d, to := range ends {
		if to < from || to-from > LeafMax || uint64(to) > uint64(len(src)) {
			return d
		}
		leaf := dst[from:to]
		for i, key := range src[from:to] {
			j := i
			for ; j > 0 && leaf[j-1] > key; j-- {
				leaf[j] = leaf[j-1]
			}
			leaf[j] = key
		}
		from = to
	}
	return len(ends)
}

// checkLeaves compares the kernel in use with a known answer: leaves of 0 to 17 keys, descending, of which the last is
// too long.
func checkLeaves() error {
	var keys, want []uint64
	var ends []uint32
	for n := range uint64(LeafMax + 2) {
		for i := range n {
			keys = append(keys, (n-i)<<59)
			want = append(want, (i+1)<<59)
		}
		ends = append(ends, uint32(len(keys)))
	}
	want = append(want[:ends[LeafMax]], make([]uint64, LeafMax+1)...)
	got := make([]uint64, len(keys))
	if done := SortLeaves(got, keys, ends, 0); done != LeafMax+1 || !slices.Equal(got, want) {
		return fmt.Errorf("%d leaves, %#x, want %#x", done, got, want)
	}
	return nil
}
