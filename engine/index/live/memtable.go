package live

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// memtableDocs documents fill a memtable: a query looks at some 16 of each of its buckets, and a
	// segment of them has 15 MB with two tables.
	memtableDocs = 1 << 20
	// pageDocs documents have their columns beside each other.
	pageDocs = 4096
	// scannedDocs fill one that is scanned whole by every query: some 30 microseconds.
	scannedDocs = 1 << 16
	// scanDocs fingerprints are scanned whole by every query, in a quarter of a microsecond with
	// AVX-512. Of more there are blocks.
	scanDocs = 1024
	// lineBytes has a cache line, and the one that processors fetch with it.
	lineBytes = 128
	// documentBytes is about what a document takes, with K = 3 and no ID.
	documentBytes = 160
)

// A memtable holds the newest documents, by row in order of arrival. One writer appends; readers see
// what is before their clock, and take no lock.
type memtable struct {
	first  DocID
	most   int // documents
	likely int // documents that it will have, where those take as much memory as they mostly do
	k      int // the index's K
	each   int // rows of a document, which stay together
	pages  []atomic.Pointer[page]
	blocks atomic.Pointer[blocks] // of all rows but the newest; nil while these are few, or all are scanned
	dead   tombstones

	key      *idKey // nil where documents have no IDs
	ids      arena
	rows     idRows // of the last document of each ID; the writer's
	lengths  bool   // are kept
	deferred bool   // the writer's: blocks are made when all is there
	versions int    // that have it; guarded by versions.mu

	_        [lineBytes]byte // what each insert writes is on no line that each search reads
	n        atomic.Int64
	size     atomic.Uint64 // bytes that it takes without tombstones
	indexing sync.Mutex    // held by who puts rows into blocks; nothing but memory is waited for under it
	_        [lineBytes]byte
}

// A page has some rows.
type page struct {
	prints  [pageDocs]uint64
	ids     []uint32 // addresses, 0 for none; nil where documents have no IDs
	lengths []uint32 // of texts; nil where they are not kept
	expires atomic.Pointer[[pageDocs]moment]
}

// newMemtable returns an empty memtable whose documents are numbered from first on.
func (x *Index) newMemtable(first DocID) *memtable {
	c := &x.config
	m := &memtable{first: first, most: int(c.memtableDocs()), k: c.Design.K, each: c.each(), lengths: c.Lengths, deferred: x.recovering}
	m.likely = min(m.most, int(x.memtableBytes()/documentBytes))
	m.pages = make([]atomic.Pointer[page], (m.most+pageDocs-1)/pageDocs)
	if c.IDs {
		m.key = &x.key
	}
	return m
}

func (m *memtable) len() int { return int(m.n.Load()) }

// end returns the DocID of the next document.
func (m *memtable) end() DocID { return m.first + DocID(m.len()) }

// add appends documents, and when they expire where some do, until the memtable is full or takes so
// many bytes, and returns how many: at least one where it is empty. Readers see them when the
// index's clock is beyond their numbers.
func (m *memtable) add(docs []Doc, expires []moment, bytes uint64) int {
	begin := m.len()
	row := begin
	for i := range docs {
		if row == m.most || row > 0 && row%m.each == 0 && m.size.Load() >= bytes {
			break
		}
		at := moment(0)
		if len(expires) > 0 {
			at = expires[i]
		}
		m.put(row, &docs[i], at)
		row++
	}
	m.n.Store(int64(row))
	if !m.deferred && m.unindexed() >= unindexedMax {
		m.index()
	}
	return row - begin
}

// put writes the next row.
func (m *memtable) put(row int, d *Doc, expires moment) {
	p := m.pages[row/pageDocs].Load()
	if p == nil {
		p = m.newPage(row / pageDocs)
	}
	at := row % pageDocs
	p.prints[at] = uint64(d.Fingerprint)
	if p.lengths != nil {
		p.lengths[at] = d.TextBytes
	}
	if expires != 0 {
		if p.expires.Load() == nil {
			p.expires.Store(new([pageDocs]moment))
			m.size.Add(8 * pageDocs)
		}
		p.expires.Load()[at] = expires
	}
	if p.ids != nil && d.ID != "" {
		m.putID(p, row, d.ID)
	}
}

func (m *memtable) newPage(number int) *page {
	p := new(page)
	size := uint64(8 * pageDocs)
	if m.key != nil {
		p.ids = make([]uint32, pageDocs)
		size += 4 * pageDocs
	}
	if m.lengths {
		p.lengths = make([]uint32, pageDocs)
		size += 4 * pageDocs
	}
	m.pages[number].Store(p)
	m.size.Add(size)
	return p
}

