package asm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
)

// checkFilter compares Filter, into other memory and in place, with a list.
func checkFilter(t *testing.T, r *rand.Rand, mapBits, n int) {
	bitmap := guard.Tail[uint64](guard.New(t, 1<<mapBits/8), 1<<mapBits/64)
	words := guard.Tail[uint64](guard.New(t, 8*max(n, 1)), n)
	dst := guard.Tail[uint64](guard.New(t, 8*max(n, 1)), n)
	for i := range bitmap {
		bitmap[i] = r.Uint64()
	}
	for i := range words {
		words[i] = r.Uint64()
	}
	want := slices.DeleteFunc(slices.Clone(words), func(w uint64) bool {
		n := w & 0xffffffff >> (32 - mapBits)
		return bitmap[n/64]>>(n%64)&1 == 0
	})
	for _, to := range [][]uint64{dst, words} {
		if kept := Filter(to, words, bitmap); !slices.Equal(to[:kept], want) {
			t.Fatalf("%s: %d words, 2^%d bits: kept %d, want %d", Backend(), n, mapBits, kept, len(want))
		}
	}
}

func TestFilter(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 99))
	eachKernel(t, func(t *testing.T) {
		for _, mapBits := range []int{7, 8, 13, 20} {
			for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 300, filterCall + 3} {
				checkFilter(t, r, mapBits, n)
			}
		}
	})
}
