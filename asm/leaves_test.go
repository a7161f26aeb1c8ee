package asm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
)

// checkLeaves sorts leaves of given lengths, of few values or many, in two calls, and compares them with the library's
// sort: at both ends of guarded memory, in place and not.
func checkLeaves(t *testing.T, rng *rand.Rand, lengths []uint32) {
	t.Helper()
	bounds := []uint32{0}
	for i, n := range lengths {
		bounds = append(bounds, bounds[i]+n)
	}
	ends, half := bounds[1:], len(lengths)/2
	keys, values := make([]uint64, bounds[len(lengths)]), []uint64{1, 2, 5, 20, 1 << 40}[rng.IntN(5)]
	for i := range keys {
		keys[i] = -rng.Uint64N(values) >> (rng.Uint64N(2) * 20) // the largest numbers among them
	}
	want, leaves := slices.Clone(keys), 0
	for ; leaves < len(ends) && lengths[leaves] <= LeafMax; leaves++ {
		slices.Sort(want[bounds[leaves]:ends[leaves]])
	}
	in, out := guard.New(t, 8*len(keys)), guard.New(t, 8*len(keys))
	for _, place := range []func(r *guard.Region, n int) []uint64{guard.Head[uint64], guard.Tail[uint64]} {
		src, other := place(in, len(keys)), place(out, len(keys))
		copy(src, keys)
		copy(other, want)
		clear(other[:bounds[leaves]])
		for _, dst := range [][]uint64{other, src} {
			done := SortLeaves(dst, src, ends[:half], 0)
			if done == half {
				done += SortLeaves(dst, src, ends[half:], bounds[half])
			}
			if done != leaves || !slices.Equal(dst, want) {
				t.Fatalf("%s: %d of %d leaves, want %d: %x of %x", Backend(), done, len(ends), leaves, dst, keys)
			}
		}
	}
}

// TestLeavesLengths sorts leaves of every length, alone and among others.
func TestLeavesLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	eachKernel(t, func(t *testing.T) {
		for n := range uint32(LeafMax + 1) {
			for range 50 {
				checkLeaves(t, rng, slices.Repeat([]uint32{n}, 1+rng.IntN(20)))
			}
		}
	})
}

// TestLeavesZeroOne sorts every leaf of up to 16 zeros and ones. That proves a sorting network for all keys.
func TestLeavesZeroOne(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		src, dst := make([]uint64, LeafMax), make([]uint64, LeafMax)
		for n := range LeafMax + 1 {
			for word := range 1 << n {
				ones := 0
				for i := range n {
					src[i] = uint64(word >> i & 1)
					ones += int(src[i])
				}
				SortLeaves(dst[:n], src[:n], []uint32{uint32(n)}, 0)
				for i, v := range dst[:n] {
					if v != 0 != (i >= n-ones) {
						t.Fatalf("%d sorts to %d", src[:n], dst[:n])
					}
				}
			}
		}
	})
}

// TestLeavesStop passes more leaves than one call takes. One of them may be too long.
func TestLeavesStop(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, 3))
			lengths := make([]uint32, 1+rng.IntN(2*leavesCall))
			for d := range lengths {
				if lengths[d] = rng.Uint32N(LeafMax + 1); rng.IntN(3*leavesCall) == 0 {
					lengths[d] = LeafMax + 1
				}
			}
			checkLeaves(t, rng, lengths)
		}
	})
}