// putID writes the ID of a row: its length, then its bytes.
func (m *memtable) putID(p *page, row int, id string) {
	before := m.ids.bytes() + m.rows.bytes()
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(id)))
	at, words := m.ids.alloc((n + len(id) + 7) / 8)
	copy(bytesOf(words)[copy(bytesOf(words), length[:n]):], id)
	p.ids[row%pageDocs] = at
	m.rows.put(m.key.hash(id), row, func(row int) bool { return string(m.idBytes(row)) == id })
	m.size.Add(m.ids.bytes() + m.rows.bytes() - before)
}

// finish ends the deferring of blocks.
func (m *memtable) finish() {
	m.deferred = false
	m.index()
}

// eachPage calls yield with the fingerprints of rows [from, to), those of a page at a time, and the
// first of those rows, until it returns false.
func (m *memtable) eachPage(from, to int, yield func(row int, prints []uint64) bool) {
	for from < to {
		end := min(to, from-from%pageDocs+pageDocs)
		if !yield(from, m.pages[from/pageDocs].Load().prints[from%pageDocs:][:end-from]) {
			return
		}
		from = end
	}
}

// page returns the page of a row, and its place there.
func (m *memtable) page(row int) (*page, int) { return m.pages[row/pageDocs].Load(), row % pageDocs }

// fingerprint returns that of a row.
func (m *memtable) fingerprint(row int) uint64 {
	p, at := m.page(row)
	return p.prints[at]
}

// idBytes returns the ID of a row, as long as the memtable is there; it is empty where the document has none.
func (m *memtable) idBytes(row int) []byte {
	p, at := m.page(row)
	if p.ids == nil || p.ids[at] == 0 {
		return nil
	}
	b := bytesOf(m.ids.at(p.ids[at]))
	n, from := binary.Uvarint(b)
	return b[from:][:n]
}

// id returns the ID of a row.
func (m *memtable) id(row int) string { return string(m.idBytes(row)) }

// textBytes returns the length of the text of a row, 0 where it is not known.
func (m *memtable) textBytes(row int) uint32 {
	if !m.lengths {
		return 0
	}
	p, at := m.page(row)
	return p.lengths[at]
}

// allLengths returns those of all rows.
func (m *memtable) allLengths() []uint32 {
	list := make([]uint32, m.len())
	for row := 0; row < len(list); row += pageDocs {
		copy(list[row:], m.pages[row/pageDocs].Load().lengths)
	}
	return list
}

// holder returns the last document that has an ID. It is for the writer.
func (m *memtable) holder(id string, hash uint64) (DocID, bool) {
	row, ok := m.rows.row(hash, func(row int) bool { return string(m.idBytes(row)) == id })
	return m.first + DocID(row), ok
}

// expiry returns when a row expires.
func (m *memtable) expiry(row int) moment {
	p, at := m.page(row)
	if all := p.expires.Load(); all != nil {
		return all[at]
	}
	return 0
}

// expiries returns when its documents expire.
func (m *memtable) expiries() (e expiries) {
	for row := range m.len() {
		e.append(m.expiry(row), 1)
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
	n := m.before(w.clock)
	for row := 0; row < n && w.now != 0; row++ {
		if m.pages[row/pageDocs].Load().expires.Load() == nil {
			row += pageDocs - 1 - row%pageDocs
		} else if m.expiry(row).expired(w.now) {
			expired++
		}
	}
	gone := m.dead.count(func(doc, clock DocID) bool {
		return clock < w.clock && int(doc-m.first) < n && !m.expiry(int(doc-m.first)).expired(w.now)
	})
	return uint64(n) - expired - gone, expired
}

// before returns how many of its documents have numbers below a clock.
func (m *memtable) before(clock DocID) int {
	if clock <= m.first {
		return 0
	}
	return int(min(DocID(m.len()), clock-m.first))
}

// memory returns how many bytes the memtable takes.
func (m *memtable) memory() uint64 { return m.size.Load() + tombstoneBytes*m.dead.len() }

// free gives its memory back. Nobody reads it any more.
func (m *memtable) free() {
	if b := m.blocks.Load(); b != nil {
		b.free()
	}
	m.ids.free()
}

// memtableOf returns the memtable that a document is in, nil where none is.
func (v *version) memtableOf(doc DocID) *memtable {
	i, _ := slices.BinarySearchFunc(v.memtables, doc, func(m *memtable, doc DocID) int {
		if m.end() <= doc {
			return -1
		}
		return 1
	})
	if i < len(v.memtables) && doc >= v.memtables[i].first {
		return v.memtables[i]
	}
	return nil
}
