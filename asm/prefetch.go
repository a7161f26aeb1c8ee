package asm

import "unsafe"

// prefetchLines is how much of one run is asked for ahead of its scan, in lines of
// 64 bytes: enough for a run of 64 elements anywhere. The hardware sees a longer
// one coming by itself. The assembly reads it; amd64 has it unrolled.
//
//lint:ignore U1000 only assembly uses it
const prefetchLines = 5

// Prefetch32 asks memory for the lines of every span, so that the misses of a
// whole probe are under way at once before Within32 waits for the first of them.
// It changes nothing that a program can see.
//
// Napkin: a span of 16 to 32 elements lies on two or three lines, an instruction
// each. Memory serves about 10 to 16 of them at a time for one core: at 300 ns a
// miss that is 20 to 30 ns a line instead of 300. Measured over 1 GiB, 33 spans a
// query: 32 ns a span with AVX-512 with or without it, which keeps 20 spans in flight
// by itself; with AVX2 37 ns instead of 81, generic 83 instead of 260
// (BenchmarkWithin32Memory).
func Prefetch32(low []uint32, spans []Span) {
	if len(spans) > 0 {
		prefetchRuns(unsafe.SliceData(low), unsafe.Pointer(&spans[0]), unsafe.Sizeof(spans[0]), len(spans))
	}
}

// Prefetch32Runs is Prefetch32 for runs with a query of their own.
func Prefetch32Runs(low []uint32, runs []Run) {
	if len(runs) > 0 {
		prefetchRuns(unsafe.SliceData(low), unsafe.Pointer(&runs[0]), unsafe.Sizeof(runs[0]), len(runs))
	}
}

// PrefetchAt asks memory for the lines on which the elements xs[index[i]] begin:
// the lines of a query's buckets. An index outside xs is passed over.
func PrefetchAt[T any](xs []T, index []uint64) {
	if len(index) > 0 && len(xs) > 0 {
		prefetchAt(unsafe.Pointer(unsafe.SliceData(xs)), unsafe.Sizeof(xs[0]), &index[0], len(index))
	}
}
