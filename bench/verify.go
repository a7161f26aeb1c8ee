package main

import (
	"math/bits"
	"slices"

	"ndd/asm"
	"ndd/engine/oracle"
)

// compareAll returns the answer to queries, of the distinct fingerprints of base.
func compareAll(base, queries []uint64) string {
	hits, sum := 0, uint64(0)
	distinct := slices.Clone(base)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	found := make([]uint32, 1<<16)
	for i, q := range queries {
		for rest := distinct; len(rest) > 0; {
			n, scanned := asm.Within64(found, rest, q, distance)
			for _, at := range found[:n] {
				sum += oracle.Term(i, rest[at])
			}
			hits, rest = hits+n, rest[scanned:]
		}
	}
	return answer(hits, sum)
}

// pairsOf returns how many pairs of distinct fingerprints are within the distance.
func pairsOf(base []uint64) (pairs int) {
	distinct := slices.Clone(base)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	for i, a := range distinct {
		for _, b := range distinct[i+1:] {
			if bits.OnesCount64(a^b) <= distance {
				pairs++
			}
		}
	}
	return pairs
}
