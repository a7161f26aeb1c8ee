package asm

import (
	"fmt"
	"slices"
)

// LeafMax is the longest leaf that SortLeaves sorts.
const LeafMax = 16

// SortLeaves sorts keys leaf by leaf, the last step of a sort by most significant digit:
// leaf d is src[ends[d-1]:ends[d]], the first begins at from, and goes to the same place of dst,
// ascending. It stops before a leaf of more than LeafMax keys and returns how many leaves it
// has done. dst must be as long as src; both may be the same memory, but must not overlap otherwise.
// Ends that descend or lie outside of src are a programmer's error and panic.
//
// Napkin, AVX-512: up to 8 keys are one register, sorted by the bitonic network of 6 layers, each
// a shuffle, a minimum and a maximum; 9 to 16 are two and 4 layers more. Layers wait for each other,
// so leaves overlap: 18 ns for one, 2.1 ns a key where leaves have 8 on average.
func SortLeaves(dst, src []uint64, ends []uint32, from uint32) (done int) {
	dst = dst[:len(src)]
	for done < len(ends) {
		n := min(len(ends)-done, leavesCall)
		ready := leaves(dst, src, ends[done:done+n], from)
		if done += ready; ready > 0 {
			from = ends[done-1]
		}
		if ready == n {
			continue
		}
		if to := ends[done]; to < from || uint64(to) > uint64(len(src)) {
			panic(fmt.Sprintf("asm: leaf %d from %d to %d of %d keys", done, from, to, len(src)))
		}
		break
	}
	return done
}

// leavesCall is how many leaves one call of a kernel takes: some 40 us.
const leavesCall = 2048

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

// checkLeaves is the known answer: leaves of 0 to 17 keys, descending, of which the last is
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
