// Package oracle computes the answers that tests expect from the engine. It compares everything with everything, in
// slow and short code without kernels, tables or goroutines. It also has helpers: [EachKernel] runs a test on every
// kernel, [Machine] simulates a machine with a given memory, and [NoLeaks] detects leaked goroutines. Only tests and
// bench import it.
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
		first := len(hits)
		for row := nextRow(base, 0, query, k); row < len(base); row = nextRow(base, row+1, query, k) {
			hits = append(hits, Hit{q, bits.OnesCount64(base[row] ^ query), base[row], row})
		}
		slices.SortFunc(hits[first:], compareHits)
	}
	return hits
}

// compareHits compares two hits of one query. It does not use cmp.Or, because tests sort millions of hits, some of them
// under the race detector.
func compareHits(a, b Hit) int {
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
		for b := nextRow(base, a+1, base[a], k); b < len(base); b = nextRow(base, b+1, base[a], k) {
			pairs = append(pairs, Pair{a, b})
		}
	}
	return pairs
}

// nextRow returns the first row from the given one on that is within distance k of a query, or len(base). It is
// excluded from the race detector, which would take twenty times as long. Readers of a hit read its row again, so races
// are still found.
//
//go:norace
func nextRow(base []uint64, row int, query uint64, k int) int {
	for row < len(base) && bits.OnesCount64(base[row]^query) > k {
		row++
	}
	return row
}

// Checksum returns the sum of the terms of all hits modulo 2^64; see [Term]. It does not depend on the order of the
// hits, so the results of two programs can be compared.
func Checksum(hits []Hit) (sum uint64) {
	for _, h := range hits {
		sum += Term(h.Query, h.Fingerprint)
	}
	return sum
}

// Term returns the term of a hit in a [Checksum]: mix(mix(row of the query) ^ fingerprint), where mix is a step of
// splitmix64.
func Term(query int, fingerprint uint64) uint64 {
	return mix(mix(uint64(query)) ^ fingerprint)
}

func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
