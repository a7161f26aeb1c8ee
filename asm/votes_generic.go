package asm

import "fmt"

// votesGeneric is the specification of votes. It counts in bytes, eight to a word:
// byte b of lane[j] counts bit 8b+j. 255 hashes are the most that a byte can count.
//
//	h            ... 15 14 13 12 11 10  9  8 | 7  6  5  4  3  2  1  0
//	h>>1 & ones  ... .  .  .  .  .  .  .  9  | .  .  .  .  .  .  .  1   added to lane[1]
func votesGeneric(counts *[64]uint64, hashes []uint64) {
	const ones = 0x0101010101010101
	for len(hashes) > 0 {
		turn := hashes[:min(len(hashes), 255)]
		hashes = hashes[len(turn):]
		var lane [8]uint64
		for _, h := range turn {
			lane[0] += h & ones
			lane[1] += h >> 1 & ones
			lane[2] += h >> 2 & ones
			lane[3] += h >> 3 & ones
			lane[4] += h >> 4 & ones
			lane[5] += h >> 5 & ones
			lane[6] += h >> 6 & ones
			lane[7] += h >> 7 & ones
		}
		for j := range counts {
			counts[j] += lane[j%8] >> (j &^ 7) & 0xff
		}
	}
}

// weightedVotesGeneric is the specification of weightedVotes, for any weights. The
// other backends return false, having done nothing, if one is votesHeavy or more.
//
// It counts in 16 bits, four to a word: quarter b of lane[j] counts bit 16b+j, and is
// emptied before the weights since then add up to more than 65,535. A weight that is
// more by itself is added bit by bit.
func weightedVotesGeneric(counts *[64]uint64, hashes []uint64, weights []uint32) {
	const ones, most = 0x0001000100010001, 1<<16 - 1
	var lane [16]uint64
	empty := func() {
		for j := range counts {
			counts[j] += lane[j%16] >> (j &^ 15) & most
		}
		clear(lane[:])
	}
	sum := uint64(0)
	for i, h := range hashes {
		w := uint64(weights[i])
		if w > most {
			for j := range counts {
				counts[j] += w & -(h >> j & 1)
			}
			continue
		}
		if sum+w > most {
			empty()
			sum = 0
		}
		sum += w
		for j := range lane {
			lane[j] += h >> j & ones * w
		}
	}
	empty()
}

// checkVotes compares the kernel in use with a known answer: hash i has its i+1 low bits set, so that bit j is
// set in 64-j of 64 hashes.
func checkVotes() error {
	hashes, _ := votesKnown()
	var counts [64]uint64
	Votes(&counts, hashes[:])
	for j := range uint64(64) {
		if want := 5 * (64 - j); counts[j] != want {
			return fmt.Errorf("bit %d: got %d votes, want %d", j, counts[j], want)
		}
	}
	return nil
}

// checkWeightedVotes compares the kernel in use with a known answer for the same hashes: with weights 1, 2, ... 64 the sum of bit j is that of
// j+1 to 64.
func checkWeightedVotes() error {
	hashes, weights := votesKnown()
	var sums [64]uint64
	WeightedVotes(&sums, hashes[:], weights[:])
	for j := range uint64(64) {
		if want := 5 * (64*65/2 - j*(j+1)/2); sums[j] != want {
			return fmt.Errorf("bit %d: got weight %d, want %d", j, sums[j], want)
		}
	}
	return nil
}

// votesKnown returns the hashes and weights of the known answers.
func votesKnown() (hashes [5 * 64]uint64, weights [5 * 64]uint32) {
	for i := range hashes {
		hashes[i] = 1<<(i%64+1) - 1
		weights[i] = uint32(i%64 + 1)
	}
	return hashes, weights
}
