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
		var want, wantSums [64]uint64
		for i := range hashes {
			hashes[i], weights[i] = mix(uint64(i)), uint32(1+i%4)
			for j := range want {
				want[j] += hashes[i] >> j & 1
				wantSums[j] += hashes[i] >> j & 1 * uint64(weights[i])
			}
		}
		oracle.AllKernels(b, func(kernel string) {
			var counts, sums [64]uint64
			asm.Votes(&counts, hashes)
			asm.WeightedVotes(&sums, hashes, weights)
			if counts != want || sums != wantSums {
				b.Fatalf("n=%d: wrong votes", n)
			}
			b.Run(fmt.Sprintf("kernel=%s/weights=no/n=%d", kernel, n), func(b *testing.B) {
				ns := bestNs(b, func() { asm.Votes(&counts, hashes) })
				b.ReportMetric(float64(n)*8/ns, "GB/s")
			})
			b.Run(fmt.Sprintf("kernel=%s/weights=small/n=%d", kernel, n), func(b *testing.B) {
				ns := bestNs(b, func() { asm.WeightedVotes(&sums, hashes, weights) })
				b.ReportMetric(float64(n)*8/ns, "GB/s")
			})
		})
	}
}
