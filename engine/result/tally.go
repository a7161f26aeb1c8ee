package result

import "ndd/engine/corpus/simhash"

// Totals counts hits.
type Totals struct {
	WithHits uint64 // queries that have any
	Hits     uint64
	Sum      uint64 // of the hits' terms, modulo 2^64; see [Term]
}

// Add adds the totals of other queries.
func (t *Totals) Add(o Totals) {
	t.WithHits += o.WithHits
	t.Hits += o.Hits
	t.Sum += o.Sum
}

// A Tally counts rows that come in the order of a result: by query, and of a query all with one
// fingerprint together. Its zero value has counted none.
type Tally struct {
	Totals
	Unique bool // count a fingerprint once for each query, however many documents have it

	last Row
	some bool // there was one
}

// Count counts a row that stands for a number of documents. It returns false, and counts nothing,
// for a row that Unique excludes.
func (t *Tally) Count(r Row, documents uint64) bool {
	again := t.some && r.Query == t.last.Query
	if t.Unique {
		if again && r.Fingerprint == t.last.Fingerprint {
			return false
		}
		documents = 1
	}
	if !again {
		t.WithHits++
	}
	t.Hits += documents
	t.Sum += documents * Term(r.Query, r.Fingerprint)
	t.last, t.some = r, true
	return true
}

// Term returns a hit's part of the checksum of a result. The checksum is the sum, modulo 2^64,
// over all hits of mix(mix(query row) ^ fingerprint), where mix is a step of splitmix64: it does
// not depend on the order of the hits, and is equal for results that have the same ones.
func Term(query int, f simhash.Fingerprint) uint64 {
	return mix(mix(uint64(query)) ^ uint64(f))
}

func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
