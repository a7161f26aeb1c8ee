package asm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
)

// partitioned computes the result of Scatter, bucket by bucket: the keys by digit, and the starts of their buckets.
func partitioned(keys []uint64, low uint64, shift uint, digits int) (buckets [][]uint64, starts []uint64) {
	buckets, starts = make([][]uint64, digits), make([]uint64, digits)
	for _, k := range keys {
		d := (k - low) >> shift
		buckets[d] = append(buckets[d], k)
	}
	pos := uint64(0)
	for d := range starts {
		starts[d] = pos
		pos += uint64(len(buckets[d]))
	}
	return buckets, starts
}

// checkScatter scatters n keys in several calls, at both ends of guarded memory. The position of a line in dst depends
// on n.
func checkScatter(t *testing.T, rng *rand.Rand, n int) {
	digits, shift, low := 1+rng.IntN(40), uint(rng.IntN(50)), rng.Uint64N(1<<40)
	keys := make([]uint64, n)
	for i := range keys {
		d := rng.Uint64N(1 + rng.Uint64N(uint64(digits)))
		keys[i] = low + d<<shift + rng.Uint64()&(1<<shift-1)
	}
	want, starts := partitioned(keys, low, shift, digits)
	region := guard.New(t, 8*n)
	for _, dst := range [][]uint64{guard.Head[uint64](region, n), guard.Tail[uint64](region, n)} {
		clear(dst)
		b := NewBuckets(dst, starts, low, shift)
		for tail := keys; len(tail) > 0; {
			part := 1 + rng.IntN(len(tail))
			Scatter(b, tail[:part])
			tail = tail[part:]
		}
		ScatterFlush(b)
		if !slices.Equal(dst, slices.Concat(want...)) {
			t.Fatalf("%s: %d keys in %d buckets are not where they should be", Backend(), n, digits)
		}
	}
}

// TestScatter scatters inputs of every length and skew.
func TestScatter(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 5))
		for round := range 600 {
			checkScatter(t, rng, rng.IntN(1+round*20))
		}
	})
}

// TestScatterShared lets two writers scatter by turns. Each has a part of every bucket, and they share lines of dst.
func TestScatterShared(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 6))
			keys := make([]uint64, rng.IntN(900))
			for i := range keys {
				keys[i] = rng.Uint64()
			}
			half := len(keys) / 2
			const shift, digits = 59, 32
			want, starts := partitioned(keys, 0, shift, digits)
			first, _ := partitioned(keys[:half], 0, shift, digits)
			later := slices.Clone(starts)
			for d := range later {
				later[d] += uint64(len(first[d]))
			}
			dst := make([]uint64, len(keys))
			a, b := NewBuckets(dst, starts, 0, shift), NewBuckets(dst, later, 0, shift)
			for i := 0; i < len(keys)-half; i += 20 {
				Scatter(b, keys[half:][i:min(i+20, len(keys)-half)])
				Scatter(a, keys[min(i, half):min(i+20, half)])
			}
			ScatterFlush(b)
			ScatterFlush(a)
			if !slices.Equal(dst, slices.Concat(want...)) {
				t.Fatalf("seed %d: %d keys are not where they should be", seed, len(keys))
			}
		}
	})
}
