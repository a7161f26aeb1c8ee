package live

import (
	"sync"
	"sync/atomic"
)

// tombstones are the documents of a segment or a memtable that were deleted, each with the clock of
// its deletion. The clock of an index is the number of its next document: a reader that began when
// that was c sees the deletions with a clock below c. So a document that replaces an earlier one of
// its ID, under number c, is seen exactly by those readers who no longer see the earlier one.
//
// A tombstone takes about 40 bytes until a merge drops its document. Writers hold the index's lock.
type tombstones struct {
	n    atomic.Int64 // of them, for readers to see that there are none
	mu   sync.RWMutex
	dead map[DocID]DocID // clock by document
}

// add deletes a document at a clock, unless it is deleted already.
func (t *tombstones) add(doc, clock DocID) bool {
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

// remove takes a deletion back.
func (t *tombstones) remove(doc DocID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.dead[doc]; ok {
		delete(t.dead, doc)
		t.n.Add(-1)
	}
}

// len returns how many documents are deleted.
func (t *tombstones) len() uint64 { return uint64(t.n.Load()) }

// has reports whether a reader with that clock sees the document deleted.
func (t *tombstones) has(doc, clock DocID) bool {
	if t.n.Load() == 0 {
		return false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	c, ok := t.dead[doc]
	return ok && c < clock
}

// count returns for how many of them, documents and the clocks of their deletions, that is true.
func (t *tombstones) count(is func(doc, clock DocID) bool) (n uint64) {
	if t.n.Load() == 0 {
		return 0
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for doc, clock := range t.dead {
		if is(doc, clock) {
			n++
		}
	}
	return n
}

// each calls f with each of them and the clock of its deletion. No deletion comes meanwhile.
func (t *tombstones) each(f func(doc, clock DocID)) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for doc, clock := range t.dead {
		f(doc, clock)
	}
}
