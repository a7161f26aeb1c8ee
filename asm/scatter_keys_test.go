package asm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm/guard"
)

// newKeyPartitions makes empty partitions in words, as many for each as there are.
func newKeyPartitions(words []uint64, mask uint64, bits, keep int) *KeyPartitions {
	p := &KeyPartitions{Words: words, Next: make([]uint32, 1<<bits), Mask: mask, Bits: bits, Keep: keep}
	for 1<<p.Room < len(words)>>bits {
		p.Room++
	}
	for i := range p.Next {
		p.Next[i] = uint32(i << p.Room)
	}
	return p
}

// take returns the words of a partition and empties it.
func (p *KeyPartitions) take(i int) []uint64 {
	from, to := uint32(i<<p.Room), p.Next[i]
	p.Next[i] = from
	return p.Words[from:to]
}

// scatterKeysOracle scatters with a list for each partition.
func scatterKeysOracle(src []uint64, row uint64, o *KeyPartitions) [][]uint64 {
	partitions := make([][]uint64, 1<<o.Bits)
	for i, x := range src {
		key := permuteOracle(x, o.Mask)
		partition := key >> (64 - o.Bits)
		kept := key << o.Bits >> (64 - o.Keep)
		partitions[partition] = append(partitions[partition], (row+uint64(i))<<o.Keep|kept)
	}
	return partitions
}

// scatterKeysAll scatters in calls of some size and collects what lay in each partition.
func scatterKeysAll(p *KeyPartitions, src []uint64, row uint64, call int) [][]uint64 {
	partitions := make([][]uint64, len(p.Next))
	for at := 0; at < len(src); {
		done, full := ScatterKeys(p, src[at:min(at+call, len(src))], row+uint64(at))
		at += done
		if full >= 0 {
			partitions[full] = append(partitions[full], p.take(full)...)
		}
	}
	for i := range partitions {
		partitions[i] = append(partitions[i], p.take(i)...)
	}
	return partitions
}

func TestScatterKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 99))
	eachKernel(t, func(t *testing.T) {
		for _, mask := range testMasks(r, 5) {
			for _, bits := range []int{1, 3, 6, 8} {
				room := 1 + r.IntN(6)
				keep := 1 + r.IntN(50)
				n := r.IntN(700)
				src := guard.Tail[uint64](guard.New(t, 8*max(n, 1)), n)
				for i := range src {
					src[i] = r.Uint64()
					if i%5 == 0 {
						src[i] = src[0] // one partition fills faster
					}
				}
				words := guard.Tail[uint64](guard.New(t, 8<<(bits+room)), 1<<(bits+room))
				p := newKeyPartitions(words, mask, bits, keep)
				if rowsMax := uint64(1) << (64 - keep); rowsMax > 1000 {
					row := rowsMax - 1 - uint64(max(n, 1))
					want := scatterKeysOracle(src, row, p)
					for range 2 { // the second time with partitions that were used
						if got := scatterKeysAll(p, src, row, 1+r.IntN(800)); !slices.EqualFunc(got, want, slices.Equal) {
							t.Fatalf("mask %#x, %d bits, keep %d, room %d, %d fingerprints: wrong", mask, bits, keep, room, n)
						}
					}
				}
			}
		}
	})
}

func TestScatterKeysPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"partitions of one word": func() { ScatterKeys(newKeyPartitions(make([]uint64, 4), 0, 2, 8), nil, 0) },
		"words beyond a power":   func() { ScatterKeys(newKeyPartitions(make([]uint64, 12), 0, 2, 8), nil, 0) },
		"more bits than a key":   func() { ScatterKeys(newKeyPartitions(make([]uint64, 1<<10), 0, 8, 60), nil, 0) },
		"a row too large":        func() { ScatterKeys(newKeyPartitions(make([]uint64, 8), 0, 2, 60), make([]uint64, 9), 8) },
	} {
		wantPanic(t, name, f)
	}
}

func FuzzScatterKeys(f *testing.F) {
	f.Add(uint64(1), uint64(0xff00), 6, 40, 3, 300)
	f.Fuzz(func(t *testing.T, seed, mask uint64, bits, keep, room, n int) {
		r := rand.New(rand.NewPCG(seed, 8))
		bits, keep = 1+bits&7, 1+keep&31
		src := guard.Tail[uint64](guard.New(t, 8*(n&1023+1)), n&1023)
		for i := range src {
			src[i] = r.Uint64() & (r.Uint64() | -(seed & 1))
		}
		size := 1 << (bits + 1 + room&7)
		want := scatterKeysOracle(src, seed&0xfff, newKeyPartitions(make([]uint64, size), mask, bits, keep))
		eachFuzzKernel(t, func(kernel string) {
			p := newKeyPartitions(guard.Tail[uint64](guard.New(t, 8*size), size), mask, bits, keep)
			if got := scatterKeysAll(p, src, seed&0xfff, 1+int(seed%999)); !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("%s: mask %#x, %d bits, keep %d, %d words: wrong", kernel, mask, bits, keep, size)
			}
		})
	})
}

func BenchmarkScatterKeys(b *testing.B) {
	src := make([]uint64, 1<<16)
	for i := range src {
		src[i] = rand.Uint64()
	}
	p := newKeyPartitions(make([]uint64, 1<<16), 0x1111111111111111, 6, 42)
	b.SetBytes(int64(8 * len(src)))
	for b.Loop() {
		for at := 0; at < len(src); {
			n, full := ScatterKeys(p, src[at:], 0)
			if at += n; full >= 0 {
				p.take(full)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(src)), "ns/fp")
}
