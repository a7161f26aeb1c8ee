package scan

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm"
)

// TestQueryBuckets: every query of a bucket has a lane of its own in it, buckets begin with
// vectors, and those with more lanes than a word is compared with, and no others, are long.
func TestQueryBuckets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lanes := map[int]bool{}
	for _, mean := range []int{0, 3, 14, 27, 40, 60, 75, 90, 110, 125, 300} {
		for _, bucketBits := range []int{0, 1, 5, 9} {
			sizes := make([]uint32, 1<<bucketBits+1)
			for i := range 1 << bucketBits {
				sizes[i] = uint32(mean - min(mean, r.IntN(4)))
			}
			if bucketBits > 1 {
				sizes[3] = 500
			}
			counts := slices.Clone(sizes)
			b := newQueryBuckets(sizes, make([]uint32, laneCount(sizes)))
			lanes[b.lanes] = true
			keys := b.joined(0)
			for i := range 1 << bucketBits {
				from, to, long := longBucket(&keys, uint64(i)<<min(63, 64-bucketBits))
				if from != b.firstLane(i) || from%asm.JoinVector != 0 || to-from != (counts[i]+15)&^15 ||
					long != (counts[i] > uint32(b.lanes)) {
					t.Fatalf("%d buckets of %d: bucket %d of %d has lanes %d to %d of %d, long: %v", 1<<bucketBits, mean, i,
						counts[i], from, to, b.lanes, long)
				}
			}
		}
	}
	if len(lanes) < asm.JoinLanesMax/asm.JoinVector-1 {
		t.Errorf("only some numbers of lanes: %v", lanes)
	}
}

// TestHalfPartitions: what is taken is what was scattered, from the partitions of either half.
func TestHalfPartitions(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const keep = 41
	p := newHalfPartitions(3, asm.HalvesRoomMin+5, keep)
	p.Words = make([]uint64, p.words())
	prints := make([]uint64, 1000)
	for i := range prints {
		prints[i] = r.Uint64()
	}
	for range 2 {
		if done, full := asm.ScatterHalves(&p.HalfPartitions, prints, 7); done != len(prints) || full >= 0 {
			t.Fatalf("%d done, %d full", done, full)
		}
		words := 0
		for i := range 2 * p.count() {
			for _, w := range p.take(i) {
				x := prints[w>>keep-7]
				if half := i / p.count(); half == 0 {
					x = bits.RotateLeft64(x, 32)
				}
				if w&(1<<keep-1) != x&(1<<keep-1) || int(uint32(x)>>29) != i%p.count() {
					t.Fatalf("partition %d: word %#x of %#x", i, w, x)
				}
				words++
			}
		}
		if words != 2*len(prints) {
			t.Fatalf("%d words of %d fingerprints", words, len(prints))
		}
	}
}

func TestBucketsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"three buckets": func() { newQueryBuckets(make([]uint32, 4), make([]uint32, asm.JoinLanesMax)) },
		"no end":        func() { newQueryBuckets([]uint32{1, 1}, make([]uint32, 32+asm.JoinLanesMax)) },
		"too few lanes": func() { newQueryBuckets([]uint32{17, 0}, make([]uint32, 16+asm.JoinLanesMax)) },
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
