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

// countedDigits is CountDigits bit by bit.
func countedDigits(keys []uint64, mask uint64) []uint64 {
	p := bits.OnesCount64(mask)
	counts := make([]uint64, 1<<p)
	for _, k := range keys {
		counts[permuteOracle(k, mask)>>(64-p)]++
	}
	return counts
}

// TestCountDigits: masks of up to 13 bits, inputs of every length, on guarded memory.
func TestCountDigits(t *testing.T) {
	const most = 300
	in, out := guard.New(t, 8*most), guard.New(t, 8<<13)
	eachKernel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 9))
		for n := range most + 1 {
			mask := flips64(rng, rng.IntN(14))
			digits := 1 << bits.OnesCount64(mask)
			for _, keys := range [][]uint64{guard.Head[uint64](in, n), guard.Tail[uint64](in, n)} {
				for i := range keys {
					keys[i] = rng.Uint64() & (rng.Uint64() | 0xff)
				}
				want := countedDigits(keys, mask)
				for _, counts := range [][]uint64{guard.Head[uint64](out, digits), guard.Tail[uint64](out, digits)} {
					clear(counts)
					if CountDigits(counts, keys, mask); !slices.Equal(counts, want) {
						t.Fatalf("n=%d mask=%#x: not what counting one by one gives", n, mask)
					}
				}
			}
		}
	})
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

func TestCountDigitsLimits(t *testing.T) {
	for _, c := range []struct {
		counts int
		mask   uint64
	}{{7, 7}, {9, 7}, {0, 0}, {2, 0}, {1 << 10, ^uint64(0)}} {
		wantPanic(t, fmt.Sprintf("%d counts for the mask %#x", c.counts, c.mask), func() { CountDigits(make([]uint64, c.counts), make([]uint64, 3), c.mask) })
	}
}

func FuzzCountDigits(f *testing.F) {
	f.Add(uint64(5), uint64(0xf00f), 100)
	f.Fuzz(func(t *testing.T, seed, mask uint64, n int) {
		for bits.OnesCount64(mask) > 12 {
			mask &= mask - 1
		}
		rng := rand.New(rand.NewPCG(seed, 4))
		keys := make([]uint64, n&2047)
		for i := range keys {
			keys[i] = rng.Uint64()
		}
		want := countedDigits(keys, mask)
		eachFuzzKernel(t, func(kernel string) {
			counts := make([]uint64, len(want))
			if CountDigits(counts, keys, mask); !slices.Equal(counts, want) {
				t.Fatalf("%s: not what counting one by one gives", kernel)
			}
		})
	})
}

func BenchmarkCountDigits(b *testing.B) {
	defer use(Backend())
	keys := make([]uint64, 1<<24)
	for i := range keys {
		keys[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	for _, kernel := range Backends() {
		b.Run(fmt.Sprintf("kernel=%s", kernel), func(b *testing.B) {
			use(kernel)
			counts := make([]uint64, 1<<12)
			start := time.Now()
			for b.Loop() {
				CountDigits(counts, keys, 0x5555_5500_0000_0000)
			}
			b.ReportMetric(float64(time.Since(start))/float64(b.N)/float64(len(keys)), "ns/key")
		})
	}
}
