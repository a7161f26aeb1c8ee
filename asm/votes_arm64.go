//go:build !purego

package asm

func votes(counts *[64]uint64, hashes []uint64) { votesGeneric(counts, hashes) }

func weightedVotes(counts *[64]uint64, hashes []uint64, weights []uint32) bool {
	weightedVotesGeneric(counts, hashes, weights)
	return true
}
