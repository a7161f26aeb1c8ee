package asm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/guard"
)

// newHalves makes empty partitions with their own memory.
func newHalves(bits, room, keep int) *HalfPartitions {
	p := NewHalfPartitions(bits, room, keep)
	p.Words = make([]uint64, p.Size())
	return p
}

// halvesOracle scatters with a list for each partition.
func halvesOracle(src []uint64, row uint64, o *HalfPartitions) [][]uint64 {
	partitions := make([][]uint64, 2<<o.Bits)
	for half := range 2 {
		for i, x := range src {
			mine, other := x>>32, x&0xffffffff
			if half == 1 {
				mine, other = other, mine
			}
			partition := half<<o.Bits | int(mine>>(32-o.Bits))
			word := (row+uint64(i))<<o.Keep | (other<<32|mine)&(1<<o.Keep-1)
			partitions[partition] = append(partitions[partition], word)
		}
	}
	return partitions
}

// halvesAll scatters the fingerprints in calls of a given size and collects the words of each partition.
func halvesAll(p *HalfPartitions, src []uint64, row uint64, call int) [][]uint64 {
	partitions := make([][]uint64, len(p.Next))
	for pos := 0; pos < len(src); {
		done, full := ScatterHalves(p, src[pos:min(pos+call, len(src))], row+uint64(pos))
		if pos += done; full >= 0 {
			partitions[full] = append(partitions[full], p.Take(full)...)
		}
	}
	for i := range partitions {
		partitions[i] = append(partitions[i], p.Take(i)...)
	}
	return partitions
}

// checkHalvesCase compares ScatterHalves with the oracle, on guarded memory.
func checkHalvesCase(t testing.TB, r *rand.Rand, bits, room, keep, n int) {
	t.Helper()
	src := guard.Tail[uint64](guard.New(t, 8*max(n, 1)), n)
	for i := range src {
		src[i] = r.Uint64()
		if i%5 < 2 {
			src[i] = src[0] // one partition fills faster
		}
	}
	p := NewHalfPartitions(bits, room, keep)
	p.Words = guard.Tail[uint64](guard.New(t, 8*p.Size()), p.Size())
	row := uint64(r.IntN(1000))
	want := halvesOracle(src, row, p)
	got := halvesAll(p, src, row, 1+r.IntN(5000))
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Fatalf("%d bits, room %d, keep %d, %d fingerprints: partition %d is wrong", bits, room, keep, n, i)
		}
	}
}

func TestScatterHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 99))
	eachKernel(t, func(t *testing.T) {
		for _, bits := range []int{1, 3, 6, 7} {
			for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 300, HalvesRoomMin - 1, HalvesRoomMin + 1, 5 * HalvesRoomMin} {
				checkHalvesCase(t, r, bits, HalvesRoomMin+r.IntN(40), 32+r.IntN(16), n)
			}
		}
	})
}
