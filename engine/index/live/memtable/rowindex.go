package memtable

import (
	"sync"
	"sync/atomic"

	"example.org/ndd/asm"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
)

const (
	// pageDocs is the number of documents of a page.
	pageDocs = 4096
	// scanDocs is the number of fingerprints up to which a memtable has no blocks: comparing all of them takes a
	// quarter of a microsecond with AVX-512.
	scanDocs = 1024
	// unindexedDocs is the number of rows outside blocks from which an insert moves them into blocks. A search scans
	// fewer in the time of a miss.
	unindexedDocs = 64
	// unindexedMax is the maximum number of rows outside blocks. The insert that reaches it moves them under the
	// writer's lock.
	unindexedMax = scanDocs
)

// pages store the rows of a memtable. One writer appends rows and then increases their number; readers see the rows
// before that number.
type pages struct {
	list []atomic.Pointer[page]
	_    [CacheLine]byte // inserts do not write to lines that searches read
	n    atomic.Int64    // number of rows
	size atomic.Uint64   // memory of the memtable in bytes, without tombstones
	_    [CacheLine]byte
}

// A page stores pageDocs rows.
type page struct {
	fingerprints [pageDocs]uint64
	ids          []uint32        // addresses of IDs, 0 for none; nil if documents have no IDs
	sketches     []sketch.Sketch // nil if the index keeps none
	expires      atomic.Pointer[[pageDocs]rows.Time]
}

// Len returns the number of rows.
func (p *pages) Len() int { return int(p.n.Load()) }

// page returns the page of a row, nil if it has none yet, and its index in the page.
func (p *pages) page(row int) (*page, int) { return p.list[row/pageDocs].Load(), row % pageDocs }

// EachPage calls yield with the fingerprints of rows [first, limit), page by page, and the first row of each page,
// until yield returns false.
func (p *pages) EachPage(first, limit int, yield func(row int, fingerprints []uint64) bool) {
	for first < limit {
		end := min(limit, first-first%pageDocs+pageDocs)
		if !yield(first, p.list[first/pageDocs].Load().fingerprints[first%pageDocs:][:end-first]) {
			return
		}
		first = end
	}
}

// A rowIndex finds the rows of a memtable that are near a query. The newest rows are not in blocks yet. Under the
// writer's lock, a row is written after the previous one, usually to a cached line. When enough rows have come
// together, a caller moves them into blocks after it has released the lock: to four buckets each, in a hundred
// megabytes, with misses that overlap. A search reads from the blocks the rows that were there when it began, and scans
// the others:
//
//	rows     0 ............................ blocks.rows ........... n
//	         in blocks                      some are on their way
//	search   buckets, without later rows  | scanned
type rowIndex struct {
	pages
	maxK   int                    // maximum distance of searches
	likely int                    // expected number of rows when the memtable is full
	blocks atomic.Pointer[blocks] // index of all rows except the newest; nil if all rows are scanned

	_        [CacheLine]byte // searches do not read the line of the lock
	indexing sync.Mutex      // held while rows are added to blocks
	_        [CacheLine]byte
}

// unindexed returns the number of rows to move into blocks: none before there are enough for blocks.
func (x *rowIndex) unindexed() int {
	n := x.Len()
	if b := x.blocks.Load(); b != nil {
		return n - int(b.rows.Load())
	}
	if n < scanDocs {
		return 0
	}
	return n
}

// IndexDue reports whether there are enough rows to move into blocks.
func (x *rowIndex) IndexDue() bool { return x.unindexed() >= unindexedDocs }

// TryIndex moves rows into blocks unless another goroutine does. It reports whether the blocks have grown.
func (x *rowIndex) TryIndex() (grown bool) {
	if !x.indexing.TryLock() {
		return false
	}
	defer x.indexing.Unlock()
	return x.indexLocked()
}

// index moves the rows that exist when it begins into blocks.
func (x *rowIndex) index() {
	x.indexing.Lock()
	defer x.indexing.Unlock()
	x.indexLocked()
}

// indexLocked moves the rows that exist when it begins into blocks, and reports whether these have grown. The caller
// holds indexing.
func (x *rowIndex) indexLocked() (grown bool) {
	n := x.Len()
	if x.unindexed() == 0 {
		return false
	}
	b, oldBytes := x.blocks.Load(), uint64(0)
	if b == nil {
		b = newBlocks(x.maxK, x.likely)
	} else {
		oldBytes = b.bytes()
	}
	x.EachPage(int(b.rows.Load()), n, func(row int, fingerprints []uint64) bool {
		b.append(row, fingerprints)
		return true
	})
	x.size.Add(b.bytes() - oldBytes)
	x.blocks.Store(b)
	return b.bytes() != oldBytes
}

// eachNear calls yield with each row before end, and perhaps with later ones, within k of a query until yield returns
// false. The rows of a fingerprint ascend.
func (x *rowIndex) eachNear(a *Search, end int, query uint64, yield func(f uint64, row uint32) bool) {
	start := 0 // first row to scan; it is read first, because other goroutines move rows into buckets
	if b := x.blocks.Load(); b != nil {
		if start = int(b.rows.Load()); !b.search(query, a.K, uint32(start), a.Positions, yield) {
			return
		}
	}
	x.scan(start, end, query, a.K, a.Positions, yield)
}

// scan calls yield with each of rows [start, end) that is within k of a query, in order, until yield returns false.
func (x *rowIndex) scan(start, end int, query uint64, k int, positions []uint32, yield func(f uint64, row uint32) bool) {
	x.EachPage(start, end, func(first int, fingerprints []uint64) bool {
		for row := 0; row < len(fingerprints); {
			n, done := asm.Within64(positions, fingerprints[row:], query, k)
			for _, p := range positions[:n] {
				if !yield(fingerprints[row+int(p)], uint32(first+row+int(p))) {
					return false
				}
			}
			row += done
		}
		return true
	})
}

// prefetch requests the buckets for some queries and, if heads is set, the heads of these buckets.
func (x *rowIndex) prefetch(queries []uint64, k int, heads bool) {
	b := x.blocks.Load()
	if b == nil {
		return
	}
	if heads {
		b.prefetchHeads(queries, k)
	}
	b.prefetchBuckets(queries, k)
}

// PrefetchHeads requests the heads and the unindexed rows that a search for a few queries reads.
func (x *rowIndex) PrefetchHeads(queries []uint64, k int) {
	if b := x.blocks.Load(); b != nil && len(queries) <= prefetchQueries {
		b.prefetchHeads(queries, k)
		x.prefetchUnindexed(int(b.rows.Load()))
	}
}

// prefetchUnindexed requests the rows from row first on. Another processor may have written the last ones.
func (x *rowIndex) prefetchUnindexed(first int) {
	x.EachPage(first, x.Len(), func(_ int, fingerprints []uint64) bool {
		asm.PrefetchAll(fingerprints)
		return false
	})
}
