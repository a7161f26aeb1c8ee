package asm

import "fmt"

// votesGeneric is the specification of votes.
func votesGeneric(counts *[64]uint64, hashes []uint64) {
	for _, h := range hashes {
		for j := range counts {
			counts[j] += h >> j & 1
		}
	}
}

// weightedVotesGeneric is the specification of weightedVotes, for any weights. The
// other backends return false, having done nothing, if one is votesHeavy or more.
func weightedVotesGeneric(counts *[64]uint64, hashes []uint64, weights []uint32) {
	for i, h := range hashes {
		w := uint64(weights[i])
		for j := range counts {
			counts[j] += w & -(h >> j & 1)
		}
	}
}

// checkVotes is the known answer: hash i has its i+1 low bits set, so that bit j is
// set in 64-j of 64 hashes; with weights 1, 2, ... 64 its sum is that of j+1 to 64.
func checkVotes() error {
	var hashes [5 * 64]uint64
	var weights [len(hashes)]uint32
	for i := range hashes {
		hashes[i] = 1<<(i%64+1) - 1
		weights[i] = uint32(i%64 + 1)
	}
	var counts, sums [64]uint64
	Votes(&counts, hashes[:])
	WeightedVotes(&sums, hashes[:], weights[:])
	for j := range uint64(64) {
		if want := 5 * (64 - j); counts[j] != want {
			return fmt.Errorf("bit %d: got %d votes, want %d", j, counts[j], want)
		}
		if want := 5 * (64*65/2 - j*(j+1)/2); sums[j] != want {
			return fmt.Errorf("bit %d: got weight %d, want %d", j, sums[j], want)
		}
	}
	return nil
}
