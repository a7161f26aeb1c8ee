package asm

import (
	"fmt"
	"math/bits"
	"slices"
)

// within64Generic is the specification of within64: it writes base plus the index
// of every element within k bits of q, and stops before the first that does not
// fit. The other backends may stop earlier, but only where dst cannot take the
// hits of the next block, of at most 64 elements.
func within64Generic(dst []uint32, xs []uint64, base uint32, q uint64, k int) (n, scanned int) {
	for i, x := range xs {
		if bits.OnesCount64(x^q) > k {
			continue
		}
		if n == len(dst) {
			return n, i
		}
		dst[n] = base + uint32(i)
		n++
	}
	return n, len(xs)
}

// checkWithin64 is the known answer: element i differs from q in i mod 65 bits.
func checkWithin64() error {
	const q = 0x9e3779b97f4a7c15
	var xs [200]uint64
	for i := range xs {
		xs[i] = q ^ (1<<(i%65) - 1)
	}
	want := []uint32{0, 1, 2, 3, 65, 66, 67, 68, 130, 131, 132, 133, 195, 196, 197, 198}
	var got [len(xs)]uint32
	n, scanned := Within64(got[:], xs[:], q, 3)
	if scanned != len(xs) || !slices.Equal(got[:n], want) {
		return fmt.Errorf("got %d after %d elements, want %d", got[:n], scanned, want)
	}
	return nil
}
