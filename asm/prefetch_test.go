package asm

import (
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
)

// TestPrefetch checks that a prefetch changes nothing and never faults, even with wrong indexes.
func TestPrefetch(t *testing.T) {
	xs := guard.Tail[uint32](guard.New(t, 4096), 1000)
	for i := range xs {
		xs[i] = uint32(i)
	}
	before := slices.Clone(xs)
	for n := range xs {
		PrefetchAll(xs[:n])
		PrefetchAll(xs[n:])
	}
	PrefetchAll([]uint32(nil))
	PrefetchAt(xs, []uint64{0, 1, 999, 1000, 1 << 50})
	PrefetchAt([]struct{ a, b, c uint64 }{{}}, []uint64{0, 5})
	if !slices.Equal(before, xs) {
		t.Error("prefetching changed memory")
	}
}
