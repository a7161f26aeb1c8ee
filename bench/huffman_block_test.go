package main

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ndd/huffman"
)

// BenchmarkAppendBlock packs keys as dense as 2^30 uniform ones, and reports for each key the
// time, the bits, and the bits above the entropy of n distinct uniform keys, 64 - log2 n + 1.44.
func BenchmarkAppendBlock(b *testing.B) {
	const log2 = 30
	for _, blockBytes := range []int{256, 512, 1024, 2048, 4096, 32768} {
		b.Run(fmt.Sprintf("log2n=%d/block=%d", log2, blockBytes), func(b *testing.B) {
			keys := denseKeys(rand.New(rand.NewPCG(1, 1)), 1<<18, log2)
			var counts [huffman.Positions]uint64
			huffman.Count(&counts, keys)
			code := huffman.NewCode(&counts)
			var block []byte
			packed, at := 0, 0
			for b.Loop() {
				if at > len(keys)-blockBytes/2 {
					at = 0
				}
				var n int
				block, n = huffman.AppendBlock(block[:0], code, keys[at:], blockBytes)
				at += n
				packed += n
			}
			bits := float64(8*blockBytes*b.N) / float64(packed)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(packed), "ns/key")
			b.ReportMetric(bits, "bits/key")
			b.ReportMetric(bits-(64-log2+1.44), "bits-above-bound/key")
		})
	}
}

// BenchmarkNewCode builds a code and its decode window, which is done once when a table is opened
// or built.
func BenchmarkNewCode(b *testing.B) {
	keys := denseKeys(rand.New(rand.NewPCG(1, 1)), 1<<16, 30)
	var counts [huffman.Positions]uint64
	huffman.Count(&counts, keys)
	b.Run("from=counts", func(b *testing.B) {
		for b.Loop() {
			huffman.NewCode(&counts)
		}
	})
	lengths := huffman.NewCode(&counts).Lengths()
	b.Run("from=lengths", func(b *testing.B) {
		for b.Loop() {
			if _, err := huffman.NewCodeFromLengths(&lengths); err != nil {
				b.Fatal(err)
			}
		}
	})
}
