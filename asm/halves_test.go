package asm

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
)

// halvesOracle deals with a list for each pile.
func halvesOracle(src []uint64, row uint64, o HalvesOptions) (piles [2][][]uint64) {
	for half := range piles {
		piles[half] = make([][]uint64, 1<<o.Bits)
		for i, x := range src {
			mine, other := x>>32, x&0xffffffff
			if half == 1 {
				mine, other = other, mine
			}
			pile := mine >> (32 - o.Bits)
			word := (row+uint64(i))<<o.Keep | (other<<32|mine)&(1<<o.Keep-1)
			piles[half][pile] = append(piles[half][pile], word)
		}
	}
	return piles
}

// halvesAll deals in calls of some size and collects what lay on each pile.
func halvesAll(h *Halves, src []uint64, row uint64, call int) (piles [2][][]uint64) {
	for half := range piles {
		piles[half] = make([][]uint64, h.Len())
	}
	take := func(half, pile int) {
		piles[half][pile] = append(piles[half][pile], h.Take(half, pile)...)
	}
	for at := 0; at < len(src); {
		done, half, pile := h.Deal(src[at:min(at+call, len(src))], row+uint64(at))
		at += done
		if half >= 0 {
			take(half, pile)
		}
	}
	for half := range piles {
		for pile := range h.Len() {
			take(half, pile)
		}
	}
	return piles
}

// checkHalvesCase compares a deal with the oracle, on guarded memory.
func checkHalvesCase(t testing.TB, r *rand.Rand, o HalvesOptions, n int) {
	t.Helper()
	src := guard.Tail[uint64](guard.New(t, 8*max(n, 1)), n)
	for i := range src {
		src[i] = r.Uint64()
		if i%5 < 2 {
			src[i] = src[0] // one pile fills faster
		}
	}
	words := guard.Tail[uint64](guard.New(t, 8*HalvesWords(o)), HalvesWords(o))
	row := uint64(r.IntN(1000))
	want := halvesOracle(src, row, o)
	got := halvesAll(NewHalves(words, o), src, row, 1+r.IntN(5000))
	for half := range want {
		if !slices.EqualFunc(got[half], want[half], slices.Equal) {
			t.Fatalf("%+v, %d fingerprints: half %d is wrong", o, n, half)
		}
		for pile, list := range got[half] {
			h := NewHalves(words, o)
			for _, w := range list {
				x := src[h.Row(w)-row]
				known := uint64(1)<<o.Keep - 1
				if half == 0 {
					known = bits.RotateLeft64(known, 32)
				}
				if h.Known(w, half) != x&known {
					t.Fatalf("%+v: half %d, pile %d: word %#x does not know %#x", o, half, pile, w, x)
				}
			}
		}
	}
}

func TestHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 99))
	eachKernel(t, func(t *testing.T) {
		for _, bits := range []int{1, 3, 6, 7} {
			for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 300, HalvesCall - 1, HalvesCall + 1, 5 * HalvesCall} {
				o := HalvesOptions{Bits: bits, Room: HalvesCall + r.IntN(40), Keep: 32 + r.IntN(16)}
				checkHalvesCase(t, r, o, n)
			}
		}
	})
}

// sifted is Sift with a list.
func sifted(words, bitmap []uint64) (kept []uint64) {
	numbers := bits.TrailingZeros(uint(64 * len(bitmap)))
	for _, w := range words {
		n := w & 0xffffffff >> (32 - numbers)
		if bitmap[n/64]>>(n%64)&1 != 0 {
			kept = append(kept, w)
		}
	}
	return kept
}

func TestSift(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 99))
	var h Halves
	eachKernel(t, func(t *testing.T) {
		for _, mapBits := range []int{7, 8, 13, 20} {
			bitmap := guard.Tail[uint64](guard.New(t, 1<<mapBits/8), 1<<mapBits/64)
			for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 300, siftCall + 3} {
				for i := range bitmap {
					bitmap[i] = r.Uint64()
				}
				words := guard.Tail[uint64](guard.New(t, 8*max(n, 1)), n)
				for i := range words {
					words[i] = r.Uint64()
				}
				want := sifted(words, bitmap)
				dst := guard.Tail[uint64](guard.New(t, 8*max(n, 1)), n)
				if kept := h.Sift(dst, words, bitmap); !slices.Equal(dst[:kept], want) {
					t.Fatalf("%d words, 2^%d bits: kept %d, want %d", n, mapBits, kept, len(want))
				}
				if kept := h.Sift(words, words, bitmap); !slices.Equal(words[:kept], want) {
					t.Fatalf("%d words, 2^%d bits, in place: kept %d, want %d", n, mapBits, kept, len(want))
				}
			}
		}
	})
}

func TestHalvesPanics(t *testing.T) {
	o := HalvesOptions{Bits: 1, Room: HalvesCall, Keep: 40}
	for name, f := range map[string]func(){
		"too few words":    func() { NewHalves(make([]uint64, HalvesWords(o)-1), o) },
		"too little room":  func() { NewHalves(make([]uint64, 4*1008), HalvesOptions{Bits: 1, Room: 1000, Keep: 40}) },
		"half a half":      func() { NewHalves(make([]uint64, HalvesWords(o)), HalvesOptions{Bits: 1, Room: HalvesCall, Keep: 31}) },
		"a row too large":  func() { NewHalves(make([]uint64, HalvesWords(o)), o).Deal(make([]uint64, 2), 1<<24-1) },
		"a map of three":   func() { new(Halves).Sift(make([]uint64, 1), make([]uint64, 1), make([]uint64, 3)) },
		"a map of 64 bits": func() { new(Halves).Sift(make([]uint64, 1), make([]uint64, 1), make([]uint64, 1)) },
		"a short dst":      func() { new(Halves).Sift(make([]uint64, 1), make([]uint64, 2), make([]uint64, 1)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func FuzzHalves(f *testing.F) {
	f.Add(uint64(1), 3, 8, 3000)
	f.Fuzz(func(t *testing.T, seed uint64, piles, keep, n int) {
		o := HalvesOptions{Bits: 1 + piles&7, Room: HalvesCall + int(seed&63), Keep: 32 + keep&15}
		eachFuzzKernel(t, func(kernel string) {
			checkHalvesCase(t, rand.New(rand.NewPCG(seed, 9)), o, n&0x3fff)
		})
	})
}

func BenchmarkHalves(b *testing.B) {
	src := make([]uint64, 1<<17)
	for i := range src {
		src[i] = rand.Uint64()
	}
	o := HalvesOptions{Bits: 7, Room: 2*len(src)>>7 + HalvesCall, Keep: 41}
	h := NewHalves(make([]uint64, HalvesWords(o)), o)
	perPrint := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(src)), "ns/fp")
	}
	b.Run("deal", func(b *testing.B) {
		for b.Loop() {
			if n, _, _ := h.Deal(src, 0); n < len(src) {
				b.Fatal(n)
			}
			for pile := range h.Len() {
				h.Take(0, pile)
				h.Take(1, pile)
			}
		}
		perPrint(b)
	})
	for _, mapBits := range []int{18, 21, 24} {
		bitmap := make([]uint64, 1<<mapBits/64)
		for i := range bitmap {
			bitmap[i] = 1 << rand.IntN(64) << rand.IntN(64)
		}
		dst := make([]uint64, len(src))
		b.Run(fmt.Sprintf("sift/bits=%d", mapBits), func(b *testing.B) {
			kept := 0
			for b.Loop() {
				kept = h.Sift(dst, src, bitmap)
			}
			if kept == 0 {
				b.Fatal("nothing kept")
			}
			perPrint(b)
		})
	}
}
