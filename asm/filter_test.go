package asm

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
)

// filterOracle is Filter with a list.
func filterOracle(words, bitmap []uint64) (kept []uint64) {
	numbers := bits.TrailingZeros(uint(64 * len(bitmap)))
	for _, w := range words {
		n := w & 0xffffffff >> (32 - numbers)
		if bitmap[n/64]>>(n%64)&1 != 0 {
			kept = append(kept, w)
		}
	}
	return kept
}

func TestFilter(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 99))
	eachKernel(t, func(t *testing.T) {
		for _, mapBits := range []int{7, 8, 13, 20} {
			bitmap := guard.Tail[uint64](guard.New(t, 1<<mapBits/8), 1<<mapBits/64)
			for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 300, filterCall + 3} {
				for i := range bitmap {
					bitmap[i] = r.Uint64()
				}
				words := guard.Tail[uint64](guard.New(t, 8*max(n, 1)), n)
				for i := range words {
					words[i] = r.Uint64()
				}
				want := filterOracle(words, bitmap)
				dst := guard.Tail[uint64](guard.New(t, 8*max(n, 1)), n)
				if kept := Filter(dst, words, bitmap); !slices.Equal(dst[:kept], want) {
					t.Fatalf("%d words, 2^%d bits: kept %d, want %d", n, mapBits, kept, len(want))
				}
				if kept := Filter(words, words, bitmap); !slices.Equal(words[:kept], want) {
					t.Fatalf("%d words, 2^%d bits, in place: kept %d, want %d", n, mapBits, kept, len(want))
				}
			}
		}
	})
}

func TestFilterPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"a bitmap of three":   func() { Filter(make([]uint64, 1), make([]uint64, 1), make([]uint64, 3)) },
		"a bitmap of 64 bits": func() { Filter(make([]uint64, 1), make([]uint64, 1), make([]uint64, 1)) },
		"a short dst":         func() { Filter(make([]uint64, 1), make([]uint64, 2), make([]uint64, 2)) },
	} {
		wantPanic(t, name, f)
	}
}

func FuzzFilter(f *testing.F) {
	f.Add(uint64(1), 8, 3000)
	f.Fuzz(func(t *testing.T, seed uint64, mapBits, n int) {
		r := rand.New(rand.NewPCG(seed, 10))
		bitmap, words := make([]uint64, 2<<(mapBits&7)), make([]uint64, n&0x3fff)
		for i := range bitmap {
			bitmap[i] = r.Uint64() & r.Uint64()
		}
		for i := range words {
			words[i] = r.Uint64()
		}
		want := filterOracle(words, bitmap)
		eachFuzzKernel(t, func(kernel string) {
			dst := make([]uint64, len(words))
			if kept := Filter(dst, words, bitmap); !slices.Equal(dst[:kept], want) {
				t.Fatalf("%s: %d words, %d of bitmap: kept %d, want %d", kernel, len(words), len(bitmap), kept, len(want))
			}
		})
	})
}

func BenchmarkFilter(b *testing.B) {
	src := make([]uint64, 1<<17)
	for i := range src {
		src[i] = rand.Uint64()
	}
	for _, mapBits := range []int{18, 21, 24} {
		bitmap := make([]uint64, 1<<mapBits/64)
		for i := range bitmap {
			bitmap[i] = 1 << rand.IntN(64) << rand.IntN(64)
		}
		dst := make([]uint64, len(src))
		b.Run(fmt.Sprintf("bits=%d", mapBits), func(b *testing.B) {
			kept := 0
			for b.Loop() {
				kept = Filter(dst, src, bitmap)
			}
			if kept == 0 {
				b.Fatal("nothing kept")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(src)), "ns/word")
		})
	}
}
