package live

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/engine/storage/wal"
)

// A writer makes the changes of an index: in the log, then in memory. mu guards its fields that are not atomic, the
// edits of versions, and the Busy marks of segments. The locks of versions, of tombstones and of the log are taken
// under it, never the other way round. Readers take none of these.
type writer struct {
	*indexState
	mu     sync.Mutex
	queued atomic.Int32 // callers that wait in acquire
	closed bool
	admission

	log     *wal.Log // nil if nothing is durable
	record  []byte   // memory of the next record
	pending pendingInsert
	logged  atomic.Uint64 // position of the last record

	counters
	deleted []rows.DocID // documents of files that were deleted since the last flush began
	ids     version.IDReader
}

// counters are read by each check-and-insert and rarely written, so they have their own cache lines.
type counters struct {
	_       [memtable.CacheLine]byte
	added   atomic.Uint64 // number of segments that did not come from memtables
	refused atomic.Uint64 // number of times that changes were undone
	_       [memtable.CacheLine]byte
}

// An admission holds the state of the memory for inserts.
type admission struct {
	room         chan struct{}       // closed when there may be space; nil if nobody waits
	inserted     *memory.Reservation // memory of the current version
	short        error               // why there is no memory for inserts; nil if there is
	flushFailed  error               // error of the last flush
	flushesShort int                 // number of flushes in a row that lacked memory
}

// wakeWaiting wakes the callers that wait for space. The caller holds writer.mu.
func (a *admission) wakeWaiting() {
	if a.room != nil {
		close(a.room)
		a.room = nil
	}
}

// lockSpin is the time for which a single waiter for w.mu spins before it sleeps. w.mu is usually held for half a
// microsecond. In one of some hundred calls it is held for 20: the first write to a page of memory takes so long.
// Waking a sleeper takes 100 microseconds, and more on a busy machine.
const lockSpin = 50 * time.Microsecond

// acquire takes mu. A single waiter spins for a while; several leave the processor to others.
func (w *writer) acquire() {
	if w.mu.TryLock() {
		return
	}
	defer w.queued.Add(-1)
	if w.queued.Add(1) == 1 && runtime.GOMAXPROCS(0) > 1 {
		for start := time.Now(); time.Since(start) < lockSpin; {
			if w.mu.TryLock() {
				return
			}
		}
	}
	w.mu.Lock()
}

// hasRoom reports whether documents may be inserted now. The caller holds writer.mu.
func (w *writer) hasRoom() bool {
	v := w.versions.Current()
	return (v.Buffered() <= unflushedMax*w.config.memtableDocs() || w.config.flushDocs == neverFlush) &&
		(w.short == nil || !w.mustFlush(v))
}

// ErrNoRoom is wrapped if an insert is refused because memory is full. Queries and deletions continue, and inserts
// do when there is space again.
var ErrNoRoom = errors.New("no memory for more documents")

const (
	// memtableBytes is the capacity of a memtable in bytes: at most a sixteenth of the budget, but at least
	// memtableMin.
	memtableBytes = 256 << 20
	memtableMin   = 1 << 20
)

// memtableBytes returns the capacity of a memtable of the index in bytes.
func (w *writer) memtableBytes() uint64 {
	return min(memtableBytes, max(w.config.Budget.Limit().Bytes/16, memtableMin))
}

// sealRoom returns the memory that is reserved for making a segment in memory of a memtable: two and a half times its
// IDs, less for its other data, and some megabytes. With files, flushes reserve their own memory.
func (w *writer) sealRoom() uint64 {
	if w.folder.durable() {
		return 0
	}
	return w.memtableBytes()*5/2 + 8<<20
}

// reserve reserves the memory of a version. If the budget does not have it, inserts wait for a
// flush or are refused. The caller holds writer.mu.
func (w *writer) reserve(v *version.Version) {
	if w.inserted == nil {
		w.inserted, _ = w.config.Budget.Reserve("", 0) // nothing always fits
	}
	if w.short = w.inserted.Resize("what was inserted", v.Bytes+w.sealRoom()); w.short != nil {
		return
	}
	// With files, the other half of the budget is for writing them.
	if l := w.config.Budget.Limit(); w.folder.durable() && v.Bytes > l.Bytes/2 {
		w.short = &memory.TooLargeError{Task: "what was inserted", Need: v.Bytes,
			Limit: memory.Limit{Bytes: l.Bytes / 2, Source: "half of " + l.Source}}
	}
}

