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
	fingerprints []uint64 // room for as many documents as it may have
	ids          []string // nil when documents have none
	lengths      []uint32 // of texts; nil when they are not kept
	n            atomic.Int64
	dead         tombstones
	expires      atomic.Pointer[[]moment] // of each document; nil while none of them expires

	rows    map[string]int32 // of the last document of each ID; the writer's
	idBytes int              // of all IDs; likewise
}

func newMemtable(first DocID, docs int, c *Config) *memtable {
	m := &memtable{first: first, fingerprints: make([]uint64, docs)}
	if c.IDs {
		m.ids = make([]string, docs)
		m.rows = make(map[string]int32)
	}
	if c.Lengths {
		m.lengths = make([]uint32, docs)
	}
	return m
}

func (m *memtable) len() int { return int(m.n.Load()) }

// end returns the DocID of the next document.
func (m *memtable) end() DocID { return m.first + DocID(m.len()) }

// add appends as many of the documents as there is room for, and when they expire where some do, and
// returns how many. Readers see them when the index's clock is beyond their numbers.
func (m *memtable) add(docs []Doc, expires []moment) int {
	at := m.len()
	docs = m.fitting(docs[:min(len(docs), len(m.fingerprints)-at)])
	if len(expires) > 0 {
		if m.expires.Load() == nil {
			all := make([]moment, len(m.fingerprints))
			m.expires.Store(&all)
		}
		copy((*m.expires.Load())[at:], expires[:len(docs)])
	}
	for i, d := range docs {
		m.fingerprints[at+i] = uint64(d.Fingerprint)
		if m.lengths != nil {
			m.lengths[at+i] = d.TextBytes
		}
		if m.ids != nil && d.ID != "" {
			m.ids[at+i] = d.ID
			m.rows[d.ID] = int32(at + i)
		}
	}
	m.n.Store(int64(at + len(docs)))
	return len(docs)
}

// fitting returns the first of the documents that have room for their IDs: at least one where the
// memtable is empty.
func (m *memtable) fitting(docs []Doc) []Doc {
	if m.ids == nil {
		return docs
	}
	for i := range docs {
		if more := len(docs[i].ID); more > 0 && m.idBytes+more > memtableIDBytes && m.len()+i > 0 {
			return docs[:i]
		} else {
			m.idBytes += more
		}
	}
	return docs
}

// expiry returns when a row expires.
func (m *memtable) expiry(row int) moment {
	if all := m.expires.Load(); all != nil {
		return (*all)[row]
	}
	return 0
}

// expiries returns when its documents expire.
func (m *memtable) expiries() (e expiries) {
	for i := range m.len() {
		e.append(m.expiry(i), 1)
	}
	return e
}

// hides reports whether a reader with that clock, which began at now, does not see a document that
// the memtable has.
func (m *memtable) hides(doc, clock DocID, now moment) bool {
	return m.dead.has(doc, clock) || m.expiry(int(doc-m.first)).expired(now)
}

// count returns how many documents of the memtable a view has, and how many it has that expired.
func (m *memtable) count(w View) (seen, expired uint64) {
	for doc := m.first; doc < min(m.end(), w.clock); doc++ {
		if m.expiry(int(doc - m.first)).expired(w.now) {
			expired++
		} else if !m.dead.has(doc, w.clock) {
			seen++
		}
	}
	return seen, expired
}

// scan appends a match for each document of a view, from number from on, whose fingerprint is within
// distance k of a query and which is not left out for its length. found is room for positions. It ends behind
// the query with which there are more than most matches, if most is not 0.
func (m *memtable) scan(dst []Match, found []uint32, from DocID, w View, queries []uint64, k int, lengths Lengths, most int) []Match {
	begin, end := max(from, m.first), min(m.end(), w.clock)
	if begin >= end {
		return dst
	}
	prints := m.fingerprints[begin-m.first : end-m.first]
	for q, query := range queries {
		for at := 0; at < len(prints); {
			n, done := asm.Within64(found, prints[at:], query, k)
			for _, i := range found[:n] {
				f, doc := prints[at+int(i)], begin+DocID(at)+DocID(i)
				if !m.hides(doc, w.clock, w.now) && (m.lengths == nil || lengths.take(q, m.lengths[doc-m.first])) {
					dst = append(dst, Match{q, bits.OnesCount64(f ^ query), f, inMemtable, doc})
				}
			}
			at += done
		}
		if most > 0 && len(dst) > most {
			break
		}
	}
	return dst
}
