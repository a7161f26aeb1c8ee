package memtable

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"ndd/engine/corpus/sketch"
	"ndd/engine/index/live/rows"
	"ndd/engine/memory"
)

const (
	// memtableDocs documents fill a memtable: a query looks at some 16 of each of its buckets, and
	// a segment of them has 15 MB with two tables.
	memtableDocs = 1 << 20
	// pageDocs documents have their columns beside each other.
	pageDocs = 4096
	// scannedDocs fill one that is scanned whole by every query: some 30 microseconds.
	scannedDocs = 1 << 16
	// scanDocs fingerprints are scanned whole by every query, in a quarter of a microsecond with
	// AVX-512. Of more there are blocks.
	scanDocs = 1024
	// documentBytes is about what a document takes, with K = 3 and no ID.
	documentBytes = 160
)

// MaxDocs returns how many documents a memtable has at most, for searches within K: fewer where it
// is scanned.
func MaxDocs(K int) uint64 {
	if K > blocksMax {
		return scannedDocs
	}
	return memtableDocs
}

// A Table holds the newest documents, by row in order of arrival. One writer appends; readers see
// what is before their clock, and take no lock.
type Table struct {
	Options
	likely int // documents that it will have, where those take as much memory as they mostly do
	pages  []atomic.Pointer[page]
	blocks atomic.Pointer[blocks] // of all rows but the newest; nil while these are few, or all are scanned
	Dead   rows.Tombstones
	ids    arena
	rows   idRows // of the last document of each ID; the writer's

	_        [CacheLine]byte // what each insert writes is on no line that each search reads
	n        atomic.Int64
	size     atomic.Uint64 // bytes that it takes without tombstones
	indexing sync.Mutex    // held by who puts rows into blocks; nothing but memory is waited for under it
	_        [CacheLine]byte
}

// A page has some rows.
type page struct {
	prints   [pageDocs]uint64
	ids      []uint32        // addresses, 0 for none; nil where documents have no IDs
	sketches []sketch.Sketch // nil where they are not kept
	expires  atomic.Pointer[[pageDocs]rows.Time]
}

// Options describe a memtable. Only the writer reads Key and Deferred.
type Options struct {
	First    rows.DocID  // number of the first document
	MaxDocs  int         // documents that fill it
	MaxBytes uint64      // bytes that fill it
	K        int         // largest distance of a search
	Key      *rows.IDKey // hashes IDs; nil where documents have none
	Sketches bool        // keep the documents' sketches
	Deferred bool        // make no blocks before IndexAll is called
}

// documentBytes is about how much memory a document takes.
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

