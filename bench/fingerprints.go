package main

import (
	"fmt"
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/result"
)

// An answer counts hits and sums their terms (see [result.Term]). So the answers of two programs can be compared
// without regard to their order.
type answer struct {
	hits int
	sum  uint64
}

// add adds the hit of a query.
func (a *answer) add(query int, fingerprint uint64) {
	a.hits++
	a.sum += result.Term(query, simhash.Fingerprint(fingerprint))
}

// plus adds another answer.
func (a *answer) plus(o answer) { a.hits, a.sum = a.hits+o.hits, a.sum+o.sum }

func (a answer) String() string { return fmt.Sprintf("%d hits of checksum %016x", a.hits, a.sum) }

// distinct returns the distinct fingerprints of base, sorted.
func distinct(base []uint64) []uint64 { return slices.Compact(slices.Sorted(slices.Values(base))) }

// compareAll answers queries by comparing each with every distinct fingerprint of base.
func compareAll(base, queries []uint64) (a answer) {
	base = distinct(base)
	hits := make([]uint32, 1<<16)
	for i, q := range queries {
		for keys := base; len(keys) > 0; {
			n, scanned := asm.Within64(hits, keys, q, distance)
			for _, hit := range hits[:n] {
				a.add(i, keys[hit])
			}
			keys = keys[scanned:]
		}
	}
	return a
}
