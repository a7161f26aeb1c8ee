package asm

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
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

// TestPermuteBits: every single bit and random keys, through every mask, on lengths that take each path.
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

// checkPermute compares Permute with the oracle, and Unpermute with its inverse.
func checkPermute(t *testing.T, src []uint64, mask uint64) {
	dst := make([]uint64, len(src))
	Permute(dst, src, mask)
	for i, x := range src {
		if want := permuteOracle(x, mask); dst[i] != want {
			t.Fatalf("%s: Permute(%#016x, %#016x) = %#016x, want %#016x", Backend(), x, mask, dst[i], want)
		}
	}
	if Unpermute(dst, dst, mask); !slices.Equal(dst, src) {
		t.Fatalf("%s: Unpermute(Permute(x, %#016x)) is not x", Backend(), mask)
	}
}

// TestPermuteLengths: every length to 600 and one in 37 up to 4096, at both ends of guarded memory,
// in place and not, against the generic form.
func TestPermuteLengths(t *testing.T) {
	const most = 4096
	rng := rand.New(rand.NewPCG(2, 2))
	in, out := guard.New(t, 8*most), guard.New(t, 8*most)
	values := make([]uint64, most)
	for i := range values {
		values[i] = rng.Uint64()
	}
	want := make([]uint64, most)
	eachKernel(t, func(t *testing.T) {
		step := 1
		for n := 0; n <= most; n += step {
			if n > 600 {
				step = 37
			}
			mask := rng.Uint64()
			for _, dir := range []direction{forward, backward} {
				permuteGeneric(want[:n], values[:n], mask, dir)
				for _, place := range []func(r *guard.Region, n int) []uint64{guard.Head[uint64], guard.Tail[uint64]} {
					src, dst := place(in, n), place(out, n)
					copy(src, values)
					clear(dst)
					public := Permute
					if dir == backward {
						public = Unpermute
					}
					public(dst, src, mask)
					if !slices.Equal(dst, want[:n]) {
						t.Fatalf("n=%d mask=%#x backward=%v: not the generic answer", n, mask, dir)
					}
					if public(src, src, mask); !slices.Equal(src, want[:n]) {
						t.Fatalf("n=%d mask=%#x backward=%v: in place, not the generic answer", n, mask, dir)
					}
				}
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
