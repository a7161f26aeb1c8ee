package live

import (
	"math/bits"
	"sync/atomic"

	"ndd/asm"
)

const (
	// memtableDocs fingerprints are scanned whole by every query: 32 KiB, under a microsecond
	// with AVX-512.
	memtableDocs = 4096
	// memtablesMax is how many full memtables may wait to become segments before inserts wait for
	// that: 16 of them cost a query some 10 microseconds.
	memtablesMax = 16
)

// A memtable holds the newest documents. One writer appends; readers see the first len() documents.
type memtable struct {
	first        DocID
	fingerprints []uint64 // memtableDocs of them
	ids          []string // nil when documents have none
	n            atomic.Int64
}

func newMemtable(first DocID, ids bool) *memtable {
	m := &memtable{first: first, fingerprints: make([]uint64, memtableDocs)}
	if ids {
		m.ids = make([]string, memtableDocs)
	}
	return m
}

func (m *memtable) len() int { return int(m.n.Load()) }

// end returns the DocID of the next document.
func (m *memtable) end() DocID { return m.first + DocID(m.len()) }

// add appends as many of the documents as there is room for and returns how many. The store of n
// publishes them.
func (m *memtable) add(docs []Doc) int {
	at := m.len()
	docs = docs[:min(len(docs), len(m.fingerprints)-at)]
	for i, d := range docs {
		m.fingerprints[at+i] = uint64(d.Fingerprint)
		if m.ids != nil {
			m.ids[at+i] = d.ID
		}
	}
	m.n.Store(int64(at + len(docs)))
	return len(docs)
}

// scan appends a match for each document from number from on whose fingerprint is within distance
// k of a query. found is room for positions.
func (m *memtable) scan(dst []Match, found []uint32, from DocID, queries []uint64, k int) []Match {
	begin := max(from, m.first)
	end := m.end()
	if begin >= end {
		return dst
	}
	prints := m.fingerprints[begin-m.first : end-m.first]
	for q, query := range queries {
		for at := 0; at < len(prints); {
			n, done := asm.Within64(found, prints[at:], query, k)
			for _, i := range found[:n] {
				f := prints[at+int(i)]
				dst = append(dst, Match{q, bits.OnesCount64(f ^ query), f, inMemtable, begin + DocID(at) + DocID(i)})
			}
			at += done
		}
	}
	return dst
}
