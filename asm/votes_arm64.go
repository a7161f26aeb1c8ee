//go:build !purego

package asm

func votes(counts *[64]uint64, hashes []uint64) {
	if useNEON {
		votesNEON(counts, hashes)
	} else {
		votesGeneric(counts, hashes)
	}
}

func weightedVotes(counts *[64]uint64, hashes []uint64, weights []uint32) bool {
	if useNEON {
		return weightedVotesNEON(counts, hashes, weights)
	}
	weightedVotesGeneric(counts, hashes, weights)
	return true
}

//go:noescape
func votesNEON(counts *[64]uint64, hashes []uint64)

//go:noescape
func weightedVotesNEON(counts *[64]uint64, hashes []uint64, weights []uint32) bool
