package version

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"

	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/storage/idlist"
	"example.org/ndd/engine/storage/store"
)

// ErrClosed is the error of every call of a closed index.
var ErrClosed = errors.New("the index is closed")

// A Version is the set of segments and memtables that a reader sees. It never changes, except that the last memtable
// grows. A reader holds a version while it reads. A segment's memory is freed when no current or held version has it:
//
//	writer   next --publish--> current    the one before --> retired
//	reader   hold: count, still current?  ...reads...        release: uncount, retired?
//	last of both                                             reclaim: unmap what no version has
//
// Readers count themselves in one of several slots, each on its own cache lines. A searcher always uses the same
// slot, and a pool gives each processor its own searcher, so that processors do not share these lines. Two locked
// additions take 17 ns together; a query takes at least 1,000 ns (BenchmarkHold).
type Version struct {
	Segments  []*Segment        // ascending by DocID, disjoint
	Memtables []*memtable.Table // numbered after Segments, ascending; the last one takes inserts
	Bytes     uint64            // memory in use, without mapped files; guarded by writer.mu
	slots     []slot            // their number is a power of two
	retired   atomic.Bool
}

// Newest returns the memtable that takes inserts.
func (v *Version) Newest() *memtable.Table { return v.Memtables[len(v.Memtables)-1] }

// End returns the number of the next document.
func (v *Version) End() rows.DocID { return v.Newest().End() }

// MemtableOf returns the memtable of a document, or nil.
func (v *Version) MemtableOf(doc rows.DocID) *memtable.Table {
	i := sort.Search(len(v.Memtables), func(i int) bool { return v.Memtables[i].End() > doc })
	if i < len(v.Memtables) && doc >= v.Memtables[i].First {
		return v.Memtables[i]
	}
	return nil
}

// InMemory returns the number of documents that are in no file.
func (v *Version) InMemory() (docs uint64) {
	for _, s := range v.Segments {
		if s.File == nil {
			docs += s.Documents()
		}
	}
	return docs + v.Buffered()
}

// Buffered returns the number of documents in memtables.
func (v *Version) Buffered() (docs uint64) {
	for _, m := range v.Memtables {
		docs += uint64(m.Len())
	}
	return docs
}

// SegmentOf returns the segment that has or had a document, or nil.
func (v *Version) SegmentOf(doc rows.DocID) *Segment {
	i := sort.Search(len(v.Segments), func(i int) bool { return v.Segments[i].End() > doc })
	if i < len(v.Segments) && doc >= v.Segments[i].FirstDoc {
		return v.Segments[i]
	}
	return nil
}

// Memory returns the memory of the version in bytes, without mapped files.
func (v *Version) Memory() (bytes uint64) {
	for _, s := range v.Segments {
		bytes += s.memory()
	}
	for _, m := range v.Memtables {
		bytes += m.Memory()
	}
	return bytes
}

// Row returns the segment and the row of a document. ok is false if no segment has it.
func (v *Version) Row(doc rows.DocID) (s *Segment, row uint64, ok bool) {
	if s = v.SegmentOf(doc); s != nil {
		row, ok = s.Numbers.Row(doc)
	}
	return s, row, ok
}

// Documents returns the number of documents, including deleted ones.
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

// Set holds the versions of an index. Readers load the current one without a lock. Publish and reclaim count, under mu,
// the versions that have each segment.
type Set struct {
	current atomic.Pointer[Version] // nil if the index is closed
	slots   atomic.Uint32           // number of slots that readers received

	_         [memtable.CacheLine]byte
	committed atomic.Uint64 // clock of the readers' moment
	deletions atomic.Uint64 // deletions of that moment
	_         [memtable.CacheLine]byte
	Clock     rows.Clock

	mu      sync.Mutex  // innermost lock, held only for memory accesses and unmapping
	retired []*Version  // retired versions that readers may hold
	holds   map[any]int // number of versions that have each segment and memtable
}

// Current returns the current version, nil if the index is closed. Without a lock of the writer or a hold, the caller
// may only read the counters of its memtables.
func (w *Set) Current() *Version { return w.current.Load() }

