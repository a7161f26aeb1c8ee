package permute

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestApplyAllIsApply(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for _, mask := range testMasks(random) {
		p := New(mask)
		for _, n := range []int{0, 1, bulkLeast - 1, bulkLeast, bulkLeast + 7} {
			src, want, dst := make([]uint64, n), make([]uint64, n), make([]uint64, n+1)
			for i := range src {
				src[i] = random.Uint64()
				want[i] = p.Apply(src[i])
			}
			dst[n] = 42
			p.ApplyAll(dst, src)
			if !slices.Equal(dst[:n], want) || dst[n] != 42 {
				t.Fatalf("mask %#x: ApplyAll of %d words is not Apply of each", mask, n)
			}
			if p.ApplyAll(src, src); !slices.Equal(src, want) {
				t.Fatalf("mask %#x: ApplyAll of %d words in place is not Apply of each", mask, n)
			}
		}
	}
}

func BenchmarkApplyAll(b *testing.B) {
	p := New(0x9d2c5680efc60000)
	for _, n := range []int{128, bulkLeast - 1, bulkLeast, 4096, 1 << 20} {
		words := make([]uint64, n)
		for i := range words {
			words[i] = uint64(i) * 0x9e3779b97f4a7c15
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.SetBytes(int64(8 * n))
			for b.Loop() {
				p.ApplyAll(words, words)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/word")
		})
	}
}
