package asm

// votesCall is the maximum number of hashes per call of assembly: 64 KiB, 30 microseconds at one cycle per bit of
// weight. It also limits the 32-bit counters within a call.
const votesCall = 8 << 10

// votesHeavy is the first weight that the weighted kernels do not support. The generic form adds such a part of the
// slice. Below it, votesCall weights add up to less than 2^32.
const votesHeavy = 1 << 16

// WeightedVotes adds to counts[j] the sum of weights[i] over the hashes[i] with bit j set. This is a positional
// population count, with the sums of a simhash over features. Both slices must have the same length. A counter wraps
// around at 2^64, which needs more than four billion features of the maximum weight.
//
// It is optimised for small weights, such as counts of words: below votesHeavy a hash takes four to five cycles with
// AVX-512.
func WeightedVotes(counts *[64]uint64, hashes []uint64, weights []uint32) {
	if len(hashes) != len(weights) {
		panic("asm: WeightedVotes wants one weight for each hash")
	}
	raceRead(hashes)
	raceRead(weights)
	raceWrite(counts[:])
	for len(hashes) > 0 {
		n := min(len(hashes), votesCall)
		if !weightedVotes(counts, hashes[:n], weights[:n]) {
			weightedVotesGeneric(counts, hashes[:n], weights[:n])
		}
		hashes, weights = hashes[n:], weights[n:]
	}
}

// Majority returns the word with a 1 where counts[j] is more than half of total. This is the sign of a simhash, where
// a tie gives 0.
func Majority(counts *[64]uint64, total uint64) uint64 {
	var word uint64
	for j, c := range counts {
		// total-c votes were for a 0: c <= total, so nothing overflows here.
		if c > total-c {
			word |= 1 << j
		}
	}
	return word
}
