package asm

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
)

// countedDigits is CountDigits bit by bit.
func countedDigits(keys []uint64, mask uint64) []uint64 {
	p := bits.OnesCount64(mask)
	counts := make([]uint64, 1<<p)
	for _, k := range keys {
		counts[permuteOracle(k, mask)>>(64-p)]++
	}
	return counts
}

// TestCountDigitsLong: more keys than a call takes, added to counts that are there.
func TestCountDigitsLong(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 8))
	keys := make([]uint64, 2*countDigitsCall+5)
	for i := range keys {
		keys[i] = rng.Uint64()
	}
	const mask = 0x8000_0000_0300_0011
	want := countedDigits(keys, mask)
	for d := range want {
		want[d] += uint64(d)
	}
	eachKernel(t, func(t *testing.T) {
		counts := make([]uint64, len(want))
		for d := range counts {
			counts[d] = uint64(d)
		}
		if CountDigits(counts, keys, mask); !slices.Equal(counts, want) {
			t.Fatal("not what counting one by one gives")
		}
	})
}

// checkDigits compares CountDigits with counting one by one, at both ends of guarded memory.
func checkDigits(t *testing.T, rng *rand.Rand, mask uint64, n int) {
	in, digits := guard.New(t, 8*max(n, 1)), 1<<bits.OnesCount64(mask)
	out := guard.New(t, 8*digits)
	for _, keys := range [][]uint64{guard.Head[uint64](in, n), guard.Tail[uint64](in, n)} {
		for i := range keys {
			keys[i] = rng.Uint64() & (rng.Uint64() | 0xff)
		}
		want := countedDigits(keys, mask)
		for _, counts := range [][]uint64{guard.Head[uint64](out, digits), guard.Tail[uint64](out, digits)} {
			clear(counts)
			if CountDigits(counts, keys, mask); !slices.Equal(counts, want) {
				t.Fatalf("%s: n=%d mask=%#x: not what counting one by one gives", Backend(), n, mask)
			}
		}
	}
}

// TestCountDigits: masks of up to 13 bits, inputs of every length.
func TestCountDigits(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 9))
		for n := range 301 {
			checkDigits(t, rng, flips64(rng, rng.IntN(14)), n)
		}
	})
}

func FuzzCountDigits(f *testing.F) {
	f.Add(uint64(5), uint64(0xf00f), 100)
	f.Fuzz(func(t *testing.T, seed, mask uint64, n int) {
		for bits.OnesCount64(mask) > 12 {
			mask &= mask - 1
		}
		eachFuzzKernel(t, func(string) { checkDigits(t, rand.New(rand.NewPCG(seed, 4)), mask, n&2047) })
	})
}
