package main

import (
	"fmt"
	"testing"

	"ndd/asm"
	"ndd/engine/oracle"
)

// BenchmarkVotes sums the bits of a document's feature hashes: a sentence, a page, a
// book chapter in L2.
func BenchmarkVotes(b *testing.B) {
	for _, n := range []int{20, 400, 32 << 10} {
		hashes, weights := make([]uint64, n), make([]uint32, n)
		var wantSums [64]uint64
		for i := range hashes {
			hashes[i], weights[i] = mix(uint64(i)), uint32(1+i%4)
			for j := range wantSums {
				wantSums[j] += hashes[i] >> j & 1 * uint64(weights[i])
			}
		}
		oracle.AllKernels(b, func(kernel string) {
			var sums [64]uint64
			asm.WeightedVotes(&sums, hashes, weights)
			if sums != wantSums {
				b.Fatalf("n=%d: wrong votes", n)
			}
			b.Run(fmt.Sprintf("kernel=%s/n=%d", kernel, n), func(b *testing.B) {
				ns := bestNs(b, func() { asm.WeightedVotes(&sums, hashes, weights) })
				b.ReportMetric(float64(n)*8/ns, "GB/s")
			})
		})
	}
}
