package live

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// ErrClosed is returned by every call of an index that is closed.
var ErrClosed = errors.New("the index is closed")

// A version is what a reader sees. It never changes, but for the last memtable, which grows. A
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
type version struct {
	segments  []*Segment  // ascending by DocID, disjoint
	memtables []*memtable // behind them, ascending; the last one takes inserts
	bytes     uint64      // of memory that they take, beside files; guarded by writer.mu
	slots     []slot      // a power of two of them
	retired   atomic.Bool
}

// newest returns the memtable that takes inserts.
func (v *version) newest() *memtable { return v.memtables[len(v.memtables)-1] }

// end returns the number of the next document.
func (v *version) end() DocID { return v.newest().end() }

// A slot counts some of the readers that hold a version.
type slot struct {
	atomic.Int64
	_ [120]byte // processors fetch lines in pairs
}

// versions are those of an index. The current one is read without a lock; publish and reclaim
// count the versions that have a segment under mu.
type versions struct {
	current atomic.Pointer[version] // nil when the index is closed
	slots   atomic.Uint32           // given to readers

	mu      sync.Mutex // the innermost lock: nothing is waited for under it but the unmapping of segments
	retired []*version // that readers may hold
}

// slot returns the number of a slot for a new reader.
func (w *versions) slot() uint32 { return w.slots.Add(1) }

// slot returns the counter of a reader with that number.
func (v *version) slot(number uint32) *slot { return &v.slots[number&uint32(len(v.slots)-1)] }

// hold returns the current version, which stays as it is until it is released with the same slot.
// The error is [ErrClosed].
func (w *versions) hold(slot uint32) (*version, error) {
	for {
		v := w.current.Load()
		if v == nil {
			return nil, ErrClosed
		}
		v.slot(slot).Add(1)
		if w.current.Load() == v {
			return v, nil // whoever retires it finds this reader counted
		}
		w.release(v, slot)
	}
}

// release ends a hold. The last to release a retired version has it freed, by another goroutine:
// a gigabyte takes milliseconds.
func (w *versions) release(v *version, slot uint32) {
	if v.slot(slot).Add(-1) == 0 && v.retired.Load() && v.idle() {
		go w.reclaim()
	}
}

// idle reports whether no reader holds a retired version any more. Such a version gets no new
// readers, so that its slots may be read one by one.
func (v *version) idle() bool {
	for i := range v.slots {
		if v.slots[i].Load() != 0 {
			return false
		}
	}
	return true
}

// publish makes next the current version; nil closes the index. Callers take turns. The error is
// one of giving memory back.
func (w *versions) publish(next *version) error {
	w.mu.Lock()
	if next != nil {
		slots := 1
		for slots < runtime.GOMAXPROCS(0) {
			slots *= 2
		}
		next.slots = make([]slot, slots)
		for _, s := range next.segments {
			s.versions++
		}
		for _, m := range next.memtables {
			m.versions++
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

// reclaim closes the segments, and frees the memtables, that are only in retired versions that nobody holds.
func (w *versions) reclaim() (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.retired[:0]
	for _, v := range w.retired {
		if !v.idle() {
			kept = append(kept, v)
			continue
		}
		for _, s := range v.segments {
			if s.versions--; s.versions == 0 {
				err = errors.Join(err, s.close())
			}
		}
		for _, m := range v.memtables {
			if m.versions--; m.versions == 0 {
				m.free()
			}
		}
	}
	clear(w.retired[len(kept):])
	w.retired = kept
	return err
}

// held returns how many retired versions readers still hold.
func (w *versions) held() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.retired)
}
