package asm

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
)

// sortedSets are ascending keys of every shape: uniform, skewed, with runs, at both ends of the range.
func sortedSets(rng *rand.Rand, n int) map[string][]uint64 {
	draw := func(f func(i int) uint64) []uint64 {
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = f(i)
		}
		slices.Sort(keys)
		return keys
	}
	centres := draw(func(int) uint64 { return rng.Uint64() })[:min(n, 5)]
	return map[string][]uint64{
		"uniform":  draw(func(int) uint64 { return rng.Uint64() }),
		"dense":    draw(func(i int) uint64 { return 1<<60 + uint64(i) }),
		"equal":    draw(func(int) uint64 { return 42 }),
		"zeros":    draw(func(int) uint64 { return 0 }),
		"ones":     draw(func(int) uint64 { return 1<<64 - 1 }),
		"runs":     draw(func(int) uint64 { return rng.Uint64N(7) << 61 }),
		"ends":     draw(func(int) uint64 { return -(rng.Uint64() & 1) }),
		"powers":   draw(func(int) uint64 { return rng.Uint64() >> rng.IntN(64) }),
		"top":      draw(func(int) uint64 { return ^(rng.Uint64() >> rng.IntN(64)) }),
		"clusters": draw(func(int) uint64 { return centres[rng.IntN(len(centres))] + rng.Uint64N(1000) }),
		"one far":  draw(func(i int) uint64 { return uint64(i) | -(uint64(i) / uint64(n-1+1/n)) }),
	}
}

// soughtFor returns keys to search: stored keys, their neighbours, random keys, and both ends.
func soughtFor(rng *rand.Rand, keys []uint64, n int) []uint64 {
	sought := []uint64{0, 1, 1<<64 - 1, 1 << 63}
	for len(sought) < n {
		if len(keys) > 0 {
			k := keys[rng.IntN(len(keys))]
			sought = append(sought, k, k+1, k-1)
		}
		sought = append(sought, rng.Uint64(), rng.Uint64()>>rng.IntN(64))
	}
	rng.Shuffle(len(sought), func(i, j int) { sought[i], sought[j] = sought[j], sought[i] })
	return sought[:n]
}

// TestInterpolate searches short and long sets of every shape, in batches of many sizes, in guarded memory.
func TestInterpolate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	eachKernel(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 100, 255, 256, 1000, 4096, 100_000} {
			for name, keys := range sortedSets(rng, n) {
				head, tail := guard.Copies(t, keys)
				sought := soughtFor(rng, keys, rng.IntN(300))
				soughtHead, soughtTail := guard.Copies(t, sought)
				region := guard.New(t, 8*300)
				checkInterpolate(t, name, guard.Head[int](region, len(sought)), head, soughtHead)
				checkInterpolate(t, name, guard.Tail[int](region, len(sought)), tail, soughtTail)
			}
		}
	})
}

// checkInterpolate compares Interpolate with bisection.
func checkInterpolate(t *testing.T, name string, dst []int, keys, sought []uint64) {
	t.Helper()
	Interpolate(dst, keys, sought)
	for j, x := range sought {
		if want, _ := slices.BinarySearch(keys, x); dst[j] != want {
			t.Fatalf("%s, %s, %d keys: %#x found at %d, want %d", Backend(), name, len(keys), x, dst[j], want)
		}
	}
}

func FuzzInterpolate(f *testing.F) {
	f.Add([]byte("some keys that make a small sorted set of numbers"), uint64(77), 3)
	f.Fuzz(func(t *testing.T, data []byte, x uint64, shift int) {
		keys := make([]uint64, 0, len(data))
		for i := 0; i+8 <= len(data); i++ {
			keys = append(keys, binary.BigEndian.Uint64(data[i:])>>(shift&63))
		}
		sought := append(slices.Clone(keys), x, x+1)
		slices.Sort(keys)
		eachFuzzKernel(t, func(string) { checkInterpolate(t, "fuzzed", make([]int, len(sought)), keys, sought) })
	})
}
