package asm

// weightedVotesGeneric is the specification of weightedVotes, for all weights. If a weight is at least votesHeavy,
// the other backends return false without any change.
//
// It counts in 16 bits, four counters per word: quarter b of lane[j] counts bit 16b+j. Before the weights in the lanes
// add up to more than 65,535, the lanes are added to counts and cleared. A larger single weight is added bit by bit.
func weightedVotesGeneric(counts *[64]uint64, hashes []uint64, weights []uint32) {
	const ones, fieldMax = 0x0001000100010001, 1<<16 - 1
	var lane [16]uint64
	empty := func() {
		for j := range counts {
			counts[j] += lane[j%16] >> (j &^ 15) & fieldMax
		}
		clear(lane[:])
	}
	sum := uint64(0)
	for i, h := range hashes {
		w := uint64(weights[i])
		if w > fieldMax {
			for j := range counts {
				counts[j] += w & -(h >> j & 1)
			}
			continue
		}
		if sum+w > fieldMax {
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
