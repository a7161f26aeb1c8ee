package memtable

import (
	"encoding/binary"
	"sync/atomic"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/memory"
)

const (
	// MaxDocs is the capacity of a memtable: a query then compares about 16 entries in each of its buckets, and
	// its segment has 15 MB with two tables.
	MaxDocs = 1 << 20
	// documentBytes estimates the memory of a document, with K = 3 and no ID.
	documentBytes = 160
)

// A Table holds the newest documents. The row of a document is its position in order of arrival. One writer appends.
// Readers see the rows before their clock and take no lock.
type Table struct {
	Options
	rowIndex
	Tombstones rows.Tombstones
	ids        arena
	rows       idRows // row of the last document of each ID; only the writer uses it
}

// Options describe a memtable. Only the writer reads Key.
type Options struct {
	First    rows.DocID  // number of the first document
	MaxDocs  int         // capacity in documents
	MaxBytes uint64      // capacity in bytes
	K        int         // maximum distance of searches
	Key      *rows.IDKey // key of the hash of IDs; nil if documents have none
	Sketches bool        // keep the sketches of documents
}

// documentBytes estimates the memory of a document.
func (o *Options) documentBytes() uint64 {
	if o.Sketches {
		return documentBytes + sketch.Bytes
	}
	return documentBytes
}

// New returns an empty memtable.
func New(o Options) *Table {
	m := &Table{Options: o}
	m.maxK, m.likely = o.K, min(o.MaxDocs, int(o.MaxBytes/o.documentBytes()))
	m.list = make([]atomic.Pointer[page], (o.MaxDocs+pageDocs-1)/pageDocs)
	return m
}

// End returns the DocID of the next document.
func (m *Table) End() rows.DocID { return m.First + rows.DocID(m.Len()) }

// Add appends documents, with their expiry if some expire, until the memtable is full. It returns the number of
// documents that it added, at least one if the memtable was empty. Readers see them when the clock of the index has
// passed their numbers.
func (m *Table) Add(docs []rows.Doc, expires []rows.Time) int {
	begin := m.Len()
	row := begin
	for i := range docs {
		if row == m.MaxDocs || row > 0 && m.size.Load() >= m.MaxBytes {
			break
		}
		expiry := rows.Time(0)
		if len(expires) > 0 {
			expiry = expires[i]
		}
		m.put(row, &docs[i], expiry)
		row++
	}
	m.n.Store(int64(row))
	if m.unindexed() >= unindexedMax {
		m.index()
	}
	return row - begin
}

// put writes the next row.
func (m *Table) put(row int, d *rows.Doc, expires rows.Time) {
	p, i := m.page(row)
	if p == nil {
		p = m.newPage(row / pageDocs)
	}
	p.fingerprints[i] = uint64(d.Fingerprint)
	if p.sketches != nil {
		p.sketches[i] = d.Sketch
	}
	if expires != 0 {
		if p.expires.Load() == nil {
			p.expires.Store(new([pageDocs]rows.Time))
			m.size.Add(8 * pageDocs)
		}
		p.expires.Load()[i] = expires
	}
	if p.ids != nil && d.ID != "" {
		m.putID(p, row, d.ID)
	}
}

func (m *Table) newPage(number int) *page {
	p := new(page)
	size := uint64(8 * pageDocs)
	if m.Key != nil {
		p.ids = make([]uint32, pageDocs)
		size += 4 * pageDocs
	}
	if m.Options.Sketches {
		p.sketches = make([]sketch.Sketch, pageDocs)
		size += sketch.Bytes * pageDocs
	}
	m.list[number].Store(p)
	m.size.Add(size)
	return p
}

// hasID returns a function that reports whether a row has an ID.
func (m *Table) hasID(id string) func(row int) bool {
	return func(row int) bool { return string(m.idBytes(row)) == id }
}