// Slot returns the number of a slot for a new reader.
func (w *Set) Slot() uint32 { return w.slots.Add(1) }

// slot returns the counter of a reader with that number.
func (v *Version) slot(number uint32) *slot { return &v.slots[number&uint32(len(v.slots)-1)] }

// Hold returns the current version and keeps it valid until it is released with the same slot. It fails with
// [ErrClosed].
func (w *Set) Hold(slot uint32) (*Version, error) {
	for {
		v := w.current.Load()
		if v == nil {
			return nil, ErrClosed
		}
		v.slot(slot).Add(1)
		if w.current.Load() == v {
			return v, nil // a later retirement sees this reader
		}
		w.Release(v, slot)
	}
}

// Release ends a hold. The last release of a retired version frees it in another goroutine, because freeing a gigabyte
// takes milliseconds.
func (w *Set) Release(v *Version, slot uint32) {
	if v.slot(slot).Add(-1) == 0 && v.retired.Load() && v.idle() {
		go w.reclaim()
	}
}

// idle reports whether no reader holds a retired version. Such a version gets no new readers, so its slots may be read
// one by one.
func (v *Version) idle() bool {
	for i := range v.slots {
		if v.slots[i].Load() != 0 {
			return false
		}
	}
	return true
}

// Publish makes next the current version; nil closes the index. Calls must not be concurrent. It returns errors of
// freeing memory.
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
	old := w.current.Swap(next)
	if old != nil {
		old.retired.Store(true) // set before slots are read: either we or its last reader frees it
		w.retired = append(w.retired, old)
	}
	w.mu.Unlock()
	return w.reclaim()
}

// reclaim closes the segments and frees the memtables that only retired versions without readers have.
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

// forget decrements the number of versions that have a segment or memtable, and reports whether it is 0. The caller
// holds mu.
func (w *Set) forget(part any) bool {
	if w.holds[part]--; w.holds[part] > 0 {
		return false
	}
	delete(w.holds, part)
	return true
}

// HeldVersions returns the number of retired versions that readers still hold.
func (w *Set) HeldVersions() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.retired)
}

// An Edit is a step from a version to the next: the segments and memtables to remove and to add. Building, opening,
// flushing, merging and placing are edits; nothing else makes a version. Segments are removed by identity, not by
// position, so that edits of different documents may be prepared concurrently.
type Edit struct {
	Remove          []*Segment
	RemoveMemtables []*memtable.Table
	Add             []*Segment
	AddMemtable     *memtable.Table
}

// Next returns the result of an edit of the current version.
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
		return cmp.Or(cmp.Compare(a.FirstDoc, b.FirstDoc),
			cmp.Compare(a.End(), b.End()))
	})
	if e.AddMemtable != nil {
		next.Memtables = append(next.Memtables, e.AddMemtable)
	}
	next.Bytes = next.Memory()
	return next
}

// A View is the state of an index at one moment. It does not change until it is released, even if the index changes or
// closes. Many goroutines may read it, each with its own searcher.
type View struct {
	versions *Set
	Version  *Version
	slot     uint32
	rows.Moment
	Now rows.Time // time of the view: documents that expire by then are hidden
}

// View returns a view of the current version. Readers of one slot share a counter. It fails with [ErrClosed].
func (w *Set) View(slot uint32) (View, error) {
	for {
		v, err := w.Hold(slot)
		if err != nil {
			return View{}, err
		}
		moment := w.Moment()
		if w.current.Load() == v {
			return View{w, v, slot, moment, w.Clock.Now()}, nil
		}
		w.Release(v, slot) // it may lack documents of the moment
	}
}

// Commit shows all changes to readers at once. A change either replaces documents or only deletes some, so one of the
// two stores shows it. Calls must not be concurrent.
func (w *Set) Commit() {
	w.deletions.Add(1)
	w.committed.Store(uint64(w.Current().End()))
}

// NextDeletion returns the deletion of a request that the next commit shows.
func (w *Set) NextDeletion() rows.Deletion { return rows.DeletedBy(w.deletions.Load() + 1) }

