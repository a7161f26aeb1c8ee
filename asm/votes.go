package asm

// votesCall is how many hashes one call into assembly adds: 64 KiB, 30
// microseconds at a cycle a bit of weight. It also bounds what a 32-bit counter
// inside a call must hold.
const votesCall = 8 << 10

// votesHeavy is the first weight that the weighted kernels do not take; such a
// part of the slice goes the generic way. Below it, votesCall weights add up to
// less than 2^32.
const votesHeavy = 1 << 16

// WeightedVotes adds to counts[j] the sum of weights[i] over the hashes[i] that have bit j set: a
// positional population count, the sums of a simhash over features. The two slices must have the
// same length. A counter wraps around at 2^64, which four billion features of the greatest weight
// do not reach.
//
// It is made for small weights, how often a word occurs: below votesHeavy a hash takes four to five
// cycles with AVX-512.
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

// Majority returns the word with a 1 where counts[j] is more than half of total: the
// sign of a simhash, where a tie is a 0.
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
