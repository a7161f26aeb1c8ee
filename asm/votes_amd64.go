//go:build !purego

package asm

func votes(counts *[64]uint64, hashes []uint64) {
	switch {
	case useAVX512:
		votesAVX512(counts, hashes)
	default:
		votesGeneric(counts, hashes)
	}
}

func weightedVotes(counts *[64]uint64, hashes []uint64, weights []uint32) bool {
	switch {
	case useAVX512:
		return weightedVotesAVX512(counts, hashes, weights)
	}
	weightedVotesGeneric(counts, hashes, weights)
	return true
}

//go:noescape
func votesAVX512(counts *[64]uint64, hashes []uint64)

//go:noescape
func weightedVotesAVX512(counts *[64]uint64, hashes []uint64, weights []uint32) bool
