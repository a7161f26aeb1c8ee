package asm

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
)

// nearBucket returns n keys. Some are near others; the rest are near no key, not even by chance.
func nearBucket(rng *rand.Rand, n, k int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		if keys[i] = rng.Uint64(); i > 0 && rng.IntN(8) == 0 {
			keys[i] = keys[rng.IntN(i)] ^ flips64(rng, max(0, min(64, k+rng.IntN(4)-2)))
		}
	}
	return keys
}

// checkNearRows compares NearRows with a comparison of all pairs in buckets of the given sizes. The last bucket may be
// too large. Each call has a buffer of the given size, and the slices are at both ends of guarded memory.
func checkNearRows(t *testing.T, rng *rand.Rand, sizes []int, k, room int) {
	t.Helper()
	var all []uint64
	var want []uint32
	bounds, wantDone := []uint32{0}, 0
	for _, n := range sizes {
		keys := nearBucket(rng, n, k)
		if n <= NearBucketMax {
			wantDone++
			for i, key := range keys {
				if slices.ContainsFunc(keys[i+1:], func(x uint64) bool { return bits.OnesCount64(x^key) <= k }) {
					want = append(want, uint32(len(all)+i))
				}
			}
		}
		all = append(all, keys...)
		bounds = append(bounds, uint32(len(all)))
	}
	head, tail := guard.Copies(t, all)
	for _, keys := range [][]uint64{head, tail} {
		dst, rows, done := make([]uint32, room), []uint32(nil), 0
		for done < len(sizes) {
			n, ready := NearRows(dst, keys, bounds[1+done:], bounds[done], k)
			rows = append(rows, dst[:n]...)
			if done += ready; ready == 0 {
				break
			}
		}
		if done != wantDone || !slices.Equal(rows, want) {
			t.Fatalf("%s: buckets of %d, k=%d, room %d: rows %d of %d buckets, want %d of %d", Backend(), sizes, k, room, rows,
				done, want, wantDone)
		}
	}
}

// TestNearRowsBuckets searches buckets of every size with every k.
func TestNearRowsBuckets(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	eachKernel(t, func(t *testing.T) {
		for n := range 81 {
			for k := n % 4; k < 64; k += 4 {
				checkNearRows(t, rng, []int{n}, k, n)
			}
		}
	})
}

// TestNearRowsMany searches many buckets in calls with little memory for results, and in calls with one bucket that is
// too large.
func TestNearRowsMany(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for seed := range uint64(60) {
			rng := rand.New(rand.NewPCG(seed, 7))
			sizes, room := make([]int, 200), 128+rng.IntN(200)
			for i := range sizes {
				sizes[i] = rng.IntN(1 << rng.IntN(8))
			}
			if seed%2 == 0 {
				sizes, room = append(sizes, NearBucketMax+1), 2*NearBucketMax
			}
			checkNearRows(t, rng, sizes, 3, room)
		}
	})
}