// Latest returns a view of all changes, even of those that are not committed. It is not held: the caller prevents
// changes and edits while it uses the view.
func (w *Set) Latest() View {
	v := w.Current()
	return View{Version: v, Moment: rows.Moment{Clock: v.End(), Deletions: w.deletions.Load()}, Now: w.Clock.Now()}
}

// Moment returns the moment of readers. An insert between the two loads would show a later deletion without the insert.
func (w *Set) Moment() rows.Moment {
	for {
		clock, deletions := w.committed.Load(), w.deletions.Load()
		if w.committed.Load() == clock {
			return rows.Moment{Clock: rows.DocID(clock), Deletions: deletions}
		}
	}
}

// Hides reports whether a document is hidden from readers of a moment. The readers began at now.
func (v *Version) Hides(doc rows.DocID, moment rows.Moment, now rows.Time) bool {
	if m := v.MemtableOf(doc); m != nil {
		return doc >= moment.Clock || m.Hides(doc, moment, now)
	}
	s, row, ok := v.Row(doc)
	return !ok || s.Hides(row, doc, moment, now)
}

// Release ends the view. Memory that only the view held is released.
func (w View) Release() { w.versions.Release(w.Version, w.slot) }

// Walk calls yield with all distinct fingerprints of the view, some at a time, until yield returns false or ctx ends.
// It may repeat a fingerprint that was inserted again. It includes fingerprints without visible documents until a merge
// drops them.
func (w View) Walk(ctx context.Context, yield func([]uint64) bool) error {
	ok := true
	for i, s := range w.Version.Segments {
		if s.Fingerprints() == 0 || s.Expires.All(w.Now) {
			continue
		}
		err := s.Walk(func(fingerprints []uint64) bool {
			ok = ctx.Err() == nil && yield(fingerprints)
			return ok
		})
		if err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
		if !ok {
			return ctx.Err()
		}
	}
	for _, m := range w.Version.Memtables {
		m.EachPage(0, m.Before(w.Clock), func(_ int, fingerprints []uint64) bool {
			ok = ctx.Err() == nil && yield(fingerprints)
			return ok
		})
		if !ok {
			break
		}
	}
	return ctx.Err()
}

// ErrNoDocument is wrapped if a document was deleted or replaced, for example after a query found it and before its ID
// was read.
var ErrNoDocument = errors.New("no such document")

// An IDReader reads the IDs of documents of one version at a time. It keeps a cursor for each segment.
type IDReader struct {
	version *Version
	cursors map[*Segment]*idlist.Cursor
}

// Row returns the ID of a row of a segment that has IDs.
func (l *IDReader) Row(v *Version, s *Segment, row uint64) (string, error) {
	if l.version != v { // cursors of closed segments would keep their blocks
		l.version, l.cursors = v, make(map[*Segment]*idlist.Cursor)
	}
	c := l.cursors[s]
	if c == nil {
		c = s.Segment.IDs().Cursor()
		l.cursors[s] = c
	}
	return c.ID(row)
}

// Doc returns the ID of a document, empty if it has none. The error may be [ErrNoDocument].
func (l *IDReader) Doc(v *Version, doc rows.DocID) (id string, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	if m := v.MemtableOf(doc); m != nil {
		return m.ID(int(doc - m.First)), nil
	}
	s, row, ok := v.Row(doc)
	switch {
	case !ok:
		return "", ErrNoDocument
	case s.Segment.IDs() == nil:
		return "", nil
	}
	return l.Row(v, s, row)
}

// IDs looks up the IDs of documents. It belongs to one goroutine.
type IDs struct {
	versions *Set
	slot     uint32
	view     *Version // version to read; nil means the current one
	reader   IDReader
}

// IDs returns a new look-up in the current version.
func (w *Set) IDs() *IDs { return &IDs{versions: w, slot: w.Slot()} }

// IDs returns a look-up of the documents of the view, including documents deleted since. It is valid until the view is
// released.
func (w View) IDs() *IDs {
	n := w.versions.IDs()
	n.view = w.Version
	return n
}

// ID returns the ID of a document: its decimal number if it has none, and "" for [rows.NoDoc]. It takes about 10
// microseconds, less for the next document of the same 256.
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
