package version

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
	"ndd/engine/storage/idlist"
	"ndd/engine/storage/store"
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

// Set are those of an index. The current one is read without a lock; publish and reclaim
// count the versions that have a segment under mu.
type Set struct {
	current atomic.Pointer[Version] // nil when the index is closed
	slots   atomic.Uint32           // given to readers

	_         [memtable.CacheLine]byte
	Committed atomic.Uint64 // clock of the readers' moment,
	Deletions atomic.Uint64 // and its deletions
	_         [memtable.CacheLine]byte
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
		next.slots = make([]slot, 1<<bits.Len(uint(runtime.GOMAXPROCS(0)-1)))
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

// An Edit is one step from a version to the next: the segments and memtables that leave it, and
// those that join it. Building, opening, flushing, merging and placing are edits, and nothing else
// makes a version. Segments are removed by identity, never by their position in a list, so that
// edits of different documents may be prepared side by side.
type Edit struct {
	Remove          []*Segment
	RemoveMemtables []*memtable.Table
	Add             []*Segment
	AddMemtable     *memtable.Table
}

// Next returns the version that an edit makes of the current one.
func (w *Set) Next(e Edit) *Version {
	next := new(Version)
	if v := w.current.Load(); v != nil {
		next.Segments = slices.DeleteFunc(slices.Clone(v.Segments),
			func(s *Segment) bool { return slices.Contains(e.Remove, s) })
		next.Memtables = slices.DeleteFunc(slices.Clone(v.Memtables),
			func(m *memtable.Table) bool { return slices.Contains(e.RemoveMemtables, m) })
	}
	next.Segments = append(next.Segments, e.Add...)
	slices.SortFunc(next.Segments, func(a, b *Segment) int {
		return cmp.Or(cmp.Compare(a.From, b.From),
			cmp.Compare(a.End(), b.End()))
	})
	if e.AddMemtable != nil {
		next.Memtables = append(next.Memtables, e.AddMemtable)
	}
	next.Bytes = next.Memory()
	return next
}

// A View is what an index holds at one moment. It stays as it is, however the index changes or
// closes meanwhile, until it is released. It may be read by many goroutines, each with a [Searcher]
// of its own.
type View struct {
	versions *Set
	Version  *Version
	slot     uint32
	rows.Moment
	Now rows.Time // when it began: what expires by then is not seen
}

// View returns a view of the current version. Readers of one slot share a counter. The error is
// [ErrClosed].
func (w *Set) View(slot uint32) (View, error) {
	for {
		v, err := w.Hold(slot)
		if err != nil {
			return View{}, err
		}
		at := w.Moment()
		if w.current.Load() == v {
			return View{w, v, slot, at, w.Clock.Now()}, nil
		}
		w.Release(v, slot) // it may lack documents of the moment
	}
}

// Moment returns the readers' moment. An insert between the two loads would make a deletion seen that
// came after it, and not the insert.
func (w *Set) Moment() rows.Moment {
	for {
		clock, deletions := w.Committed.Load(), w.Deletions.Load()
		if w.Committed.Load() == clock {
			return rows.Moment{Clock: rows.DocID(clock), Deletions: deletions}
		}
	}
}

// Hides reports whether readers of a moment, which began at now, do not see a document.
func (v *Version) Hides(doc rows.DocID, at rows.Moment, now rows.Time) bool {
	if m := v.MemtableOf(doc); m != nil {
		return doc >= at.Clock || m.Hides(doc, at, now)
	}
	if s := v.SegmentOf(doc); s != nil {
		if row, ok := s.Numbers.Row(doc); ok {
			return s.Hides(row, doc, at, now)
		}
	}
	return true
}

// Release ends the view. Memory that only the view held is released.
func (w View) Release() { w.versions.Release(w.Version, w.slot) }

// Walk calls yield with all distinct fingerprints of the view, some at a time, until it returns
// false or ctx ends. One that was inserted again may come again, and one whose documents were all
// deleted, or have expired, comes until a merge drops them.
func (w View) Walk(ctx context.Context, yield func([]uint64) bool) error {
	going := true
	for i, s := range w.Version.Segments {
		if s.Fingerprints() == 0 || s.Expires.All(w.Now) {
			continue
		}
		err := s.Walk(func(prints []uint64) bool {
			going = ctx.Err() == nil && yield(prints)
			return going
		})
		if err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
		if !going {
			return ctx.Err()
		}
	}
	for _, m := range w.Version.Memtables {
		m.EachPage(0, m.Before(w.Clock), func(_ int, prints []uint64) bool {
			going = ctx.Err() == nil && yield(prints)
			return going
		})
		if !going {
			break
		}
	}
	return ctx.Err()
}

// ErrNoDocument is wrapped where a document was deleted, or replaced, and is gone: after a query
// found it, for example, and before its ID was looked up.
var ErrNoDocument = errors.New("no such document")

// An IDReader reads the IDs of the documents of one version at a time. It keeps a cursor for each
// segment.
type IDReader struct {
	version *Version
	cursors map[*Segment]*idlist.Cursor
}

// Row returns the ID of a row of a segment, which has IDs.
func (l *IDReader) Row(v *Version, s *Segment, row uint64) (string, error) {
	if l.version != v { // cursors of segments that are gone would keep their blocks
		l.version, l.cursors = v, make(map[*Segment]*idlist.Cursor)
	}
	c := l.cursors[s]
	if c == nil {
		c = s.Segment.IDs().Cursor()
		l.cursors[s] = c
	}
	return c.ID(row)
}

// Doc returns the ID of a document, empty where it has none. The error may be [ErrNoDocument].
func (l *IDReader) Doc(v *Version, doc rows.DocID) (id string, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	if s := v.SegmentOf(doc); s != nil {
		row, ok := s.Numbers.Row(doc)
		switch {
		case !ok:
			return "", ErrNoDocument
		case s.Segment.IDs() == nil:
			return "", nil
		}
		return l.Row(v, s, row)
	}
	if m := v.MemtableOf(doc); m != nil {
		return m.ID(int(doc - m.First)), nil
	}
	return "", ErrNoDocument
}

// IDs looks up the IDs of documents. It belongs to one goroutine.
type IDs struct {
	versions *Set
	slot     uint32
	view     *Version // to look in; nil: the current one
	reader   IDReader
}

// IDs returns a new look-up in the current version.
func (w *Set) IDs() *IDs { return &IDs{versions: w, slot: w.Slot()} }

// IDs returns a new look-up of the documents of the view, including those deleted since. It may be
// used until the view is released.
func (w View) IDs() *IDs {
	n := w.versions.IDs()
	n.view = w.Version
	return n
}

// ID returns the document's ID: its number in decimal when it has none, and nothing for
// [rows.NoDoc]. It costs about 10 microseconds, less for the next document of the same 256.
func (n *IDs) ID(doc rows.DocID) (_ string, err error) {
	if doc == rows.NoDoc {
		return "", nil
	}
	v := n.view
	if v == nil {
		if v, err = n.versions.Hold(n.slot); err != nil {
			return "", err
		}
		defer n.versions.Release(v, n.slot)
	}
	id, err := n.reader.Doc(v, doc)
	switch {
	case errors.Is(err, ErrNoDocument):
		return "", fmt.Errorf("document %d: %w", doc, err)
	case err != nil:
		return "", err
	}
	return cmp.Or(id, strconv.FormatUint(uint64(doc), 10)), nil
}
