package huffman

import (
	"math/rand/v2"
	"testing"
)

// TestSize checks the sizes in the package comment: for n uniform keys, a key takes 64 - log2 n + 3.4 bits of codes and
// raw bits, and a block of 1 KiB adds at most 0.5.
func TestSize(t *testing.T) {
	for _, log2 := range []float64{20, 27, 30, 33} {
		keys := slice(rand.New(rand.NewPCG(1, 1)), 400_000, log2)
		var counts [Positions]uint64
		Count(&counts, keys)
		code := NewCode(&counts)
		bits := uint64(0) // codes and raw bits
		for h, n := range counts {
			bits += n * uint64(int(code.lengths[h])+h)
		}
		inner := float64(bits)/float64(len(keys)-1) - (64 - log2)

		blocks, remaining := 0, keys
		var block []byte
		for len(remaining) > 1 {
			var n int
			block, n = AppendBlock(block[:0], code, remaining, BlockBytesDefault)
			remaining = remaining[n:]
			blocks++
		}
		outer := float64(8*blocks*BlockBytesDefault)/float64(len(keys)) - (64 - log2)
		t.Logf("2^%g keys: 64 - log2 n + %.2f in the block, + %.2f with its head and rest", log2, inner, outer-inner)
		if inner > 3.45 || outer-inner > 0.55 {
			t.Errorf("2^%g keys: 64 - log2 n + %.2f, + %.2f for the block", log2, inner, outer-inner)
		}
	}
}
