package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"ndd/asm"
	"ndd/engine/oracle"
)

// BenchmarkInterpolate searches sorted keys: sort.Search one by one, then the kernel of every
// backend, 64 at once. ns/op is the time for one key, machine-miss-ns that of one of many cache
// misses whose addresses are known in advance. Every answer is checked before the clock starts.
func BenchmarkInterpolate(b *testing.B) {
	const distinct = 1 << 16
	for _, n := range []int{10_000, 1_000_000, 10_000_000} {
		for _, shape := range []string{"uniform", "clustered"} {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			keys := sortedKeys(rng, n, shape)
			sought := make([]uint64, distinct)
			for i := range sought {
				sought[i] = rng.Uint64()
				if shape == "clustered" {
					sought[i] = keys[rng.IntN(n)] + rng.Uint64N(3) - 1
				}
			}
			want := make([]int, distinct)
			for j, x := range sought {
				want[j] = sort.Search(n, func(i int) bool { return keys[i] >= x })
			}
			name := func(impl string) string { return fmt.Sprintf("impl=%s/keys=%s/n=%d", impl, shape, n) }
			b.Run(name("sort.Search"), func(b *testing.B) {
				sum := 0
				for i := range b.N {
					x := sought[i%distinct]
					sum += sort.Search(n, func(i int) bool { return keys[i] >= x })
				}
				if sum < 0 {
					b.Fatal(sum)
				}
			})
			oracle.AllKernels(b, func(kernel string) {
				dst := make([]int, distinct)
				asm.Interpolate(dst, keys, sought)
				if !slices.Equal(dst, want) {
					b.Fatal("wrong answers")
				}
				b.Run(name(kernel), func(b *testing.B) {
					for done := 0; done < b.N; done += 64 {
						at := done % distinct
						asm.Interpolate(dst[:64], keys, sought[at:at+64])
					}
					if n == 10_000_000 {
						b.ReportMetric(machineMemory().IndependentNs, "machine-miss-ns")
					}
				})
			})
		}
	}
}

// sortedKeys are n ascending keys, uniform or in 1,000 clusters of very different sizes and widths.
func sortedKeys(rng *rand.Rand, n int, shape string) []uint64 {
	keys := make([]uint64, n)
	centre := uint64(0)
	for i := range keys {
		keys[i] = rng.Uint64()
		if shape == "clustered" {
			if rng.IntN(max(1, n/1000)) == 0 {
				centre = keys[i]
			}
			keys[i] = centre + keys[i]>>(8+rng.IntN(56))
		}
	}
	slices.Sort(keys)
	return keys
}
