package asm

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
)

// joinCase is words and buckets at random.
type joinCase struct {
	buckets *JoinBuckets
	words   []uint64
}

// newJoinBuckets makes one bucket for each size, for the leading bits. The number of buckets must be a power of two.
// All lanes are zero.
func newJoinBuckets(sizes []int, lanes int) *JoinBuckets {
	b := &JoinBuckets{Shift: 64 - bits.TrailingZeros(uint(len(sizes))), Lanes: lanes}
	b.Shift = min(b.Shift, 63) // a single bucket ignores the bits
	lane := uint32(0)
	for _, size := range sizes {
		half := lane / 2
		if size > lanes {
			half |= JoinLong
		}
		b.First = append(b.First, half)
		lane += uint32(size+JoinVector-1) &^ (JoinVector - 1)
	}
	b.First = append(b.First, lane/2)
	b.Lows = make([]uint32, lane+JoinLanesMax)
	return b
}

// newJoinCase makes buckets on guarded memory, with the sizes that sizeOf returns, and words. A third of the words are
// near a query.
func newJoinCase(t testing.TB, r *rand.Rand, bucketBits, words, lanes int, sizeOf func(bucket int) int) joinCase {
	sizes := make([]int, 1<<bucketBits)
	for i := range sizes {
		sizes[i] = sizeOf(i)
	}
	b := newJoinBuckets(sizes, lanes)
	lows := guard.Tail[uint32](guard.New(t, 4*len(b.Lows)), len(b.Lows))
	for i := range lows {
		lows[i] = r.Uint32()
	}
	first := guard.Tail[uint32](guard.New(t, 4*len(b.First)), len(b.First))
	copy(first, b.First)
	b.First, b.Lows = first, lows
	c := joinCase{b, guard.Tail[uint64](guard.New(t, 8*words), words)}
	for i := range c.words {
		c.words[i] = r.Uint64()
		if i%3 == 0 { // near some lane of its bucket
			from, to, _ := b.Bucket(c.words[i])
			near := lows[from+r.Uint32N(to-from+1)] ^ uint32(flips64(r, r.IntN(5)))
			c.words[i] = c.words[i]>>32<<32 | uint64(near)
		}
	}
	return c
}

// find returns all pairs that Join finds with the given buffer, and the words that Join left to the caller.
func (c joinCase) find(t testing.TB, dst []JoinPair, k int) (hits []JoinPair, long []int) {
	for pos := 0; pos < len(c.words); {
		n, done := Join(dst, c.words[pos:], c.buckets, k)
		for _, h := range dst[:n] {
			hits = append(hits, JoinPair{h.Word + uint32(pos), h.Lane})
		}
		if pos += done; pos == len(c.words) {
			break
		}
		if _, _, isLong := c.buckets.Bucket(c.words[pos]); isLong {
			long = append(long, pos)
			pos++
		} else if done == 0 {
			t.Fatalf("no progress at word %d with room for %d", pos, len(dst))
		}
	}
	return hits, long
}

// oracle is the same by brute force.
func (c joinCase) oracle(k int) (hits []JoinPair, long []int) {
	for i, w := range c.words {
		from, to, isLong := c.buckets.Bucket(w)
		if isLong {
			long = append(long, i)
			continue
		}
		if int(to-from) > c.buckets.Lanes {
			panic("a long bucket that is not marked")
		}
		for lane := from; lane < from+uint32(c.buckets.Lanes); lane++ {
			if bits.OnesCount32(uint32(w)^c.buckets.Lows[lane]) <= k {
				hits = append(hits, JoinPair{uint32(i), lane})
			}
		}
	}
	return hits, long
}

// TestJoin tests buckets of every kind, every number of lanes, words of every length, and buffers of any size.
func TestJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 99))
	room := guard.New(t, 8*(3*JoinLanesMax))
	for lanes := JoinVector; lanes <= JoinLanesMax; lanes += JoinVector {
		for _, mean := range []int{0, lanes - 5, lanes} {
			for _, bucketBits := range []int{0, 1, 5} {
				for _, words := range []int{0, 1, 2, 3, 4, 5, 7, 8, 300, joinCall + 3} {
					if words > joinCall && lanes%64 != JoinVector {
						continue
					}
					c := newJoinCase(t, r, bucketBits, words, lanes, func(b int) int {
						if b == 3 {
							return 500 // long
						}
						return mean - min(mean, r.IntN(4))
					})
					for _, k := range []int{-1, 0, 3, 9, math.MaxInt32} {
						checkJoin(t, c, k, guard.Tail[JoinPair](room, JoinLanesMax+r.IntN(2*JoinLanesMax)))
					}
				}
			}
		}
	}
	b := newJoinBuckets([]int{5, 5}, 16)
	if n, done := Join(make([]JoinPair, JoinLanesMax-1), make([]uint64, 9), b, 3); n != 0 || done != 0 {
		t.Errorf("without room: %d hits in %d words", n, done)
	}
}

// checkJoin compares the pairs of every backend with the oracle, for a buffer of limited size.
func checkJoin(t *testing.T, c joinCase, k int, dst []JoinPair) {
	want, wantLong := c.oracle(k)
	if k < 0 {
		wantLong = nil
	}
	eachFuzzKernel(t, func(kernel string) {
		if got, long := c.find(t, dst, k); !slices.Equal(got, want) || !slices.Equal(long, wantLong) {
			t.Fatalf("%s: %d words, %d buckets, %d lanes, k=%d, room %d: %d hits and %d long ones, want %d and %d", kernel,
				len(c.words), len(c.buckets.First)-1, c.buckets.Lanes, k, len(dst), len(got), len(long), len(want), len(wantLong))
		}
	})
}

func FuzzJoin(f *testing.F) {
	f.Add(uint64(1), 5, 20, 100, 3)
	f.Add(uint64(2), 0, 200, 7, 0)
	f.Fuzz(func(t *testing.T, seed uint64, bucketBits, mean, words, k int) {
		r := rand.New(rand.NewPCG(seed, 7))
		lanes := JoinVector * (1 + int(seed>>8%8))
		c := newJoinCase(t, r, bucketBits&7, words&1023, lanes, func(int) int { return r.IntN(1 + mean&255) })
		checkJoin(t, c, k&63, guard.Tail[JoinPair](guard.New(t, 8*2*JoinLanesMax), JoinLanesMax+int(seed%JoinLanesMax)))
	})
}
