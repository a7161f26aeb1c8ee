package radix

import (
	"slices"

	"ndd/asm"
)

// newBuckets returns buckets in dst, for asm.Scatter, of keys of at least low: the first key of digit d, which is
// (key-low) >> shift, goes to dst[starts[d]]. It allocates a cache line a digit.
func newBuckets(dst, starts []uint64, low uint64, shift uint) *asm.Buckets {
	b := &asm.Buckets{Dst: dst, Low: low, Shift: shift, Skew: asm.LineOffset(dst), Next: make([]uint64, len(starts))}
	for d, at := range starts {
		b.Next[d] = at + b.Skew
	}
	b.First = slices.Clone(b.Next)
	// Lines begin where cache lines do, so that none lies on two.
	lines := make([]uint64, asm.LineKeys*(len(starts)+1)-1)
	b.Lines = lines[-int(asm.LineOffset(lines))&(asm.LineKeys-1):][:asm.LineKeys*len(starts)]
	return b
}