// applyEdit publishes the version of an edit. The caller holds writer.mu, or is the only user of the index. It returns
// errors of freeing memory.
func (w *writer) applyEdit(e version.Edit) error {
	next := w.versions.Next(e)
	w.reserve(next)
	return w.versions.Publish(next)
}

// grown reserves the memory of the current version after a memtable has grown. The caller holds writer.mu.
func (w *writer) grown() {
	v := w.versions.Current()
	v.Bytes = v.Memory()
	if w.reserve(v); w.short != nil {
		w.wakeFlusher()
	}
}

// mustFlush reports whether a flush of a version's memtables is due: one is full, or memory is short and a flush would
// help. The caller holds writer.mu.
func (w *writer) mustFlush(v *version.Version) bool {
	if w.config.flushDocs == neverFlush {
		return false
	}
	return len(v.Memtables) > 1 || w.short != nil && v.Memtables[0].Bytes() > memtableMin
}

// unflushedMax is the maximum number of unflushed memtables before inserts wait.
const unflushedMax = 8

// A pendingInsert is decided document by document and committed as one change. The caller holds writer.mu throughout.
type pendingInsert struct {
	writer *writer
	change
	ownIDs       map[string]int // index in docs of the document with each ID
	fingerprints []uint64       // fingerprints of docs
}

// errRefused is wrapped if a change could not be made.
var errRefused = errors.New("nothing was inserted or deleted")

// commit makes a change: in the log, then in memory. The caller holds writer.mu. After an error nothing has changed.
// The change may be acknowledged when sync has returned for its position.
func (w *writer) commit(c *change) (position wal.Position, err error) {
	if len(c.docs) == 0 && len(c.delete) == 0 && !c.gap {
		return 0, nil
	}
	if position, err = w.write(c); err != nil {
		return 0, err
	}
	defer w.publish()
	return position, w.apply(c)
}

// write appends a change to the log, if there is one. The caller holds writer.mu.
func (w *writer) write(c *change) (position wal.Position, err error) {
	if w.log == nil {
		return 0, nil
	}
	w.record = c.append(w.record[:0], &w.config)
	if position, err = w.log.Append(w.record); err != nil {
		return 0, fmt.Errorf("%w: %w", errRefused, err)
	}
	w.logged.Store(uint64(position))
	return position, nil
}

// apply makes a change in memory, which readers see once it is published. The caller holds writer.mu.
func (w *writer) apply(c *change) error {
	if c.gap {
		return w.skipTo(c.first)
	}
	w.add(c.docs, c.expires)
	d := w.nextDeletion()
	for i, doc := range c.delete {
		if i < len(c.replacedBy) {
			d = rows.ReplacedBy(c.replacedBy[i])
		}
		w.kill(doc, d)
	}
	return nil
}

// nextDeletion returns the deletion of the next request to delete. The caller holds writer.mu.
func (w *writer) nextDeletion() rows.Deletion {
	return rows.DeletedBy(w.versions.Deletions.Load() + 1)
}

// publish shows all changes to readers at once. A change either replaces documents or only deletes some, so one of the
// two stores shows it. The caller holds writer.mu.
func (w *writer) publish() {
	w.versions.Deletions.Add(1)
	w.versions.Committed.Store(uint64(w.versions.Current().End()))
}

// newest returns a view of all committed changes. The caller holds writer.mu while it uses the view.
func (w *writer) newest() version.View {
	v := w.versions.Current()
	return version.View{Version: v, Moment: rows.Moment{Clock: v.End(), Deletions: w.versions.Deletions.Load()},
		Now: w.versions.Clock.Now()}
}

// skipTo sets the number of the next document to first, which must be larger than all numbers in use. The caller holds
// writer.mu.
func (w *writer) skipTo(first rows.DocID) error {
	e := version.Edit{AddMemtable: w.newMemtable(first)}
	memtables := w.versions.Current().Memtables
	if last := memtables[len(memtables)-1]; last.Len() == 0 {
		e.RemoveMemtables = []*memtable.Table{last}
	}
	return w.applyEdit(e)
}

// add appends documents to memtables. The caller holds writer.mu.
func (w *writer) add(docs []rows.Doc, expires []rows.Time) {
	v := w.versions.Current()
	last := v.Newest()
	for {
		oldBytes := last.Bytes()
		n := last.Add(docs, expires)
		if docs = docs[n:]; len(docs) == 0 {
			if last.Bytes() != oldBytes {
				w.grown()
			}
			return
		}
		expires = expires[min(n, len(expires)):]
		last = w.newMemtable(last.End())
		w.applyEdit(version.Edit{AddMemtable: last})
		w.wakeFlusher()
	}
}

