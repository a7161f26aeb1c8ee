package asm

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
