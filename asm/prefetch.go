package asm

import "unsafe"

// PrefetchAll prefetches all lines of xs, so that the misses of the next reader are under way at
// once. It changes nothing that a program can see, and does nothing in a build without assembly. It
// is for a few kilobytes: memory serves about 10 to 16 lines at a time for one core, at 20 to 30 ns
// each where a miss takes 300, and further prefetches wait.
func PrefetchAll[T any](xs []T) {
	if len(xs) > 0 {
		prefetchAll(unsafe.Pointer(unsafe.SliceData(xs)), unsafe.Sizeof(xs[0])*uintptr(len(xs)))
	}
}

// PrefetchAt prefetches the lines on which the elements xs[index[i]] begin, such as
// the lines of a query's buckets. An index outside xs is passed over.
func PrefetchAt[T any](xs []T, index []uint64) {
	if len(index) > 0 && len(xs) > 0 {
		prefetchAt(unsafe.Pointer(unsafe.SliceData(xs)), unsafe.Sizeof(xs[0]), &index[0], len(index))
	}
}