// putID writes the ID of a row: its length and its bytes.
func (m *Table) putID(p *page, row int, id string) {
	oldBytes := m.ids.bytes() + m.rows.bytes()
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(id)))
	block, words := m.ids.alloc((n + len(id) + 7) / 8)
	b := memory.Cast[byte](words)
	copy(b[copy(b, length[:n]):], id)
	p.ids[row%pageDocs] = block
	m.rows.put(m.Key.Hash(id), row, m.hasID(id))
	m.size.Add(m.ids.bytes() + m.rows.bytes() - oldBytes)
}

// Fingerprint returns the fingerprint of a row.
func (m *Table) Fingerprint(row int) uint64 {
	p, i := m.page(row)
	return p.fingerprints[i]
}

// idBytes returns the ID of a row, empty if it has none. It is valid as long as the memtable is.
func (m *Table) idBytes(row int) []byte {
	p, i := m.page(row)
	if p.ids == nil || p.ids[i] == 0 {
		return nil
	}
	b := memory.Cast[byte](m.ids.wordsAt(p.ids[i]))
	n, offset := binary.Uvarint(b)
	return b[offset:][:n]
}

// ID returns the ID of a row.
func (m *Table) ID(row int) string { return string(m.idBytes(row)) }

// Sketch returns the sketch of a row, nil if the memtable keeps none.
func (m *Table) Sketch(row int) *sketch.Sketch {
	if !m.Options.Sketches {
		return nil
	}
	p, i := m.page(row)
	return &p.sketches[i]
}

// Lookup returns the last document with an ID. Only the writer may call it.
func (m *Table) Lookup(id string, hash uint64) (rows.DocID, bool) {
	row, ok := m.rows.row(hash, m.hasID(id))
	return m.First + rows.DocID(row), ok
}

// Expiry returns the expiry of a row.
func (m *Table) Expiry(row int) rows.Time {
	p, i := m.page(row)
	if expiries := p.expires.Load(); expiries != nil {
		return expiries[i]
	}
	return 0
}

// Expiries returns the expiry of all documents.
func (m *Table) Expiries() (e rows.Expiries) {
	for row := range m.Len() {
		e.Append(m.Expiry(row), 1)
	}
	return e
}

// Hides reports whether a document of the memtable is hidden from a reader of that moment. The reader began at now.
func (m *Table) Hides(doc rows.DocID, moment rows.Moment, now rows.Time) bool {
	return m.Tombstones.Has(doc, moment) || m.Expiry(int(doc-m.First)).Expired(now)
}

// Count returns the number of documents that a view sees, and of those that have expired.
func (m *Table) Count(moment rows.Moment, now rows.Time) (visible, expired uint64) {
	n := m.Before(moment.Clock)
	for row := 0; row < n && now != 0; row++ {
		if m.list[row/pageDocs].Load().expires.Load() == nil {
			row += pageDocs - 1 - row%pageDocs
		} else if m.Expiry(row).Expired(now) {
			expired++
		}
	}
	deleted := m.Tombstones.Count(moment, func(doc rows.DocID) bool {
		return int(doc-m.First) < n && !m.Expiry(int(doc-m.First)).Expired(now)
	})
	return uint64(n) - expired - deleted, expired
}

// Before returns the number of documents with numbers below a clock.
func (m *Table) Before(clock rows.DocID) int {
	if clock <= m.First {
		return 0
	}
	return int(min(rows.DocID(m.Len()), clock-m.First))
}

// Restore undoes the deletion of a document and gives it its ID again.
func (m *Table) Restore(doc rows.DocID) {
	m.Tombstones.Remove(doc)
	row := int(doc - m.First)
	if id := m.ID(row); id != "" {
		m.rows.put(m.Key.Hash(id), row, m.hasID(id))
	}
}

// Bytes returns the memory of the memtable without its deletions.
func (m *Table) Bytes() uint64 { return m.size.Load() }

// IDBytes returns the memory of the IDs.
func (m *Table) IDBytes() uint64 { return m.ids.bytes() }

// Memory returns the memory of the memtable.
func (m *Table) Memory() uint64 { return m.size.Load() + m.Tombstones.Bytes() }

// Free releases the memory. Nobody may read the memtable any more.
func (m *Table) Free() {
	if b := m.blocks.Load(); b != nil {
		b.arena.free()
	}
	m.ids.free()
}
