package memtable

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/memory"
)

const (
	// MaxDocs is the capacity of a memtable: a query then compares about 16 entries in each of its buckets, and
	// its segment has 15 MB with two tables.
	MaxDocs = 1 << 20
	// pageDocs is the number of documents of a page.
	pageDocs = 4096
	// scanDocs is the number of fingerprints up to which a memtable has no blocks: comparing all of them takes a
	// quarter of a microsecond with AVX-512.
	scanDocs = 1024
	// documentBytes estimates the memory of a document, with K = 3 and no ID.
	documentBytes = 160
)

// A Table holds the newest documents. The row of a document is its position in order of arrival. One writer appends.
// Readers see the rows before their clock and take no lock.
type Table struct {
	Options
	likely     int // expected number of documents when it is full
	pages      []atomic.Pointer[page]
	blocks     atomic.Pointer[blocks] // index of all rows except the newest; nil if all rows are scanned
	Tombstones rows.Tombstones
	ids        arena
	rows       idRows // row of the last document of each ID; only the writer uses it

	_        [CacheLine]byte // inserts do not write to lines that searches read
	n        atomic.Int64
	size     atomic.Uint64 // memory in bytes, without tombstones
	indexing sync.Mutex    // held while rows are added to blocks
	_        [CacheLine]byte
}

// A page stores pageDocs rows.
type page struct {
	fingerprints [pageDocs]uint64
	ids          []uint32        // addresses of IDs, 0 for none; nil if documents have no IDs
	sketches     []sketch.Sketch // nil if the index keeps none
	expires      atomic.Pointer[[pageDocs]rows.Time]
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
	return &Table{
		Options: o,
		likely:  min(o.MaxDocs, int(o.MaxBytes/o.documentBytes())),
		pages:   make([]atomic.Pointer[page], (o.MaxDocs+pageDocs-1)/pageDocs),
	}
}

func (m *Table) Len() int { return int(m.n.Load()) }

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
	p := m.pages[row/pageDocs].Load()
	if p == nil {
		p = m.newPage(row / pageDocs)
	}
	i := row % pageDocs
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
	m.pages[number].Store(p)
	m.size.Add(size)
	return p
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
	m.rows.put(m.Key.Hash(id), row, func(row int) bool { return string(m.idBytes(row)) == id })
	m.size.Add(m.ids.bytes() + m.rows.bytes() - oldBytes)
}

// EachPage calls yield with the fingerprints of rows [first, limit), page by page, and the first row of each page, until
// yield returns false.
func (m *Table) EachPage(first, limit int, yield func(row int, fingerprints []uint64) bool) {
	for first < limit {
		end := min(limit, first-first%pageDocs+pageDocs)
		if !yield(first, m.pages[first/pageDocs].Load().fingerprints[first%pageDocs:][:end-first]) {
			return
		}
		first = end
	}
}

