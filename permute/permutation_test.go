package permute

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// slowApply is the definition of a permutation, bit by bit.
func slowApply(mask, x uint64) uint64 {
	var y uint64
	for _, m := range []uint64{mask, ^mask} {
		for at := 63; at >= 0; at-- {
			if m>>at&1 == 1 {
				y = y<<1 | x>>at&1
			}
		}
	}
	return y
}

func testMasks(random *rand.Rand) []uint64 {
	masks := []uint64{0, ^uint64(0), 1, 1 << 63, 0xffff << 48, 0xffff, 0xaaaaaaaaaaaaaaaa, 0x5555555555555555,
		0xf0f0f0f0f0f0f0f0}
	for n := range 65 {
		masks = append(masks, ^uint64(0)<<n, ^uint64(0)>>n)
	}
	for range 500 {
		masks = append(masks, random.Uint64(), random.Uint64()&random.Uint64(),
			random.Uint64()|random.Uint64()|random.Uint64())
	}
	return masks
}

func TestPermutationIsItsDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(2007, 3))
	for _, mask := range testMasks(random) {
		p := New(mask)
		if p.Mask() != mask || p.Leading() != bits.OnesCount64(mask) {
			t.Fatalf("mask %#x: Mask %#x, Leading %d", mask, p.Mask(), p.Leading())
		}
		words := []uint64{0, ^uint64(0), mask, ^mask, random.Uint64(), random.Uint64()}
		for at := range 64 {
			words = append(words, 1<<at) // with linearity, these prove it for every word
		}
		for _, x := range words {
			y := p.Apply(x)
			if want := slowApply(mask, x); y != want {
				t.Fatalf("mask %#x: Apply(%#x) = %#x, want %#x", mask, x, y, want)
			}
			if back := p.Invert(y); back != x {
				t.Fatalf("mask %#x: Invert(Apply(%#x)) = %#x", mask, x, back)
			}
			if again := p.Apply(p.Invert(x)); again != x {
				t.Fatalf("mask %#x: Apply(Invert(%#x)) = %#x", mask, x, again)
			}
		}
		a, b := random.Uint64(), random.Uint64()
		if p.Apply(a^b) != p.Apply(a)^p.Apply(b) {
			t.Fatalf("mask %#x: not linear at %#x, %#x", mask, a, b)
		}
	}
}

func FuzzPermutation(f *testing.F) {
	f.Add(uint64(0), uint64(1))
	f.Add(^uint64(0), uint64(1)<<63)
	f.Fuzz(func(t *testing.T, mask, x uint64) {
		p := New(mask)
		if y := p.Apply(x); y != slowApply(mask, x) || p.Invert(y) != x {
			t.Errorf("mask %#x, x %#x: Apply %#x, back %#x", mask, x, y, p.Invert(y))
		}
	})
}
