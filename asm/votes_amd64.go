//go:build !purego

package asm

func votes(counts *[64]uint64, hashes []uint64) {
	switch {
	case useAVX512:
		votesAVX512(counts, hashes)
	case useAVX2:
		votesAVX2(counts, hashes)
	default:
		votesGeneric(counts, hashes)
	}
}

func weightedVotes(counts *[64]uint64, hashes []uint64, weights []uint32) bool {
	switch {
	case useAVX512:
		return weightedVotesAVX512(counts, hashes, weights)
	case useAVX2:
		return weightedVotesAVX2(counts, hashes, weights)
	}
	weightedVotesGeneric(counts, hashes, weights)
	return true
}

//go:noescape
func votesAVX512(counts *[64]uint64, hashes []uint64)

//go:noescape
func votesAVX2(counts *[64]uint64, hashes []uint64)

//go:noescape
func weightedVotesAVX512(counts *[64]uint64, hashes []uint64, weights []uint32) bool

//go:noescape
func weightedVotesAVX2(counts *[64]uint64, hashes []uint64, weights []uint32) bool
