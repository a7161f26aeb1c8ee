package asm

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
)

// joinCase is words and a table at random: buckets of the sizes that sizeOf gives.
type joinCase struct {
	table *JoinTable
	words []uint64
}

func newJoinCase(t testing.TB, r *rand.Rand, bucketBits, words int, sizeOf func(bucket int) int) joinCase {
	sizes := make([]uint32, 1<<bucketBits+1)
	for i := range 1 << bucketBits {
		sizes[i] = uint32(sizeOf(i))
	}
	lanes := int(BucketLanes(sizes))
	lows := guard.Tail[uint32](guard.New(t, 4*lanes), lanes)
	for i := range lows {
		lows[i] = r.Uint32()
	}
	first := guard.Tail[uint32](guard.New(t, 4*len(sizes)), len(sizes))
	copy(first, sizes)
	c := joinCase{NewJoinTable(first, lows), guard.Tail[uint64](guard.New(t, 8*words), words)}
	for i := range c.words {
		c.words[i] = r.Uint64()
		if i%3 == 0 { // near some lane of its bucket
			from, to, _ := c.table.Keys().Long(c.words[i])
			near := lows[from+r.Uint32N(to-from+1)] ^ uint32(flips64(r, r.IntN(5)))
			c.words[i] = c.words[i]>>32<<32 | uint64(near)
		}
	}
	return c
}

// find is all of Find, with whatever room, and which words were left to the caller.
func (c joinCase) find(t testing.TB, dst []Joined, j Join, k int) (hits []Joined, long []int) {
	for at := 0; at < len(c.words); {
		n, done := j.Find(dst, c.words[at:], k)
		for _, h := range dst[:n] {
			hits = append(hits, Joined{h.Word + uint32(at), h.Lane})
		}
		if at += done; at == len(c.words) {
			break
		}
		if _, _, isLong := j.Long(c.words[at]); isLong {
			long = append(long, at)
			at++
		} else if done == 0 {
			t.Fatalf("no progress at word %d with room for %d", at, len(dst))
		}
	}
	return hits, long
}

// oracle is the same by brute force.
func (c joinCase) oracle(j Join, k int) (hits []Joined, long []int) {
	for i, w := range c.words {
		b := int(w >> j.shift & uint64(len(j.first)-2))
		from, to := j.first[b]&^1*2, j.first[b+1]&^1*2
		if j.first[b]&1 != 0 {
			long = append(long, i)
			continue
		}
		if int(to-from) > j.lanes {
			panic("a long bucket that is not marked")
		}
		for lane := from; lane < from+uint32(j.lanes); lane++ {
			if bits.OnesCount32(uint32(w)^j.lows[lane]) <= k {
				hits = append(hits, Joined{uint32(i), lane})
			}
		}
	}
	return hits, long
}

// Buckets of every kind, every number of lanes, words of every length, any room.
func TestJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 99))
	room := guard.New(t, 8*(3*JoinLanes))
	lanes := map[int]bool{}
	eachKernel(t, func(t *testing.T) {
		for _, mean := range []int{0, 3, 11, 14, 27, 40, 60, 75, 90, 110, 125, 300} {
			for _, bucketBits := range []int{0, 1, 5} {
				for _, words := range []int{0, 1, 2, 3, 4, 5, 7, 8, 300, joinCall + 3} {
					c := newJoinCase(t, r, bucketBits, words, func(b int) int {
						if b == 3 {
							return 500 // long
						}
						return mean - min(mean, r.IntN(4))
					})
					lanes[c.table.Lanes()] = true
					j := c.table.Keys()
					for _, k := range []int{-1, 0, 3, 9, math.MaxInt32} {
						want, wantLong := c.oracle(j, k)
						if k < 0 {
							wantLong = nil
						}
						dst := guard.Tail[Joined](room, JoinLanes+r.IntN(2*JoinLanes))
						got, long := c.find(t, dst, j, k)
						if !slices.Equal(got, want) || !slices.Equal(long, wantLong) {
							t.Fatalf("%d words, %d buckets of %d, k=%d, room %d: %d hits and %d long ones, want %d and %d",
								words, 1<<bucketBits, mean, k, len(dst), len(got), len(long), len(want), len(wantLong))
						}
					}
				}
			}
		}
	})
	if len(lanes) < JoinLanes/joinVector-1 {
		t.Errorf("only some numbers of lanes: %v", lanes)
	}
	if n, done := newJoinCase(t, r, 1, 9, func(int) int { return 5 }).table.Keys().Find(make([]Joined, JoinLanes-1), make([]uint64, 9), 3); n != 0 || done != 0 {
		t.Errorf("without room: %d hits in %d words", n, done)
	}
}

