package asm

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"example.org/ndd/engine/oracle/guard"
	"example.org/ndd/engine/oracle/long"
)

// count64 is WeightedVotes by brute force, onto a copy of counts.
func count64(counts [64]uint64, hashes []uint64, weights []uint32) [64]uint64 {
	for i, h := range hashes {
		for j := range counts {
			if h&(1<<j) != 0 {
				counts[j] += uint64(weights[i])
			}
		}
	}
	return counts
}

// ballots returns n hashes with n random weights below maxWeight. Some hashes are all zeros or all ones.
func ballots(r *rand.Rand, n int, maxWeight uint32) (hashes []uint64, weights []uint32) {
	hashes, weights = make([]uint64, n), make([]uint32, n)
	for i := range hashes {
		hashes[i] = r.Uint64()
		switch hashes[i] % 16 {
		case 0:
			hashes[i] = 0
		case 1:
			hashes[i] = ^uint64(0)
		}
		weights[i] = r.Uint32N(maxWeight)
	}
	return hashes, weights
}

func TestVotesEveryLength(t *testing.T) {
	const longest = 4096
	r := rand.New(rand.NewPCG(1, 7))
	words, heavy := ballots(r, longest+64, 1000)
	hashRegion := guard.New(t, (longest+64)*8)
	weightRegion := guard.New(t, (longest+64)*4)
	countRegion := guard.New(t, 64*8)
	eachKernel(t, func(t *testing.T) {
		var sums [64]uint64 // sums of the first n
		for n := range longest + 1 {
			hashes, weights := views[uint64](hashRegion, n, 7)[n%3], views[uint32](weightRegion, n, 5)[n%3]
			hashRegion.Unseal()
			weightRegion.Unseal()
			copy(hashes, words)
			copy(weights, heavy)
			hashRegion.Seal()
			weightRegion.Seal()
			counts := (*[64]uint64)(guard.Tail[uint64](countRegion, 64))
			if n%2 == 0 {
				counts = (*[64]uint64)(guard.Head[uint64](countRegion, 64))
			}
			// The counters start with the given values.
			var want [64]uint64
			for j := range counts {
				counts[j] = uint64(j) << (j % 50)
				want[j] = counts[j] + sums[j]
			}
			if WeightedVotes(counts, hashes, weights); *counts != want {
				t.Fatalf("n=%d: %d, want %d", n, *counts, want)
			}
			sums = count64(sums, words[n:n+1], heavy[n:])
		}
	})
}

// TestVotesOverflow checks that nothing overflows if all bits are ones, a call has the maximum number of words, and
// the weights are the largest.
func TestVotesOverflow(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		n := 2*votesCall + 77
		hashes, weights := make([]uint64, n), make([]uint32, n)
		for i := range hashes {
			hashes[i] = ^uint64(0)
		}
		for _, w := range []uint32{0, 1, 255, 256, 65535, 65536, votesHeavy - 1, votesHeavy, 1 << 31, 1<<32 - 1} {
			for i := range weights {
				weights[i] = w
			}
			var sums [64]uint64
			WeightedVotes(&sums, hashes, weights)
			for j, s := range sums {
				if s != uint64(n)*uint64(w) {
					t.Fatalf("weight %d, bit %d: %d, want %d", w, j, s, uint64(n)*uint64(w))
				}
			}
		}
		// A single heavy weight at any position is noticed.
		for i := range weights {
			weights[i] = 3
		}
		for i := range 200 {
			weights[i] = votesHeavy + 5
			var sums [64]uint64
			WeightedVotes(&sums, hashes[:200], weights[:200])
			if sums[i%64] != 199*3+votesHeavy+5 {
				t.Fatalf("heavy weight at %d: %d", i, sums[i%64])
			}
			weights[i] = 3
		}
	})
}

func TestVotesRandom(t *testing.T) {
	hashesTotal := long.Or(400_000, 100_000_000)
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 7))
		for done := 0; done < hashesTotal; {
			n := r.IntN(3 * votesCall)
			hashes, weights := ballots(r, n, 1<<r.IntN(22))
			var sums, want [64]uint64
			WeightedVotes(&sums, hashes, weights)
			if weightedVotesGeneric(&want, hashes, weights); sums != want {
				t.Fatalf("n=%d: %d, want %d", n, sums, want)
			}
			done += n
		}
	})
}

func TestMajority(t *testing.T) {
	var counts [64]uint64
	for j := range counts {
		counts[j] = uint64(j)
	}
	for total, want := range map[uint64]uint64{
		63:  0xffffffff00000000, // 32 of 63 is the first majority
		64:  0xfffffffe00000000, // 32 of 64 is a tie
		126: 0,                  // 63 of 126 is a tie
		125: 1 << 63,
	} {
		if got := Majority(&counts, total); got != want {
			t.Errorf("total %d: %#x, want %#x", total, got, want)
		}
	}
	full := [64]uint64{7: 1<<64 - 1}
	if got := Majority(&full, 1<<64-1); got != 1<<7 {
		t.Errorf("the greatest total: %#x, want %#x", got, 1<<7)
	}
}

func FuzzVotes(f *testing.F) {
	f.Add([]byte("0123456789ab0123456789ab"))
	f.Add(make([]byte, 12*300))
	f.Fuzz(func(t *testing.T, data []byte) {
		hashes, weights := make([]uint64, len(data)/12), make([]uint32, len(data)/12)
		for i := range hashes {
			hashes[i] = binary.LittleEndian.Uint64(data[12*i:])
			weights[i] = binary.LittleEndian.Uint32(data[12*i+8:])
		}
		_, hashes = guard.Copies(t, hashes)
		_, weights = guard.Copies(t, weights)
		want := count64([64]uint64{}, hashes, weights)
		eachFuzzKernel(t, func(kernel string) {
			var sums [64]uint64
			if WeightedVotes(&sums, hashes, weights); sums != want {
				t.Fatalf("%s: %d, want %d", kernel, sums, want)
			}
		})
	})
}
