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
	Unique  bool   // count a fingerprint once for each query, however many documents have it
	Most    uint64 // rows of a fingerprint of a query that are counted; 0: all
	LeftOut uint64 // rows that Most left out

	last Row
	same uint64 // rows of the last one's query and fingerprint that are counted
}

// Count counts a row so many times, once for each document that it stands for. It returns false,
// and counts nothing, for a row that Unique or Most leaves out.
func (t *Tally) Count(r Row, times uint64) bool {
	again := t.same > 0 && r.Query == t.last.Query
	if !again || r.Fingerprint != t.last.Fingerprint {
		t.same = 0
	}
	if t.Unique {
		if t.same > 0 {
			return false
		}
		times = 1
	}
	if t.Most > 0 && t.same >= t.Most {
		t.LeftOut += times
		return false
	}
	if !again {
		t.WithHits++
	}
	t.Hits += times
	t.Sum += times * Term(r.Query, r.Fingerprint)
	t.last = r
	t.same += times
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
