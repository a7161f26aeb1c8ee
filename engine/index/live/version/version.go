package version

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
)

// ErrClosed is returned by every call of an index that is closed.
var ErrClosed = errors.New("the index is closed")

// A Version is what a reader sees. It never changes, but for the last memtable, which grows. A
// reader holds a version while it reads; a segment's memory is given back when it is in no version
// that is current or held:
//
//	writer   next --publish--> current    the one before --> retired
//	reader   hold: count, still current?  ...reads...        release: uncount, retired?
//	last of both                                             reclaim: unmap what no version has
//
// Readers count themselves in one of several slots, each on cache lines of its own: a [Searcher]
// keeps to one, and a pool gives each processor a searcher of its own, so that processors do not
// take lines from each other. Two locked additions are 17 ns together, where a query takes 1,000
// at least (BenchmarkHold).
type Version struct {
	Segments  []*Segment        // ascending by DocID, disjoint
	Memtables []*memtable.Table // behind them, ascending; the last one takes inserts
	Bytes     uint64            // of memory that they take, beside files; guarded by writer.mu
	slots     []slot            // a power of two of them
	retired   atomic.Bool
}

// Newest returns the memtable that takes inserts.
func (v *Version) Newest() *memtable.Table { return v.Memtables[len(v.Memtables)-1] }

// End returns the number of the next document.
func (v *Version) End() rows.DocID { return v.Newest().End() }

// MemtableOf returns the memtable that a document is in, nil where none is.
func (v *Version) MemtableOf(doc rows.DocID) *memtable.Table {
	i, _ := slices.BinarySearchFunc(v.Memtables, doc, func(m *memtable.Table, doc rows.DocID) int {
		if m.End() <= doc {
			return -1
		}
		return 1
	})
	if i < len(v.Memtables) && doc >= v.Memtables[i].First {
		return v.Memtables[i]
	}
	return nil
}

// InMemory returns how many documents of the version are in no file.
func (v *Version) InMemory() (docs uint64) {
	for _, s := range v.Segments {
		if s.File == nil {
			docs += s.Documents()
		}
	}
	return docs + v.Buffered()
}

// Buffered returns how many documents of the version are in memtables.
func (v *Version) Buffered() (docs uint64) {
	for _, m := range v.Memtables {
		docs += uint64(m.Len())
	}
	return docs
}

// SegmentOf returns the segment that a document is in, or was, if any.
func (v *Version) SegmentOf(doc rows.DocID) *Segment {
	i, found := slices.BinarySearchFunc(v.Segments, doc, func(s *Segment, doc rows.DocID) int {
		switch {
		case s.End() <= doc:
			return -1
		case s.From > doc:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return v.Segments[i]
}

// Memory returns how many bytes the version takes beside the files of segments.
func (v *Version) Memory() (bytes uint64) {
	for _, s := range v.Segments {
		bytes += s.memory()
	}
	for _, m := range v.Memtables {
		bytes += m.Memory()
	}
	return bytes
}

// Documents returns how many documents the version has, deleted ones among them.
func (v *Version) Documents() (docs uint64) {
	for _, s := range v.Segments {
		docs += s.Documents()
	}
	return docs + v.Buffered()
}

// A slot counts some of the readers that hold a version.
type slot struct {
	atomic.Int64
	_ [120]byte // processors fetch lines in pairs
}

// CacheLine is the size of a cache line and the one that processors fetch with it.
const CacheLine = 128

// Set are those of an index. The current one is read without a lock; publish and reclaim
// count the versions that have a segment under mu.
type Set struct {
	current atomic.Pointer[Version] // nil when the index is closed
	slots   atomic.Uint32           // given to readers

	_         [CacheLine]byte
	Committed atomic.Uint64 // readers' clock: the number of the first document that they do not see
	_         [CacheLine]byte
	Clock     rows.Clock

	mu      sync.Mutex  // the innermost lock: nothing is waited for under it but the unmapping of segments
	retired []*Version  // that readers may hold
	holds   map[any]int // versions that have each segment and memtable
}

// Current returns the current version, nil when the index is closed. A caller that holds no lock of
// the writer reads only its memtables' counters: hold keeps the rest.
func (w *Set) Current() *Version { return w.current.Load() }

// Slot returns the number of a slot for a new reader.
func (w *Set) Slot() uint32 { return w.slots.Add(1) }

// slot returns the counter of a reader with that number.
func (v *Version) slot(number uint32) *slot { return &v.slots[number&uint32(len(v.slots)-1)] }

// Hold returns the current version, which stays as it is until it is released with the same slot.
// The error is [ErrClosed].
func (w *Set) Hold(slot uint32) (*Version, error) {
	for {
		v := w.current.Load()
		if v == nil {
			return nil, ErrClosed
		}
		v.slot(slot).Add(1)
		if w.current.Load() == v {
			return v, nil // whoever retires it finds this reader counted
		}
		w.Release(v, slot)
	}
}

// Release ends a hold. The last to release a retired version has it freed, by another goroutine:
// a gigabyte takes milliseconds.
func (w *Set) Release(v *Version, slot uint32) {
	if v.slot(slot).Add(-1) == 0 && v.retired.Load() && v.idle() {
		go w.reclaim()
	}
}

// idle reports whether no reader holds a retired version any more. Such a version gets no new
// readers, so that its slots may be read one by one.
func (v *Version) idle() bool {
	for i := range v.slots {
		if v.slots[i].Load() != 0 {
			return false
		}
	}
	return true
}

// Publish makes next the current version; nil closes the index. Callers take turns. The error is
// one of giving memory back.
func (w *Set) Publish(next *Version) error {
	w.mu.Lock()
	if next != nil {
		slots := 1
		for slots < runtime.GOMAXPROCS(0) {
			slots *= 2
		}
		next.slots = make([]slot, slots)
		if w.holds == nil {
			w.holds = map[any]int{}
		}
		for _, s := range next.Segments {
			w.holds[s]++
		}
		for _, m := range next.Memtables {
			w.holds[m]++
		}
	}
	before := w.current.Swap(next)
	if before != nil {
		before.retired.Store(true) // and looked at afterwards: either we or its last reader sees the other
		w.retired = append(w.retired, before)
	}
	w.mu.Unlock()
	return w.reclaim()
}

// reclaim closes the segments, and frees the memtables, that are only in retired versions that
// nobody holds.
func (w *Set) reclaim() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.retired[:0]
	for _, v := range w.retired {
		if !v.idle() {
			kept = append(kept, v)
			continue
		}
		for _, s := range v.Segments {
			if w.forget(s) {
				err = errors.Join(err, s.Close())
			}
		}
		for _, m := range v.Memtables {
			if w.forget(m) {
				m.Free()
			}
		}
	}
	clear(w.retired[len(kept):])
	w.retired = kept
	return err
}

// forget counts one version less that has a segment or a memtable, and reports whether it was the
// last. The caller holds mu.
func (w *Set) forget(part any) bool {
	if w.holds[part]--; w.holds[part] > 0 {
		return false
	}
	delete(w.holds, part)
	return true
}

// Held returns how many retired versions readers still hold.
func (w *Set) Held() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.retired)
}
