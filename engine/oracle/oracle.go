// Package oracle computes the answers that tests expect from the engine. It compares everything with everything, in slow
// and short code without kernels, tables or goroutines. It also has helpers: [EachKernel] runs a test on every kernel,
// [Machine] simulates a machine with a given memory, and [NoLeaks] detects leaked goroutines. Only tests and bench import
// it.
package oracle

import (
	"cmp"
	"math/bits"
	"slices"
)

// A Hit is a row of the base within the distance of a query.
type Hit struct {
	Query       int
	Distance    int
	Fingerprint uint64
	Row         int
}

// Search returns every row of base within Hamming distance k of each query, in
// the order of a result: query, distance, fingerprint, row. O(len(base) *
// len(queries)).
func Search(base, queries []uint64, k int) []Hit {
	var hits []Hit
	for q, query := range queries {
		before := len(hits)
		for row := next(base, 0, query, k); row < len(base); row = next(base, row+1, query, k) {
			hits = append(hits, Hit{q, bits.OnesCount64(base[row] ^ query), base[row], row})
		}
		slices.SortFunc(hits[before:], near)
	}
	return hits
}

// near compares two hits of one query. Tests sort millions, under the race detector too: so it has
// no cmp.Or.
func near(a, b Hit) int {
	switch {
	case a.Distance != b.Distance:
		return cmp.Compare(a.Distance, b.Distance)
	case a.Fingerprint != b.Fingerprint:
		return cmp.Compare(a.Fingerprint, b.Fingerprint)
	}
	return cmp.Compare(a.Row, b.Row)
}

// A Pair is two rows within the distance of each other, A < B.
type Pair struct{ A, B int }

// Pairs returns every pair of rows of base within Hamming distance k, in
// order. O(len(base)^2).
func Pairs(base []uint64, k int) []Pair {
	var pairs []Pair
	for a := range base {
		for b := next(base, a+1, base[a], k); b < len(base); b = next(base, b+1, base[a], k) {
			pairs = append(pairs, Pair{a, b})
		}
	}
	return pairs
}

// next returns the first row, from a row on, that is within distance k of a query, or len(base).
// The race detector, which takes twenty times as long for each row, does not look into it: whoever
// reads a hit reads its row again.
//
//go:norace
func next(base []uint64, row int, query uint64, k int) int {
	for row < len(base) && bits.OnesCount64(base[row]^query) > k {
		row++
	}
	return row
}

// Checksum sums results so that two programs can be compared without their
// order: over all pairs of a query's row and a fingerprint that it hits,
// mix(mix(row) ^ fingerprint), modulo 2^64, where mix is splitmix64's step.
// Add each hit's term with [Term].
func Checksum(hits []Hit) (sum uint64) {
	for _, h := range hits {
		sum += Term(h.Query, h.Fingerprint)
	}
	return sum
}

// Term returns one hit's part of a [Checksum].
func Term(query int, fingerprint uint64) uint64 {
	return mix(mix(uint64(query)) ^ fingerprint)
}

func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
