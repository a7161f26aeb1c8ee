package asm

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
)

// nearPairs is which keys have another near them behind them in their bucket.
func nearPairs(keys []uint64, ends []uint32, from uint32, k int) (rows []uint32) {
	for _, to := range ends {
		for i := from; i < to; i++ {
			if slices.ContainsFunc(keys[i+1:to], func(x uint64) bool { return bits.OnesCount64(x^keys[i]) <= k }) {
				rows = append(rows, i)
			}
		}
		from = to
	}
	return rows
}

// nearBucket returns n keys of which some are near others; of the rest, none are by chance.
func nearBucket(rng *rand.Rand, n, k int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		if keys[i] = rng.Uint64(); i > 0 && rng.IntN(8) == 0 {
			keys[i] = keys[rng.IntN(i)] ^ flips64(rng, max(0, min(64, k+rng.IntN(4)-2)))
		}
	}
	return keys
}

// checkNearRows compares NearRows, at both ends of guarded memory, with comparing all pairs.
func checkNearRows(t *testing.T, rng *rand.Rand, sizes []byte, k int) {
	var bucket []uint64
	var ends []uint32
	for _, n := range sizes {
		bucket = append(bucket, nearBucket(rng, int(n), k)...)
		ends = append(ends, uint32(len(bucket)))
	}
	want, dst := nearPairs(bucket, ends, 0, k), make([]uint32, len(bucket))
	head, tail := guard.Copies(t, bucket)
	for _, keys := range [][]uint64{head, tail} {
		if n, done := NearRows(dst, keys, ends, 0, k); done != len(ends) || !slices.Equal(dst[:n], want) {
			t.Fatalf("%s: buckets of %d, k=%d: rows %d of %d buckets, want %d", Backend(), sizes, k, dst[:n], done, want)
		}
	}
}

// TestNearRowsBuckets: a bucket of every size, every k.
func TestNearRowsBuckets(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	eachKernel(t, func(t *testing.T) {
		for n := range byte(81) {
			for k := int(n) % 4; k < 64; k += 4 {
				checkNearRows(t, rng, []byte{n}, k)
			}
		}
	})
}

// TestNearRowsMany: many buckets, in calls with little room, of which one is too large.
func TestNearRowsMany(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for seed := range uint64(60) {
			rng := rand.New(rand.NewPCG(seed, 7))
			var keys []uint64
			var ends []uint32
			for range 200 {
				keys = append(keys, nearBucket(rng, rng.IntN(1<<rng.IntN(8)), 3)...)
				ends = append(ends, uint32(len(keys)))
			}
			long := -1
			if seed%2 == 0 {
				long = len(ends)
				keys = append(keys, nearBucket(rng, NearBucketMax+1, 3)...)
				ends = append(ends, uint32(len(keys)))
			}
			var rows []uint32
			dst := make([]uint32, 128+rng.IntN(200))
			from, done := uint32(0), 0
			for done < len(ends) && done != long {
				n, ready := NearRows(dst, keys, ends[done:], from, 3)
				if rows = append(rows, dst[:n]...); ready == 0 {
					t.Fatalf("seed %d: no progress at bucket %d", seed, done)
				}
				done += ready
				from = ends[done-1]
			}
			want := nearPairs(keys, ends, 0, 3)
			for long >= 0 && len(want) > 0 && want[len(want)-1] >= ends[long-1] {
				want = want[:len(want)-1]
			}
			if !slices.Equal(rows, want) {
				t.Fatalf("seed %d: %d rows, want %d", seed, len(rows), len(want))
			}
			if long >= 0 {
				if n, ready := NearRows(make([]uint32, 2*NearBucketMax), keys, ends[long:], from, 3); n+ready != 0 {
					t.Fatalf("a bucket of %d keys was taken", NearBucketMax+1)
				}
			}
		}
	})
}
