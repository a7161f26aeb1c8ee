package asm

import (
	"fmt"
	"math/bits"
	"slices"
)

// withinGeneric is the specification of within64 and within32: it writes base plus
// the index of every element within k bits of q, and stops before the first that does
// not fit. The other backends may stop earlier, but only where dst cannot take the
// hits of the next block, of at most 64 elements.
func withinGeneric[T uint32 | uint64](dst []uint32, xs []T, base uint32, q T, k int) (n, scanned int) {
	for i, x := range xs {
		if bits.OnesCount64(uint64(x^q)) > k {
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

// checkWithin64 compares the kernel in use with a known answer: element i differs from q in i mod 65 bits.
func checkWithin64() error {
	const q = 0x9e3779b97f4a7c15
	var xs [200]uint64
	for i := range xs {
		xs[i] = q ^ (1<<(i%65) - 1)
	}
	want := []uint32{0, 1, 2, 3, 65, 66, 67, 68, 130, 131, 132, 133, 195, 196, 197, 198}
	var got [len(xs)]uint32
	n, scanned := Within64(got[:], xs[:], q, 3)
	return checkHits(got[:n], want, scanned, len(xs))
}

// checkWithin32 compares the kernel in use with a known answer: element i differs from q in i mod 33 bits.
func checkWithin32() error {
	const q = 0x7f4a7c15
	var xs [200]uint32
	for i := range xs {
		xs[i] = q ^ uint32(1<<(i%33)-1)
	}
	want := []uint32{0, 1, 2, 33, 34, 35, 66, 67, 68, 99, 100, 101, 132, 133, 134, 165, 166, 167, 198, 199}
	var got [len(xs)]uint32
	n, scanned := Within32(got[:], xs[:], q, 2)
	return checkHits(got[:n], want, scanned, len(xs))
}

func checkHits(got, want []uint32, scanned, of int) error {
	if scanned != of || !slices.Equal(got, want) {
		return fmt.Errorf("got %d after %d of %d elements, want %d", got, scanned, of, want)
	}
	return nil
}
