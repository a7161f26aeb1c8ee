package main

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm"
	"ndd/engine/oracle"
)

// BenchmarkPermute permutes slices that fit the first-level cache, the second, and none, with every
// backend, beside copy over the same memory, which is the limit that memory sets. MB/s counts 8
// bytes a key, which are read and written; machine-GB/s is sequential reading alone.
func BenchmarkPermute(b *testing.B) {
	const mask = 0x8421_0f0f_1234_5678
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{64, 1 << 11, 1 << 15, 1 << 24} {
		src, dst := make([]uint64, n), make([]uint64, n)
		for i := range src {
			src[i] = rng.Uint64()
		}
		b.Run(fmt.Sprintf("impl=copy/n=%d", n), func(b *testing.B) {
			b.SetBytes(int64(8 * n))
			for range b.N {
				copy(dst, src)
			}
		})
		oracle.AllKernels(b, func(kernel string) {
			asm.Permute(dst, src, mask)
			front := 64 - bits.OnesCount64(mask)
			for i, x := range src {
				if bits.OnesCount64(x&mask) != bits.OnesCount64(dst[i]>>front) {
					b.Fatal("wrong answer")
				}
			}
			asm.Unpermute(dst, dst, mask)
			if !slices.Equal(dst, src) {
				b.Fatal("not its inverse")
			}
			b.Run(fmt.Sprintf("impl=%s/n=%d", kernel, n), func(b *testing.B) {
				b.SetBytes(int64(8 * n))
				for range b.N {
					asm.Permute(dst, src, mask)
				}
				if n == 1<<24 {
					reportMemory(b)
				}
			})
		})
	}
}
