package asm

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

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

// TestNearRowsBuckets: a bucket of every size, at both ends of guarded memory, every k.
func TestNearRowsBuckets(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const most = 80
	region := guard.New(t, 8*most)
	dst := make([]uint32, most)
	eachKernel(t, func(t *testing.T) {
		for n := range most + 1 {
			for k := range 64 {
				bucket := nearBucket(rng, n, k)
				want := nearPairs(bucket, []uint32{uint32(n)}, 0, k)
				for _, keys := range [][]uint64{guard.Head[uint64](region, n), guard.Tail[uint64](region, n)} {
					copy(keys, bucket)
					got, done := NearRows(dst[:n], keys, []uint32{uint32(n)}, 0, k)
					if done != 1 || !slices.Equal(dst[:got], want) {
						t.Fatalf("n=%d k=%d: rows %d, want %d", n, k, dst[:got], want)
					}
				}
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

func TestNearRowsLimits(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, ends := range [][]uint32{{11}, {5, 4}, {3, 1 << 31}, {10, 9}} {
			wantPanic(t, fmt.Sprintf("ends %d of 10 keys", ends), func() { NearRows(make([]uint32, 100), make([]uint64, 10), ends, 0, 3) })
		}
	})
}

func FuzzNearRows(f *testing.F) {
	f.Add(uint64(1), []byte{3, 0, 16, 8, 9, 17, 2, 200}, 3)
	f.Fuzz(func(t *testing.T, seed uint64, lengths []byte, k int) {
		rng := rand.New(rand.NewPCG(seed, 4))
		k &= 63
		var keys []uint64
		var ends []uint32
		for _, n := range lengths[:min(len(lengths), 50)] {
			keys = append(keys, nearBucket(rng, int(n), k)...)
			ends = append(ends, uint32(len(keys)))
		}
		want := nearPairs(keys, ends, 0, k)
		dst := make([]uint32, len(keys))
		eachFuzzKernel(t, func(kernel string) {
			if n, done := NearRows(dst, keys, ends, 0, k); done != len(ends) || !slices.Equal(dst[:n], want) {
				t.Fatalf("%s: rows %d of %d buckets, want %d", kernel, dst[:n], done, want)
			}
		})
	})
}

func BenchmarkNearRows(b *testing.B) {
	defer use(Backend())
	for _, kernel := range Backends() {
		for _, mean := range []int{3, 6, 12, 24, 48, 96, 400} {
			b.Run(fmt.Sprintf("kernel=%s/mean=%d", kernel, mean), func(b *testing.B) {
				use(kernel)
				rng := rand.New(rand.NewPCG(1, 9))
				keys, counts := make([]uint64, 1<<14), make([]uint32, 1<<14/mean)
				for i := range keys {
					keys[i] = rng.Uint64()
					counts[rng.IntN(len(counts))]++
				}
				var ends []uint32
				end := uint32(0)
				for _, n := range counts {
					end += n
					ends = append(ends, end)
				}
				dst := make([]uint32, NearBucketMax)
				start := time.Now()
				for b.Loop() {
					if n, done := NearRows(dst, keys, ends, 0, 3); n != 0 || done != len(ends) {
						b.Fatal("stopped")
					}
				}
				b.ReportMetric(float64(time.Since(start))/float64(b.N)/float64(len(keys)), "ns/key")
			})
		}
	}
}
