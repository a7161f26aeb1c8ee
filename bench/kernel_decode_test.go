package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/engine/oracle"
	"ndd/engine/oracle/must"
	"ndd/huffman"
)

// denseKeys are n consecutive keys of a set of 2^log2 uniform ones: their gaps are exponential with
// mean 2^(64-log2).
func denseKeys(rng *rand.Rand, n, log2 int) []uint64 {
	mean := float64(uint64(1) << (64 - log2))
	keys := make([]uint64, n)
	key := rng.Uint64() >> 1
	for i := range keys {
		key += 1 + uint64(rng.ExpFloat64()*mean)
		keys[i] = key
	}
	return keys
}

// BenchmarkDecode unpacks blocks of keys as dense as 2^30 and 2^33 uniform ones, 512 blocks in turn
// (half a MiB at 1 KiB, which fits the second-level cache), with every backend. ns/key is the time
// for a fingerprint, bits/key its size in the block. Every block is decoded and compared before the
// clock starts.
func BenchmarkDecode(b *testing.B) {
	for _, log2 := range []int{30, 33} {
		for _, blockBytes := range []int{512, 1024, 4096} {
			rng := rand.New(rand.NewPCG(1, uint64(log2)))
			keys := denseKeys(rng, 512*blockBytes/4, log2)
			var counts [huffman.Positions]uint64
			huffman.Count(&counts, keys)
			code := huffman.NewCode(&counts)
			var blocks []byte
			fences := []uint64{keys[0]}
			total := 0
			for range 512 {
				var n int
				blocks, n = huffman.AppendBlock(blocks, code, keys[total:], blockBytes)
				total += n
				fences = append(fences, keys[total])
			}
			oracle.AllKernels(b, func(kernel string) {
				dst := make([]uint64, huffman.MaxKeys(blockBytes)+1)
				at := 0
				for i := range 512 {
					n, err := code.DecodeBlock(dst, blocks[i*blockBytes:][:blockBytes], fences[i], fences[i+1])
					if err != nil || !slices.Equal(dst[:n+1], keys[at:at+n+1]) {
						b.Fatalf("block %d: %v", i, err)
					}
					at += n
				}
				b.Run(fmt.Sprintf("impl=%s/log2n=%d/block=%d", kernel, log2, blockBytes), func(b *testing.B) {
					decoded := 0
					for i := range b.N {
						i %= 512
						n, err := code.DecodeBlock(dst, blocks[i*blockBytes:][:blockBytes], fences[i], fences[i+1])
						must.Do(b, err)
						decoded += n
					}
					nsPerKey := float64(b.Elapsed().Nanoseconds()) / float64(decoded)
					b.ReportMetric(nsPerKey, "ns/key")
					b.ReportMetric(nsPerKey/cycleNs(), "cycles/key")
					b.ReportMetric(float64(decoded)/b.Elapsed().Seconds()/1e6, "Mkeys/s")
					b.ReportMetric(float64(8*len(blocks))/float64(total), "bits/key")
				})
			})
		}
	}
}
