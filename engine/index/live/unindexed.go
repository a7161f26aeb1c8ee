package live

import "slices"

// The newest rows of a memtable are in no block yet. Under the writer's lock a row is written behind the one before it, on a line that
// is mostly there, and whoever finds, with the lock given back, that some have come together puts them into blocks: at four places
// each in a hundred megabytes, of which the other processors have some, with misses that overlap. Searches look into the blocks for the
// rows that were in them when the search began, and scan the others:
//
//	rows     0 ............................ blocks.rows ........... n
//	         in blocks                      some are on their way
//	search   buckets, but for later rows  | scanned

const (
	// unindexedDocs that are in no block are put there by the next insert: a search scans them in the time of a miss.
	unindexedDocs = 64
	// unindexedMax are as many as there may be: the insert that reaches them puts them into blocks under the writer's lock.
	unindexedMax = scanDocs
)

// unindexed returns how many rows are to go into blocks: none before there are enough of them for blocks to be worth it.
func (m *memtable) unindexed() int {
	n := m.len()
	if b := m.blocks.Load(); b != nil {
		return n - int(b.rows.Load())
	}
	if n < scanDocs || m.k > blocksMax {
		return 0
	}
	return n
}

// index puts the rows into blocks that are in none, as far as they are there when it begins.
func (m *memtable) index() {
	m.indexing.Lock()
	defer m.indexing.Unlock()
	m.indexLocked()
}

// indexLocked is index. It needs m.indexing.
func (m *memtable) indexLocked() {
	n := m.len()
	if m.unindexed() == 0 {
		return
	}
	b, before := m.blocks.Load(), uint64(0)
	if b == nil {
		b = newBlocks(m.k, m.likely)
		b.fill(n, func(yield func(int, []uint64) bool) { m.eachPage(0, n, yield) })
	} else {
		before = b.bytes()
		m.eachPage(int(b.rows.Load()), n, func(row int, prints []uint64) bool {
			b.append(row, prints)
			return true
		})
	}
	m.size.Add(b.bytes() - before)
	m.blocks.Store(b)
}

// append adds the fingerprints of rows from row on, behind all others: some at a time, whose misses overlap. There is one caller at a
// time.
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

// index puts the newest documents into blocks where many have come together, unless somebody else does. Whoever has inserted calls
// it behind the writer's lock, with a reader's slot.
func (x *Index) index(slot uint32) {
	if v := x.current.Load(); v == nil || v.newest().unindexed() < unindexedDocs {
		return // closed, or as a rule; only the memory of blocks needs a hold
	}
	v, err := x.hold(slot)
	if err != nil {
		return
	}
	m := v.newest()
	if !m.indexing.TryLock() {
		x.release(v, slot)
		return
	}
	before := m.size.Load()
	m.indexLocked()
	grown := m.size.Load() != before
	m.indexing.Unlock()
	x.release(v, slot)
	if !grown {
		return
	}
	x.writer.acquire()
	if x.current.Load() != nil {
		x.grown()
	}
	x.writer.mu.Unlock()
}
