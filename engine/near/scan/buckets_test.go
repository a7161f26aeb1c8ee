package scan

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/asm"
)

// TestBuckets checks that every query of a bucket has its own lane, and buckets begin at vectors. Exactly the buckets
// with more lanes than b.Lanes are long.
func TestBuckets(t *testing.T) {
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
			shift := min(63, 64-bucketBits)
			b := newBuckets(sizes, make([]uint32, laneCount(sizes)), shift)
			lanes[b.Lanes] = true
			for i := range 1 << bucketBits {
				from, to, long := b.Bucket(uint64(i) << shift)
				if from%asm.JoinVector != 0 || to-from != (counts[i]+15)&^15 ||
					long != (counts[i] > uint32(b.Lanes)) {
					t.Fatalf("%d buckets of %d: bucket %d of %d has lanes %d to %d of %d, long: %v", 1<<bucketBits, mean, i,
						counts[i], from, to, b.Lanes, long)
				}
			}
		}
	}
	if len(lanes) < asm.JoinLanesMax/asm.JoinVector-1 {
		t.Errorf("only some numbers of lanes: %v", lanes)
	}
}
