package asm

// leavesGeneric is the specification of leaves: SortLeaves, whose first leaf begins at start. It stops before a leaf
// that is longer than LeafMax or not within src.
func leavesGeneric(dst, src []uint64, ends []uint32, start uint32) (done int) {
	for d, to := range ends {
		if to < start || to-start > LeafMax || uint64(to) > uint64(len(src)) {
			return d
		}
		leaf := dst[start:to]
		for i, key := range src[start:to] {
			j := i
			for ; j > 0 && leaf[j-1] > key; j-- {
				leaf[j] = leaf[j-1]
			}
			leaf[j] = key
		}
		start = to
	}
	return len(ends)
}
