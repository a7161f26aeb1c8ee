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

// FuzzPermutation holds Apply and Invert against the definition. Package asm tries every kernel with every bit.
func FuzzPermutation(f *testing.F) {
	random := rand.New(rand.NewPCG(2007, 3))
	for _, mask := range []uint64{0, ^uint64(0), 1, 1 << 63, 0xffff << 48, 0xaaaaaaaaaaaaaaaa, random.Uint64()} {
		f.Add(mask, random.Uint64())
	}
	f.Fuzz(func(t *testing.T, mask, x uint64) {
		p := New(mask)
		if p.Mask() != mask || p.Leading() != bits.OnesCount64(mask) {
			t.Errorf("mask %#x: Mask %#x, Leading %d", mask, p.Mask(), p.Leading())
		}
		if y := p.Apply(x); y != slowApply(mask, x) || p.Invert(y) != x {
			t.Errorf("mask %#x, x %#x: Apply %#x, back %#x", mask, x, y, p.Invert(y))
		}
	})
}