// newMemtable returns an empty memtable for documents from number first on.
func (w *writer) newMemtable(first rows.DocID) *memtable.Table {
	c := &w.config
	o := memtable.Options{First: first, MaxDocs: int(c.memtableDocs()), MaxBytes: w.memtableBytes(), K: c.Design.K,
		Sketches: c.Sketches}
	if c.IDs {
		o.Key = &w.key
	}
	return memtable.New(o)
}

// fill sets the first version of an index.
func (w *writer) fill(segments []*version.Segment, next rows.DocID) error {
	for _, s := range segments {
		if s.Expires.First != 0 {
			w.versions.Clock.Expiring.Store(true)
		}
	}
	w.versions.Committed.Store(uint64(next))
	return w.applyEdit(version.Edit{Add: segments, AddMemtable: w.newMemtable(next)})
}

// indexIDs makes the index of a segment's IDs in memory if it has none and needs one: for the first look-up of an ID in
// a built segment of an index that is not open for writing. The caller holds writer.mu.
func (w *writer) indexIDs(s *version.Segment) error {
	list := s.Segment.IDs()
	if list == nil || len(s.IDIndex.Slots) > 0 || !w.config.IDs {
		return nil
	}
	reservation, err := w.config.reserveIDs(s)
	if err != nil {
		return err
	}
	held, err := rows.IndexIDs(&w.key, s.Documents(), list.All())
	if err != nil {
		reservation.Release()
		return err
	}
	free := s.Free
	s.IDIndex, s.Free = held, func() error {
		held.Free()
		reservation.Release()
		if free == nil {
			return nil
		}
		return free()
	}
	return nil
}

// reserveIDs reserves the memory of an index of a segment's IDs.
func (c *Config) reserveIDs(s *version.Segment) (*memory.Reservation, error) {
	return c.Budget.OrMachine().Reserve(fmt.Sprintf("an index of %s IDs", humanize.Comma(int64(s.Documents()))),
		rows.IDIndexBytes(s.Documents()))
}

// holder returns the newest document with an ID. The caller holds writer.mu.
func (w *writer) holder(id string) (doc rows.DocID, ok bool, err error) {
	err = w.holders(id, w.versions.Clock.Now(), func(d rows.DocID) bool {
		doc, ok = d, true
		return false
	})
	return doc, ok, err
}

// appendHolders appends all documents with an ID that have not expired at now. If now is 0 it includes expired ones: a
// document with the same ID deletes these, too, so that a clock that is set back does not show both. The caller holds
// writer.mu.
func (w *writer) appendHolders(dst []rows.DocID, id string, now rows.Time) ([]rows.DocID, error) {
	err := w.holders(id, now, func(d rows.DocID) bool {
		dst = append(dst, d)
		return true
	})
	return dst, err
}

// holders calls yield with each document with an ID, until yield returns false. Newer documents come first, except
// within a segment. The caller holds writer.mu. The first call for a built index that is only read makes an index of
// all IDs in memory, at about 200 ns and 11 bytes per document.
func (w *writer) holders(id string, now rows.Time, yield func(rows.DocID) bool) (err error) {
	if id == "" || !w.config.IDs {
		return nil
	}
	defer store.CatchFault(&err)()
	v := w.versions.Current()
	moment, h := w.newest().Moment, w.key.Hash(id)
	// A memtable knows the last document of an ID.
	for _, m := range slices.Backward(v.Memtables) {
		if doc, ok := m.Lookup(id, h); ok && !m.Hides(doc, moment, now) && !yield(doc) {
			return nil
		}
	}
	// An index of IDs may have rows of other IDs with the same hash.
	for _, s := range slices.Backward(v.Segments) {
		if err := w.indexIDs(s); err != nil {
			return err
		}
		ok := true
		s.IDIndex.Rows(h, func(row uint64) bool {
			doc := s.Numbers.Doc(row)
			if s.Hides(row, doc, moment, now) {
				return true
			}
			var stored string
			if stored, err = w.ids.Row(v, s, row); err != nil {
				ok = false
			} else if stored == id {
				ok = yield(doc)
			}
			return ok
		})
		if !ok {
			return err
		}
	}
	return nil
}
