package result

import "example.org/ndd/engine/corpus/simhash"

// Totals counts hits.
type Totals struct {
	WithHits uint64 // number of queries with hits
	Hits     uint64
	Sum      uint64 // sum of the hits' terms, modulo 2^64; see [Term]
}

// A Tally counts the rows of a result in order. The rows of a query must be consecutive. Within a query, the rows of
// a fingerprint must be consecutive, too. The zero value is empty.
type Tally struct {
	Totals
	Unique bool // count a fingerprint once per query, even if several documents have it

	last    Row
	hasLast bool // last is set
}

// Count counts a row that represents a number of documents. It returns false, and counts nothing, if Unique excludes
// the row.
func (t *Tally) Count(r Row, documents uint64) bool {
	again := t.hasLast && r.Query == t.last.Query
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
	t.last, t.hasLast = r, true
	return true
}

// Term returns the term of a hit in the checksum of a result. The checksum is the sum, modulo 2^64, of mix(mix(query
// row) ^ fingerprint) over all hits. mix is a step of splitmix64. The checksum does not depend on the order of the
// hits.
func Term(query int, f simhash.Fingerprint) uint64 {
	return mix(mix(uint64(query)) ^ uint64(f))
}

func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
