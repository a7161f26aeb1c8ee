package asm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ndd/asm/guard"
)

// sortedLeaves is SortLeaves with the library's sort.
func sortedLeaves(src []uint64, ends []uint32) (dst []uint64, done int) {
	dst = make([]uint64, len(src))
	from := uint32(0)
	for _, to := range ends {
		if to-from > LeafMax {
			break
		}
		copy(dst[from:to], src[from:to])
		slices.Sort(dst[from:to])
		from = to
		done++
	}
	return dst, done
}

// TestLeavesLengths: every length of a leaf, of keys with few and many values, at both ends of
// guarded memory, in place and not.
func TestLeavesLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	in, out := guard.New(t, 8*LeafMax), guard.New(t, 8*LeafMax)
	eachKernel(t, func(t *testing.T) {
		for n := range LeafMax + 1 {
			for range 300 {
				keys := make([]uint64, n)
				values := 1 + rng.Uint64N(20)
				for i := range keys {
					keys[i] = -rng.Uint64N(values) >> (rng.Uint64N(2) * 20) // the largest numbers among them
				}
				want, _ := sortedLeaves(keys, []uint32{uint32(n)})
				for _, place := range []func(r *guard.Region, n int) []uint64{guard.Head[uint64], guard.Tail[uint64]} {
					src, dst := place(in, n), place(out, n)
					copy(src, keys)
					if done := SortLeaves(dst, src, []uint32{uint32(n)}, 0); done != 1 || !slices.Equal(dst, want) {
						t.Fatalf("%#x: %d leaves, %#x", keys, done, dst)
					}
					if done := SortLeaves(src, src, []uint32{uint32(n)}, 0); done != 1 || !slices.Equal(src, want) {
						t.Fatalf("%#x: %d leaves in place, %#x", keys, done, src)
					}
				}
			}
		}
	})
}

// TestLeavesZeroOne: every leaf of up to 16 zeros and ones, which proves a network for all keys.
func TestLeavesZeroOne(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		src, dst := make([]uint64, LeafMax), make([]uint64, LeafMax)
		for n := range LeafMax + 1 {
			for word := range 1 << n {
				ones := 0
				for i := range n {
					src[i] = uint64(word >> i & 1)
					ones += int(src[i])
				}
				SortLeaves(dst[:n], src[:n], []uint32{uint32(n)}, 0)
				for i, v := range dst[:n] {
					if v != 0 != (i >= n-ones) {
						t.Fatalf("%d sorts to %d", src[:n], dst[:n])
					}
				}
			}
		}
	})
}

// TestLeavesStop: many leaves, more than a call takes, of which one is too long.
func TestLeavesStop(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, 3))
			ends := make([]uint32, 1+rng.IntN(2*leavesCall))
			end := uint32(0)
			for d := range ends {
				if end += rng.Uint32N(LeafMax + 1); rng.IntN(3*leavesCall) == 0 {
					end += LeafMax
				}
				ends[d] = end
			}
			src := make([]uint64, end)
			for i := range src {
				src[i] = rng.Uint64()
			}
			dst := make([]uint64, end)
			want, leaves := sortedLeaves(src, ends)
			done := SortLeaves(dst, src, ends[:len(ends)/2], 0)
			if done == len(ends)/2 && done > 0 {
				done += SortLeaves(dst, src, ends[done:], ends[done-1])
			} else if done == 0 {
				done = SortLeaves(dst, src, ends, 0)
			}
			if done != leaves || !slices.Equal(dst, want) {
				t.Fatalf("seed %d: %d of %d leaves, want %d", seed, done, len(ends), leaves)
			}
		}
	})
}

func TestLeavesLimits(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, ends := range [][]uint32{{11}, {5, 4}, {3, 1 << 31}, {10, 9}} {
			wantPanic(t, fmt.Sprintf("ends %d of 10 keys", ends), func() { SortLeaves(make([]uint64, 10), make([]uint64, 10), ends, 0) })
		}
	})
}

func FuzzLeaves(f *testing.F) {
	f.Add(uint64(1), []byte{3, 0, 16, 8, 9, 17, 2})
	f.Fuzz(func(t *testing.T, seed uint64, lengths []byte) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var ends []uint32
		end := uint32(0)
		for _, n := range lengths {
			end += uint32(n) % (LeafMax + 2)
			ends = append(ends, end)
		}
		src, dst := make([]uint64, end), make([]uint64, end)
		for i := range src {
			src[i] = rng.Uint64() >> rng.Uint64N(64)
		}
		want, leaves := sortedLeaves(src, ends)
		eachFuzzKernel(t, func(kernel string) {
			clear(dst)
			if done := SortLeaves(dst, src, ends, 0); done != leaves || !slices.Equal(dst, want) {
				t.Fatalf("%s: %d leaves, %#x, want %d, %#x", kernel, done, dst, leaves, want)
			}
		})
	})
}

func BenchmarkLeaves(b *testing.B) {
	defer use(Backend())
	for _, kernel := range Backends() {
		for _, mean := range []int{2, 4, 6, 8, 12} {
			b.Run(fmt.Sprintf("kernel=%s/mean=%d", kernel, mean), func(b *testing.B) {
				use(kernel)
				rng := rand.New(rand.NewPCG(1, 9))
				src, counts := make([]uint64, 1<<14), make([]uint32, 1<<14/mean)
				for i := range src {
					src[i] = rng.Uint64()
					counts[rng.IntN(len(counts))]++
				}
				var ends []uint32
				end := uint32(0)
				for _, n := range counts {
					end += min(n, LeafMax)
					ends = append(ends, end)
				}
				dst := make([]uint64, len(src))
				start := time.Now()
				for b.Loop() {
					if SortLeaves(dst, src, ends, 0) != len(ends) {
						b.Fatal("stopped")
					}
				}
				b.ReportMetric(float64(time.Since(start))/float64(b.N)/float64(end), "ns/key")
			})
		}
	}
}
