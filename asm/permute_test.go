package asm

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"example.org/ndd/engine/oracle/guard"
)

// permuteOracle is Permute bit by bit.
func permuteOracle(x, mask uint64) (y uint64) {
	low, high := 0, 64-bits.OnesCount64(mask)
	for i := range 64 {
		if mask>>i&1 != 0 {
			y |= x >> i & 1 << high
			high++
		} else {
			y |= x >> i & 1 << low
			low++
		}
	}
	return y
}

// testMasks are masks of every population and shape.
func testMasks(rng *rand.Rand, random int) []uint64 {
	masks := []uint64{0, 1<<64 - 1, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0x00ff00ff00ff00ff, 0xffffffff00000000,
		0xffffffff}
	for i := range 64 {
		masks = append(masks, 1<<i, ^uint64(1<<i), 1<<i-1)
	}
	for range random {
		masks = append(masks, rng.Uint64(), rng.Uint64()&rng.Uint64(), rng.Uint64()|rng.Uint64())
	}
	return masks
}

// TestPermuteBits permutes every single bit and random keys by every mask, with lengths that take each path.
func TestPermuteBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	src := make([]uint64, 0, 1024)
	for i := range 64 {
		src = append(src, 1<<i)
	}
	for len(src) < cap(src) {
		src = append(src, rng.Uint64())
	}
	eachKernel(t, func(t *testing.T) {
		for _, mask := range testMasks(rng, 50) {
			for _, n := range []int{100, lookupFrom, 255, 256, len(src)} {
				checkPermute(t, src[:n], mask)
			}
		}
	})
}

// checkPermute compares Permute with the oracle, and Unpermute with its inverse, at both ends of guarded memory, in
// place and not.
func checkPermute(t *testing.T, keys []uint64, mask uint64) {
	t.Helper()
	want := make([]uint64, len(keys))
	for i, x := range keys {
		want[i] = permuteOracle(x, mask)
	}
	in, out := guard.New(t, 8*len(keys)), guard.New(t, 8*len(keys))
	for _, place := range []func(r *guard.Region, n int) []uint64{guard.Head[uint64], guard.Tail[uint64]} {
		src, dst := place(in, len(keys)), place(out, len(keys))
		for name, c := range map[string]struct {
			f           func(dst, src []uint64, mask uint64)
			input, want []uint64
		}{"Permute": {Permute, keys, want}, "Unpermute": {Unpermute, want, keys}} {
			copy(src, c.input)
			clear(dst)
			c.f(dst, src, mask)
			c.f(src, src, mask)
			for i, to := range c.want {
				if dst[i] != to || src[i] != to {
					t.Fatalf("%s, key %d of %d: %s(%#016x, %#016x) = %#016x, in place %#016x, want %#016x", Backend(), i, len(src),
						name, c.input[i], mask, dst[i], src[i], to)
				}
			}
		}
	}
}

// TestPermuteLengths permutes every length up to 600, and one in 37 up to 4096.
func TestPermuteLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	keys := make([]uint64, 4096)
	for i := range keys {
		keys[i] = rng.Uint64()
	}
	eachKernel(t, func(t *testing.T) {
		for n := range len(keys) + 1 {
			if n <= 600 || n%37 == 0 {
				checkPermute(t, keys[:n], rng.Uint64())
			}
		}
	})
}

func FuzzPermute(f *testing.F) {
	f.Add(uint64(0x0123456789abcdef), uint64(0xf0f0), 9)
	f.Add(uint64(1), ^uint64(0), 1000)
	f.Fuzz(func(t *testing.T, x, mask uint64, n int) {
		src := make([]uint64, n&2047)
		for i := range src {
			src[i] = bits.RotateLeft64(x, i) + uint64(i)
		}
		eachFuzzKernel(t, func(string) { checkPermute(t, src, mask) })
	})
}
