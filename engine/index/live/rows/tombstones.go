package rows

import (
	"sync"
	"sync/atomic"
)

// Tombstones are the documents of a segment or a memtable that were deleted, each with the clock of
// its deletion. The clock of an index is the number of its next document: a reader that began when
// that was c sees the deletions with a clock below c. So a document that replaces an earlier one of
// its ID, under number c, is seen exactly by those readers who no longer see the earlier one.
//
// A tombstone takes about 40 bytes until a merge drops its document. Writers hold the index's lock.
type Tombstones struct {
	n    atomic.Int64 // of them, for readers to see that there are none
	mu   sync.RWMutex
	dead map[DocID]DocID // clock by document
}

// Add deletes a document at a clock, unless it is deleted already.
func (t *Tombstones) Add(doc, clock DocID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.dead[doc]; ok {
		return false
	}
	if t.dead == nil {
		t.dead = make(map[DocID]DocID)
	}
	t.dead[doc] = clock
	t.n.Add(1)
	return true
}

// Remove takes a deletion back.
func (t *Tombstones) Remove(doc DocID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.dead[doc]; ok {
		delete(t.dead, doc)
		t.n.Add(-1)
	}
}

// Len returns how many documents are deleted.
func (t *Tombstones) Len() uint64 { return uint64(t.n.Load()) }

// tombstoneBytes is the memory of one deletion in the map.
const tombstoneBytes = 48

// Bytes returns the memory of all deletions.
func (t *Tombstones) Bytes() uint64 { return tombstoneBytes * t.Len() }

// Has reports whether a reader with that clock sees the document deleted.
func (t *Tombstones) Has(doc, clock DocID) bool {
	if t.n.Load() == 0 {
		return false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	c, ok := t.dead[doc]
	return ok && c < clock
}

// Each calls f with each of them and the clock of its deletion. No deletion comes meanwhile.
func (t *Tombstones) Each(f func(doc, clock DocID)) {
	if t.n.Load() == 0 {
		return
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for doc, clock := range t.dead {
		f(doc, clock)
	}
}