// page returns the page of a row and its index in the page.
func (m *Table) page(row int) (*page, int) { return m.pages[row/pageDocs].Load(), row % pageDocs }

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
	row, ok := m.rows.row(hash, func(row int) bool { return string(m.idBytes(row)) == id })
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
		if m.pages[row/pageDocs].Load().expires.Load() == nil {
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
		m.rows.put(m.Key.Hash(id), row, func(row int) bool { return string(m.idBytes(row)) == id })
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

// idRows finds the row of an ID: a hash table with open addressing, at most half full. Only the writer uses it.
//
//	slot   high half of the hash | row + 1      0 is empty
type idRows struct {
	slots []uint64 // their number is a power of two
	n     int
}

// row returns the row of an ID with that hash. equal reports whether a row has the ID.
func (t *idRows) row(hash uint64, equal func(row int) bool) (row int, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	slot := t.find(hash, equal)
	return int(uint32(t.slots[slot])) - 1, t.slots[slot] != 0
}

// find returns the slot of an ID, or the empty slot where it would be stored.
func (t *idRows) find(hash uint64, equal func(row int) bool) uint64 {
	mask := uint64(len(t.slots) - 1)
	for slot := hash >> 32 & mask; ; slot = (slot + 1) & mask {
		s := t.slots[slot]
		if s == 0 || s>>32 == hash>>32 && equal(int(uint32(s))-1) {
			return slot
		}
	}
}

// put sets the row of an ID.
func (t *idRows) put(hash uint64, row int, equal func(row int) bool) {
	if 2*(t.n+1) > len(t.slots) {
		t.grow()
	}
	i := t.find(hash, equal)
	if t.slots[i] == 0 {
		t.n++
	}
	t.slots[i] = hash>>32<<32 | uint64(row+1)
}

func (t *idRows) grow() {
	slots := t.slots
	t.slots = make([]uint64, max(64, 2*len(slots)))
	unequal := func(int) bool { return false } // all are different
	for _, s := range slots {
		if s != 0 {
			t.slots[t.find(s, unequal)] = s
		}
	}
}

// bytes returns the memory of the table.
func (t *idRows) bytes() uint64 { return 8 * uint64(len(t.slots)) }

// The newest rows of a memtable are not in blocks yet. Under the writer's lock, a row is written after the previous
// one, usually to a cached line. When enough rows have come together, a caller moves them into blocks after it has
// released the lock: to four buckets each, in a hundred megabytes, with misses that overlap. A search reads from the
// blocks the rows that were there when it began, and scans the others:
//
//	rows     0 ............................ blocks.rows ........... n
//	         in blocks                      some are on their way
//	search   buckets, without later rows  | scanned

const (
	// unindexedDocs is the number of rows outside blocks from which an insert moves them into blocks. A search scans
	// fewer in the time of a miss.
	unindexedDocs = 64
	// unindexedMax is the maximum number of rows outside blocks. The insert that reaches it moves them under the
	// writer's lock.
	unindexedMax = scanDocs
)

// unindexed returns the number of rows to move into blocks: none before there are enough for blocks.
func (m *Table) unindexed() int {
	n := m.Len()
	if b := m.blocks.Load(); b != nil {
		return n - int(b.rows.Load())
	}
	if n < scanDocs {
		return 0
	}
	return n
}

// index moves the rows that exist when it begins into blocks.
func (m *Table) index() {
	m.indexing.Lock()
	defer m.indexing.Unlock()
	m.indexLocked()
}

// indexLocked is index for a caller that holds indexing.
func (m *Table) indexLocked() {
	n := m.Len()
	if m.unindexed() == 0 {
		return
	}
	b, oldBytes := m.blocks.Load(), uint64(0)
	if b == nil {
		b = newBlocks(m.K, m.likely)
	} else {
		oldBytes = b.bytes()
	}
	m.EachPage(int(b.rows.Load()), n, func(row int, fingerprints []uint64) bool {
		b.append(row, fingerprints)
		return true
	})
	m.size.Add(b.bytes() - oldBytes)
	m.blocks.Store(b)
}

// IndexDue reports whether there are enough rows to move into blocks.
func (m *Table) IndexDue() bool { return m.unindexed() >= unindexedDocs }

// TryIndex moves rows into blocks unless another goroutine does. It reports whether the memory of the memtable has
// grown.
func (m *Table) TryIndex() (grown bool) {
	if !m.indexing.TryLock() {
		return false
	}
	defer m.indexing.Unlock()
	oldBytes := m.size.Load()
	m.indexLocked()
	return m.size.Load() != oldBytes
}

// append adds the fingerprints of rows from row on, in groups whose misses overlap. Calls must not be concurrent.
func (b *blocks) append(row int, fingerprints []uint64) {
	for part := range slices.Chunk(fingerprints, unindexedDocs) {
		for group := range slices.Chunk(part, prefetchQueries) {
			b.prefetchHeads(group, len(b.heads)-1)
		}
		for _, f := range part {
			b.prefetchRoom(f)
		}
		for i, f := range part {
			b.add(f, uint32(row+i))
		}
		row += len(part)
		b.rows.Store(int64(row))
	}
}
