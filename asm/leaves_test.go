package asm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
)

// sortedLeaves is SortLeaves with the library's sort.
func sortedLeaves(src []uint64, ends []uint32) (dst []uint64, done int) {
	dst = make([]uint64, len(src))
	from := uint32(0)
	for _, to := range ends {
		if to-from > LeafMax {
			break
		}
		copy(dst[from:to], src[from:to])
		slices.Sort(dst[from:to])
		from = to
		done++
	}
	return dst, done
}

// TestLeavesLengths: every length of a leaf, of keys with few and many values, at both ends of
// guarded memory, in place and not.
func TestLeavesLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	in, out := guard.New(t, 8*LeafMax), guard.New(t, 8*LeafMax)
	eachKernel(t, func(t *testing.T) {
		for n := range LeafMax + 1 {
			for range 300 {
				keys := make([]uint64, n)
				values := 1 + rng.Uint64N(20)
				for i := range keys {
					keys[i] = -rng.Uint64N(values) >> (rng.Uint64N(2) * 20) // the largest numbers among them
				}
				want, _ := sortedLeaves(keys, []uint32{uint32(n)})
				for _, place := range []func(r *guard.Region, n int) []uint64{guard.Head[uint64], guard.Tail[uint64]} {
					src, dst := place(in, n), place(out, n)
					copy(src, keys)
					if done := SortLeaves(dst, src, []uint32{uint32(n)}, 0); done != 1 || !slices.Equal(dst, want) {
						t.Fatalf("%#x: %d leaves, %#x", keys, done, dst)
					}
					if done := SortLeaves(src, src, []uint32{uint32(n)}, 0); done != 1 || !slices.Equal(src, want) {
						t.Fatalf("%#x: %d leaves in place, %#x", keys, done, src)
					}
				}
			}
		}
	})
}

// TestLeavesZeroOne: every leaf of up to 16 zeros and ones, which proves a network for all keys.
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

// checkLeaves sorts leaves of given lengths in two calls, and compares them with the library's sort.
func checkLeaves(t *testing.T, rng *rand.Rand, lengths []uint32) {
	ends, end := make([]uint32, len(lengths)), uint32(0)
	for d, n := range lengths {
		end += n
		ends[d] = end
	}
	src, dst := make([]uint64, end), make([]uint64, end)
	for i := range src {
		src[i] = rng.Uint64() >> rng.Uint64N(64)
	}
	want, leaves := sortedLeaves(src, ends)
	done := SortLeaves(dst, src, ends[:len(ends)/2], 0)
	if done == len(ends)/2 {
		from := uint32(0)
		if done > 0 {
			from = ends[done-1]
		}
		done += SortLeaves(dst, src, ends[done:], from)
	}
	if done != leaves || !slices.Equal(dst, want) {
		t.Fatalf("%s: %d of %d leaves, want %d", Backend(), done, len(ends), leaves)
	}
}

// TestLeavesStop: many leaves, more than a call takes, of which one may be too long.
func TestLeavesStop(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, 3))
			lengths := make([]uint32, 1+rng.IntN(2*leavesCall))
			for d := range lengths {
				if lengths[d] = rng.Uint32N(LeafMax + 1); rng.IntN(3*leavesCall) == 0 {
					lengths[d] += LeafMax
				}
			}
			checkLeaves(t, rng, lengths)
		}
	})
}