// Add appends documents, and when they expire where some do, until the memtable is full or takes so
// many bytes, and returns how many: at least one where it is empty. Readers see them when the
// index's clock is beyond their numbers.
func (m *Table) Add(docs []rows.Doc, expires []rows.Time) int {
	begin := m.Len()
	row := begin
	for i := range docs {
		if row == m.MaxDocs || row > 0 && m.size.Load() >= m.MaxBytes {
			break
		}
		at := rows.Time(0)
		if len(expires) > 0 {
			at = expires[i]
		}
		m.put(row, &docs[i], at)
		row++
	}
	m.n.Store(int64(row))
	if !m.Deferred && m.unindexed() >= unindexedMax {
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
	at := row % pageDocs
	p.prints[at] = uint64(d.Fingerprint)
	if p.sketches != nil {
		p.sketches[at] = d.Sketch
	}
	if expires != 0 {
		if p.expires.Load() == nil {
			p.expires.Store(new([pageDocs]rows.Time))
			m.size.Add(8 * pageDocs)
		}
		p.expires.Load()[at] = expires
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

// putID writes the ID of a row: its length, then its bytes.
func (m *Table) putID(p *page, row int, id string) {
	before := m.ids.bytes() + m.rows.bytes()
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(id)))
	at, words := m.ids.alloc((n + len(id) + 7) / 8)
	b := memory.As[byte](words)
	copy(b[copy(b, length[:n]):], id)
	p.ids[row%pageDocs] = at
	m.rows.put(m.Key.Hash(id), row, func(row int) bool { return string(m.idBytes(row)) == id })
	m.size.Add(m.ids.bytes() + m.rows.bytes() - before)
}

// IndexAll ends the deferring of blocks.
func (m *Table) IndexAll() {
	m.Deferred = false
	m.index()
}

// EachPage calls yield with the fingerprints of rows [from, to), those of a page at a time, and the
// first of those rows, until it returns false.
func (m *Table) EachPage(from, to int, yield func(row int, prints []uint64) bool) {
	for from < to {
		end := min(to, from-from%pageDocs+pageDocs)
		if !yield(from, m.pages[from/pageDocs].Load().prints[from%pageDocs:][:end-from]) {
			return
		}
		from = end
	}
}

// page returns the page of a row, and its place there.
func (m *Table) page(row int) (*page, int) { return m.pages[row/pageDocs].Load(), row % pageDocs }

// Fingerprint returns that of a row.
func (m *Table) Fingerprint(row int) uint64 {
	p, at := m.page(row)
	return p.prints[at]
}

// idBytes returns the ID of a row, as long as the memtable is there; it is empty where the document
// has none.
func (m *Table) idBytes(row int) []byte {
	p, at := m.page(row)
	if p.ids == nil || p.ids[at] == 0 {
		return nil
	}
	b := memory.As[byte](m.ids.at(p.ids[at]))
	n, from := binary.Uvarint(b)
	return b[from:][:n]
}

// ID returns the ID of a row.
func (m *Table) ID(row int) string { return string(m.idBytes(row)) }

// Sketch returns the sketch of a row, nil where the memtable keeps none.
func (m *Table) Sketch(row int) *sketch.Sketch {
	if !m.Options.Sketches {
		return nil
	}
	p, at := m.page(row)
	return &p.sketches[at]
}

// Lookup returns the last document that has an ID. It is for the writer.
func (m *Table) Lookup(id string, hash uint64) (rows.DocID, bool) {
	row, ok := m.rows.row(hash, func(row int) bool { return string(m.idBytes(row)) == id })
	return m.First + rows.DocID(row), ok
}

// Expiry returns when a row expires.
func (m *Table) Expiry(row int) rows.Time {
	p, at := m.page(row)
	if all := p.expires.Load(); all != nil {
		return all[at]
	}
	return 0
}

// Expiries returns when its documents expire.
func (m *Table) Expiries() (e rows.Expiries) {
	for row := range m.Len() {
		e.Append(m.Expiry(row), 1)
	}
	return e
}

// Hides reports whether a reader of that moment, which began at now, does not see a document that the
// memtable has.
func (m *Table) Hides(doc rows.DocID, at rows.Moment, now rows.Time) bool {
	return m.Dead.Has(doc, at) || m.Expiry(int(doc-m.First)).Expired(now)
}

// Count returns how many documents of the memtable a view has, and how many it has that expired.
func (m *Table) Count(at rows.Moment, now rows.Time) (seen, expired uint64) {
	n := m.Before(at.Clock)
	for row := 0; row < n && now != 0; row++ {
		if m.pages[row/pageDocs].Load().expires.Load() == nil {
			row += pageDocs - 1 - row%pageDocs
		} else if m.Expiry(row).Expired(now) {
			expired++
		}
	}
	gone := m.Dead.Count(at, func(doc rows.DocID) bool {
		return int(doc-m.First) < n && !m.Expiry(int(doc-m.First)).Expired(now)
	})
	return uint64(n) - expired - gone, expired
}

// Before returns how many of its documents have numbers below a clock.
func (m *Table) Before(clock rows.DocID) int {
	if clock <= m.First {
		return 0
	}
	return int(min(rows.DocID(m.Len()), clock-m.First))
}

// Restore takes the deletion of a document back, and gives it its ID again.
func (m *Table) Restore(doc rows.DocID) {
	m.Dead.Remove(doc)
	row := int(doc - m.First)
	if id := m.ID(row); id != "" {
		m.rows.put(m.Key.Hash(id), row, func(row int) bool { return string(m.idBytes(row)) == id })
	}
}

// Bytes returns how much memory the memtable takes without its deletions.
func (m *Table) Bytes() uint64 { return m.size.Load() }

// IDBytes returns how much memory the IDs take.
func (m *Table) IDBytes() uint64 { return m.ids.bytes() }

// Memory returns how many bytes the memtable takes.
func (m *Table) Memory() uint64 { return m.size.Load() + m.Dead.Bytes() }

// Free gives its memory back. Nobody reads it any more.
func (m *Table) Free() {
	if b := m.blocks.Load(); b != nil {
		b.arena.free()
	}
	m.ids.free()
}

// idRows find the row of an ID in a memtable: a hash table with open addressing, which the writer
// alone uses, half full at most.
//
//	slot   high half of the hash | row + 1      0 is empty
type idRows struct {
	slots []uint64 // a power of two of them
	n     int
}

// row returns the row of the ID with that hash; is reports whether a row has that ID.
func (t *idRows) row(hash uint64, is func(row int) bool) (row int, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	at := t.find(hash, is)
	return int(uint32(t.slots[at])) - 1, t.slots[at] != 0
}

// find returns the slot of an ID, or the empty one where it would be.
func (t *idRows) find(hash uint64, is func(row int) bool) uint64 {
	mask := uint64(len(t.slots) - 1)
	for at := hash >> 32 & mask; ; at = (at + 1) & mask {
		s := t.slots[at]
		if s == 0 || s>>32 == hash>>32 && is(int(uint32(s))-1) {
			return at
		}
	}
}

// put gives an ID a row, in place of the one that it has.
func (t *idRows) put(hash uint64, row int, is func(row int) bool) {
	if 2*(t.n+1) > len(t.slots) {
		t.grow()
	}
	at := t.find(hash, is)
	if t.slots[at] == 0 {
		t.n++
	}
	t.slots[at] = hash>>32<<32 | uint64(row+1)
}

func (t *idRows) grow() {
	old := t.slots
	t.slots = make([]uint64, max(64, 2*len(old)))
	none := func(int) bool { return false } // all are different
	for _, s := range old {
		if s != 0 {
			t.slots[t.find(s, none)] = s
		}
	}
}

// bytes returns how much memory it takes.
func (t *idRows) bytes() uint64 { return 8 * uint64(len(t.slots)) }

// The newest rows of a memtable are in no block yet. Under the writer's lock a row is written
// behind the one before it, on a line that is mostly there, and whoever finds, with the lock given
// back, that some have come together puts them into blocks: at four places each in a hundred
// megabytes, of which the other processors have some, with misses that overlap. Searches look into
// the blocks for the rows that were in them when the search began, and scan the others:
//
//	rows     0 ............................ blocks.rows ........... n
//	         in blocks                      some are on their way
//	search   buckets, but for later rows  | scanned

const (
	// unindexedDocs that are in no block are put there by the next insert: a search scans them in
	// the time of a miss.
	unindexedDocs = 64
	// unindexedMax are as many as there may be: the insert that reaches them puts them into blocks
	// under the writer's lock.
	unindexedMax = scanDocs
)

// unindexed returns how many rows are to go into blocks: none before there are enough of them for
// blocks to be worth it.
func (m *Table) unindexed() int {
	n := m.Len()
	if b := m.blocks.Load(); b != nil {
		return n - int(b.rows.Load())
	}
	if n < scanDocs || m.K > blocksMax {
		return 0
	}
	return n
}

// index puts the rows into blocks that are in none, as far as they are there when it begins.
func (m *Table) index() {
	m.indexing.Lock()
	defer m.indexing.Unlock()
	m.indexLocked()
}

// indexLocked is index. The caller holds indexing.
func (m *Table) indexLocked() {
	n := m.Len()
	if m.unindexed() == 0 {
		return
	}
	b, before := m.blocks.Load(), uint64(0)
	if b == nil {
		b = newBlocks(m.K, m.likely)
		b.fill(n, func(yield func(int, []uint64) bool) { m.EachPage(0, n, yield) })
	} else {
		before = b.bytes()
		m.EachPage(int(b.rows.Load()), n, func(row int, prints []uint64) bool {
			b.append(row, prints)
			return true
		})
	}
	m.size.Add(b.bytes() - before)
	m.blocks.Store(b)
}

// IndexDue reports whether many rows are in no block.
func (m *Table) IndexDue() bool { return m.unindexed() >= unindexedDocs }

// TryIndex puts the rows into blocks that are in none, unless another goroutine does, and reports
// whether the memtable takes more memory then.
func (m *Table) TryIndex() (grown bool) {
	if !m.indexing.TryLock() {
		return false
	}
	defer m.indexing.Unlock()
	before := m.size.Load()
	m.indexLocked()
	return m.size.Load() != before
}

// append adds the fingerprints of rows from row on, behind all others: some at a time, whose misses
// overlap. There is one caller at a time.
func (b *blocks) append(row int, prints []uint64) {
	for some := range slices.Chunk(prints, unindexedDocs) {
		for few := range slices.Chunk(some, prefetchQueries) {
			b.prefetchHeads(few, len(b.heads)-1)
		}
		for _, f := range some {
			b.prefetchRoom(f)
		}
		for i, f := range some {
			b.add(f, uint32(row+i))
		}
		row += len(some)
		b.rows.Store(int64(row))
	}
}
