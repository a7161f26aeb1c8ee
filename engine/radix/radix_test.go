package radix

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/permute"
)

// sets are inputs of every shape that has ever hurt a radix sort.
func sets(n int) map[string][]uint64 {
	rng := rand.New(rand.NewPCG(uint64(n), 9))
	fill := func(f func(i int) uint64) []uint64 {
		s := make([]uint64, n)
		for i := range s {
			s[i] = f(i)
		}
		return s
	}
	return map[string][]uint64{
		"random":     fill(func(int) uint64 { return rng.Uint64() }),
		"equal":      fill(func(int) uint64 { return 0xdeadbeef }),
		"zero":       fill(func(int) uint64 { return 0 }),
		"ascending":  fill(func(i int) uint64 { return uint64(i) }),
		"descending": fill(func(i int) uint64 { return ^uint64(i) }),
		"few":        fill(func(int) uint64 { return rng.Uint64N(5) << 60 }),
		"prefix":     fill(func(int) uint64 { return 0xabcdef0123<<24 | rng.Uint64N(1<<24) }),
		"half equal": fill(func(i int) uint64 { return rng.Uint64() * uint64(i%2) }),
	}
}

func TestKeysAndPairs(t *testing.T) {
	for _, n := range []int{0, 1, 2, leafMax, leafMax + 1, 1000, chunkSize + 1, 100_000} {
		for name, src := range sets(n) {
			for _, mask := range []uint64{^uint64(0), 0, 0xffff0000ffff, 0x5555555555555555} {
				for _, threads := range []int{1, 3} {
					t.Run(fmt.Sprintf("n=%d/%s/mask=%x/threads=%d", n, name, mask, threads), func(t *testing.T) {
						p := permute.New(mask)
						want := make([]Pair, n)
						for i, x := range src {
							want[i] = Pair{p.Apply(x), uint64(i)}
						}
						slices.SortStableFunc(want, func(a, b Pair) int { return cmp.Compare(a[0], b[0]) })
						pairs, keys := make([]Pair, n), make([]uint64, n)
						Pairs(pairs, src, mask, threads)
						Keys(keys, src, mask, threads)
						if !slices.Equal(pairs, want) {
							t.Fatal("pairs differ")
						}
						for i := range keys {
							if keys[i] != want[i][0] {
								t.Fatalf("key %d differs", i)
							}
						}
					})
				}
			}
		}
	}
}

func BenchmarkKeys(b *testing.B) {
	for _, n := range []int{1e6, 1e7} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			src := sets(n)["random"]
			dst := make([]uint64, n)
			b.SetBytes(int64(n)) // MB/s reads as million keys a second
			for b.Loop() {
				Keys(dst, src, 0x5555555555555555, 1)
			}
			if !slices.IsSorted(dst) {
				b.Fatal("not sorted")
			}
		})
	}
}
