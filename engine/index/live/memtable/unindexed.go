package memtable

import "slices"

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
