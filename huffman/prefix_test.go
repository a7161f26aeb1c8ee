package huffman

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every prefix of a block is the beginning of the whole.
func TestDecodePrefix(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	keys := make([]uint64, 3000)
	for i := range keys {
		keys[i] = rng.Uint64() >> (i % 40)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	var counts [Positions]uint64
	Count(&counts, keys)
	code := NewCode(&counts)
	for _, blockBytes := range []int{64, 256, 1024} {
		for rest := keys; len(rest) > 0; {
			block, n := AppendBlock(nil, code, rest, blockBytes)
			dst := make([]uint64, n+1)
			for m := 1; m <= n; m++ {
				if err := code.DecodePrefix(dst[:m], block); err != nil || !slices.Equal(dst[:m], rest[:m]) {
					t.Fatalf("%d of %d keys of %d bytes: %v", m, n, blockBytes, err)
				}
			}
			for _, m := range []int{0, n + 1} {
				if err := code.DecodePrefix(dst[:m], block); !errors.Is(err, ErrCorrupt) {
					t.Fatalf("%d of %d keys: %v", m, n, err)
				}
			}
			rest = rest[n:]
		}
	}
	if err := code.DecodePrefix(make([]uint64, 1), make([]byte, 10)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a block of 10 bytes: %v", err)
	}
}
