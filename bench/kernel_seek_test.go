package main

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ndd/asm"
	"ndd/huffman"
)

// BenchmarkSeek searches halves of blocks of 1 KiB, of keys as dense as 2^27 uniform ones, from the
// first key to a key anywhere in the half, a number of them at once. ns/key is the time per key
// that is passed. The blocks lie in the first-level cache; the numbers that choose them take 10 ns
// of each probe. Every probe's key is found once before the clock starts.
func BenchmarkSeek(b *testing.B) {
	const log2, blockBytes, blocks = 27, 1024, 16
	rng := rand.New(rand.NewPCG(1, log2))
	keys := denseKeys(rng, blocks*blockBytes/4, log2)
	var counts [huffman.Positions]uint64
	huffman.Count(&counts, keys)
	code := huffman.NewCode(&counts)
	data := make([]byte, blockBytes, (blocks+1)*blockBytes)
	var fences []int // keys before each block
	at := 0
	for range blocks {
		fences = append(fences, at)
		var n int
		data, n = huffman.AppendBlock(data, code, keys[at:], blockBytes)
		at += n
	}
	var s asm.Seek
	add := func(number int, distance uint64) (made int) {
		block := rng.IntN(blocks)
		from := (block + 1) * blockBytes
		made = rng.IntN(huffman.Steps(data[from:][:blockBytes], huffman.Up))
		key := keys[fences[block]+made]
		s.Add(number, from, from+blockBytes/2, keys[fences[block]], key^distance, key)
		return made
	}
	s.Reset(data)
	due := 0
	for i := range asm.SeekWidth {
		if add(i, 0) > 0 {
			due++
		}
	}
	s.Run(0, code.Window())
	if s.Hits()+s.Left() < due {
		b.Fatalf("%d keys found, %d probes left, of %d", s.Hits(), s.Left(), due)
	}
	for _, probes := range []int{1, 4, 8, 16, 32, 64} {
		b.Run(fmt.Sprintf("impl=%s/log2n=%d/block=%d/probes=%d", asm.Backend(), log2, blockBytes, probes),
			func(b *testing.B) {
				made, left := 0, 0
				for b.Loop() {
					s.Reset(data)
					for i := range probes {
						made += add(i, ^uint64(0))
					}
					s.Run(3, code.Window())
					left += s.Left()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*probes), "ns/probe")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(made), "ns/key")
				b.ReportMetric(float64(left)/float64(b.N*probes), "left/probe")
			})
	}
}
