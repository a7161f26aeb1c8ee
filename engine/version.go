package engine

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"ndd/engine/index/segment"
	"ndd/engine/index/worker"
)

// A version is what a reader sees: immutable, but for the last buffer, which
// grows. A reader holds a version while it reads; a segment's memory is given
// back when no version has it that is current or held:
//
//	writer   next --swap--> current    before --retire--> retired
//	reader   hold: count, current still?    ...reads...    release: uncount, retired?
//	last of both                                           reclaim: unmap what no version has
//
// Readers count themselves in one of several counters, each on lines of its
// own: a scratch keeps to one, and a pool gives a processor its own scratch, so
// that processors do not take lines from each other. Two locked additions are 17 ns
// together, where a query takes 1,000 at least (BenchmarkHold).
type version struct {
	segments []*placed
	buffers  []*buffer

	readers []readers // of a power of two
	retired atomic.Bool
}

// readers counts some of those that hold a version.
type readers struct {
	atomic.Int64
	_ [120]byte // processors fetch lines in pairs
}

// placed is a segment whose document of row 0 is number first.
type placed struct {
	*segment.Segment
	first    DocID
	workers  *worker.Segment // who search it; nil when whoever asks does
	free     func() error    // gives its memory back; nil when that is the heap
	versions int             // that have it; guarded by versions.books
}

// close frees the segment, which nobody reads any more.
func (p *placed) close() error {
	p.Segment.Close()
	if p.free == nil {
		return nil
	}
	return p.free()
}

// versions are those of an index.
type versions struct {
	current atomic.Pointer[version] // nil when the index is closed
	places  atomic.Uint32           // given to readers

	books   sync.Mutex
	retired []*version // that readers may hold
}

// place is which of a version's counters a new reader counts in.
func (w *versions) place() uint32 { return w.places.Add(1) }

// at is the counter of a place.
func (v *version) at(place uint32) *readers { return &v.readers[place&uint32(len(v.readers)-1)] }

// hold is the current version, which stays as it is until released with the
// same place. The error is ErrClosed.
func (w *versions) hold(place uint32) (*version, error) {
	for {
		v := w.current.Load()
		if v == nil {
			return nil, ErrClosed
		}
		v.at(place).Add(1)
		if w.current.Load() == v {
			return v, nil // whoever retires it finds us counted
		}
		w.release(v, place)
	}
}

// release ends a hold. The last to release a retired version has it freed, by
// another goroutine: a gigabyte takes milliseconds.
func (w *versions) release(v *version, place uint32) {
	if v.at(place).Add(-1) == 0 && v.retired.Load() && v.idle() {
		go w.reclaim()
	}
}

// idle is true when no reader holds a version that is not current any more:
// such a version gets no new readers, so that counters may be read one by one.
func (v *version) idle() bool {
	for i := range v.readers {
		if v.readers[i].Load() != 0 {
			return false
		}
	}
	return true
}

// swap makes next, of segments and buffers, the current version. Callers take
// turns. The error is one of giving memory back.
func (w *versions) swap(next *version) error {
	w.books.Lock()
	if next != nil {
		counters := 1
		for counters < runtime.GOMAXPROCS(0) {
			counters *= 2
		}
		next.readers = make([]readers, counters)
		for _, p := range next.segments {
			p.versions++
		}
	}
	before := w.current.Swap(next)
	if before != nil {
		before.retired.Store(true) // and then looked at: one of us and its last reader sees the other
		w.retired = append(w.retired, before)
	}
	w.books.Unlock()
	return w.reclaim()
}

// reclaim frees what only versions have that nobody holds.
func (w *versions) reclaim() (err error) {
	w.books.Lock()
	defer w.books.Unlock()
	kept := w.retired[:0]
	for _, v := range w.retired {
		if !v.idle() {
			kept = append(kept, v)
			continue
		}
		for _, p := range v.segments {
			if p.versions--; p.versions == 0 {
				err = errors.Join(err, p.close())
			}
		}
	}
	clear(w.retired[len(kept):])
	w.retired = kept
	return err
}