// All words are hits in all lanes.
func TestJoinDense(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, size := range []int{1, 16, 17, 32, 40, 128} {
			sizes := []uint32{uint32(size), 0}
			lows := make([]uint32, BucketLanes(sizes))
			c := joinCase{NewJoinTable(sizes, lows), make([]uint64, 999)}
			want, _ := c.oracle(c.table.Keys(), 3)
			if got, long := c.find(t, make([]Joined, 200), c.table.Keys(), 3); !slices.Equal(got, want) || long != nil {
				t.Fatalf("size %d: %d hits, want %d", size, len(got), len(want))
			}
		}
	})
}

// dealOracle deals with a list for each pile.
func dealOracle(src []uint64, row uint64, o PilesOptions) [][]uint64 {
	piles := make([][]uint64, 1<<o.Bits)
	for i, x := range src {
		key := permuteOracle(x, o.Mask)
		pile := key >> (64 - o.Bits)
		kept := key << o.Bits >> (64 - o.Keep)
		piles[pile] = append(piles[pile], (row+uint64(i))<<o.Keep|kept)
	}
	return piles
}

// dealAll deals in calls of some size and collects what lay on each pile.
func dealAll(p *Piles, src []uint64, row uint64, call int) [][]uint64 {
	piles := make([][]uint64, p.Len())
	for at := 0; at < len(src); {
		done, full := p.Deal(src[at:min(at+call, len(src))], row+uint64(at))
		at += done
		if full >= 0 {
			piles[full] = append(piles[full], p.Take(full)...)
		}
	}
	for i := range piles {
		piles[i] = append(piles[i], p.Take(i)...)
	}
	return piles
}

func TestDeal(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 99))
	eachKernel(t, func(t *testing.T) {
		for _, mask := range testMasks(r, 5) {
			for _, bits := range []int{1, 3, 6, 8} {
				room := 1 + r.IntN(6)
				o := PilesOptions{Mask: mask, Bits: bits, Keep: 1 + r.IntN(50)}
				n := r.IntN(700)
				src := guard.Tail[uint64](guard.New(t, 8*max(n, 1)), n)
				for i := range src {
					src[i] = r.Uint64()
					if i%5 == 0 {
						src[i] = src[0] // one pile fills faster
					}
				}
				words := guard.Tail[uint64](guard.New(t, 8<<(bits+room)), 1<<(bits+room))
				p := NewPiles(words, o)
				if rowsMax := uint64(1) << (64 - o.Keep); rowsMax > 1000 {
					row := rowsMax - 1 - uint64(max(n, 1))
					want := dealOracle(src, row, o)
					for range 2 { // the second time with piles that were used
						if got := dealAll(p, src, row, 1+r.IntN(800)); !slices.EqualFunc(got, want, slices.Equal) {
							t.Fatalf("mask %#x, %+v, room %d, %d fingerprints: wrong", mask, o, room, n)
						}
					}
				}
			}
		}
	})
}

func TestJoinPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"three buckets":        func() { NewJoinTable(make([]uint32, 4), make([]uint32, JoinLanes)) },
		"no end":               func() { NewJoinTable([]uint32{1, 1}, make([]uint32, 32+JoinLanes)) },
		"too few lanes":        func() { NewJoinTable([]uint32{17, 0}, make([]uint32, 16+JoinLanes)) },
		"piles of one word":    func() { NewPiles(make([]uint64, 4), PilesOptions{Bits: 2, Keep: 8}) },
		"words beyond a power": func() { NewPiles(make([]uint64, 12), PilesOptions{Bits: 2, Keep: 8}) },
		"more bits than a key": func() { NewPiles(make([]uint64, 1<<10), PilesOptions{Bits: 8, Keep: 60}) },
		"a row too large": func() {
			NewPiles(make([]uint64, 8), PilesOptions{Bits: 2, Keep: 60}).Deal(make([]uint64, 9), 8)
		},
		"piles of another table": func() {
			p := NewPiles(make([]uint64, 8), PilesOptions{Bits: 2, Keep: 60})
			NewJoinTable(make([]uint32, 9), make([]uint32, JoinLanes)).Pile(p, 0)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func FuzzJoin(f *testing.F) {
	f.Add(uint64(1), 5, 20, 100, 3)
	f.Add(uint64(2), 0, 200, 7, 0)
	f.Fuzz(func(t *testing.T, seed uint64, bucketBits, mean, words, k int) {
		r := rand.New(rand.NewPCG(seed, 7))
		c := newJoinCase(t, r, bucketBits&7, words&1023, func(int) int { return r.IntN(1 + mean&255) })
		want, wantLong := c.oracle(c.table.Keys(), k&63)
		dst := guard.Tail[Joined](guard.New(t, 8*2*JoinLanes), JoinLanes+int(seed%JoinLanes))
		eachFuzzKernel(t, func(kernel string) {
			if got, long := c.find(t, dst, c.table.Keys(), k&63); !slices.Equal(got, want) || !slices.Equal(long, wantLong) {
				t.Fatalf("%s: %d hits and %d long ones, want %d and %d", kernel, len(got), len(long), len(want), len(wantLong))
			}
		})
	})
}

func FuzzDeal(f *testing.F) {
	f.Add(uint64(1), uint64(0xff00), 6, 40, 3, 300)
	f.Fuzz(func(t *testing.T, seed, mask uint64, bits, keep, room, n int) {
		r := rand.New(rand.NewPCG(seed, 8))
		o := PilesOptions{Mask: mask, Bits: 1 + bits&7, Keep: 1 + keep&31}
		src := guard.Tail[uint64](guard.New(t, 8*(n&1023+1)), n&1023)
		for i := range src {
			src[i] = r.Uint64() & (r.Uint64() | -(seed & 1))
		}
		want := dealOracle(src, seed&0xfff, o)
		size := 1 << (o.Bits + 1 + room&7)
		eachFuzzKernel(t, func(kernel string) {
			p := NewPiles(guard.Tail[uint64](guard.New(t, 8*size), size), o)
			if got := dealAll(p, src, seed&0xfff, 1+int(seed%999)); !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("%s: %+v, %d words: wrong", kernel, o, size)
			}
		})
	})
}

func BenchmarkDeal(b *testing.B) {
	src := make([]uint64, 1<<16)
	for i := range src {
		src[i] = rand.Uint64()
	}
	p := NewPiles(make([]uint64, 1<<16), PilesOptions{Mask: 0x1111111111111111, Bits: 6, Keep: 42})
	b.SetBytes(int64(8 * len(src)))
	for b.Loop() {
		for at := 0; at < len(src); {
			n, full := p.Deal(src[at:], 0)
			if at += n; full >= 0 {
				p.Take(full)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(src)), "ns/fp")
}

func BenchmarkJoin(b *testing.B) {
	for name, size := range map[string]int{"lanes=16": 16, "lanes=32": 32, "lanes=48": 48} {
		c := newJoinCase(b, rand.New(rand.NewPCG(1, 1)), 7, 4096, func(int) int { return size })
		for i := range c.words {
			c.words[i] = rand.Uint64()
		}
		dst := make([]Joined, JoinLanes*2)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(8 * len(c.words)))
			for b.Loop() {
				if _, done := c.table.Keys().Find(dst, c.words, 3); done != len(c.words) {
					b.Fatal(done)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(c.words)), "ns/word")
		})
	}
}
