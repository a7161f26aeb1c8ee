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

	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
	"ndd/engine/storage/wal"
)

// A writer makes the changes of an index: in the log, then in memory. mu guards all its fields that
// are not atomic, the edits of versions, and the Busy marks of segments. The locks of a version, of
// tombstones and of the log are taken under it, never the other way round. Readers take none.
type writer struct {
	*shared
	mu     sync.Mutex
	queued atomic.Int32 // callers that wait in acquire
	closed bool
	admission

	log        *wal.Log // nil where nothing is durable
	record     []byte   // the memory of the next record
	pending    pending
	logged     atomic.Uint64 // position of the last record
	recovering bool          // the log is being read

	counters
	deleted []rows.DocID // of segments in files, since the last flush began
	ids     version.IDReader
}

// counters are read by each check-and-insert and seldom written, and have cache lines of their own.
type counters struct {
	_       [memtable.CacheLine]byte
	added   atomic.Uint64 // segments that did not come through memtables
	refused atomic.Uint64 // times that changes were undone
	_       [memtable.CacheLine]byte
}

// An admission says whether memory has room for inserts.
type admission struct {
	room         chan struct{}       // closed when there may be room; nil when nobody waits
	inserted     *memory.Reservation // of what the current version takes
	short        error               // why there is no memory for inserts; nil when there is
	flushFailed  error               // of the last flush
	flushesShort int                 // flushes in a row that lacked memory
}

// wakeWaiting wakes the callers that wait for room. The caller holds writer.mu.
func (a *admission) wakeWaiting() {
	if a.room != nil {
		close(a.room)
		a.room = nil
	}
}

// lockSpin is how long one who waits alone for w.mu spins before it sleeps. w.mu is held for half a
// microsecond as a rule, but in one call of some hundred for 20: where that is the first to write
// to a page of memory, of which the other processors are to be told. A sleeper is woken in 100, and
// more on a busy machine.
const lockSpin = 50 * time.Microsecond

// acquire takes mu. A caller that waits alone spins for a while; several leave the processor to
// others.
func (w *writer) acquire() {
	if w.mu.TryLock() {
		return
	}
	defer w.queued.Add(-1)
	if w.queued.Add(1) == 1 && runtime.GOMAXPROCS(0) > 1 {
		for begun := time.Now(); time.Since(begun) < lockSpin; {
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

// ErrNoRoom is wrapped where an insert is refused since memory has no room for more documents.
// Queries and deletions go on, and inserts do when there is room again.
var ErrNoRoom = errors.New("no room for more documents in memory")

const (
	// memtableBytes fill a memtable however few documents they are: a sixteenth of the budget where
	// that is less, but memtableLeast at least.
	memtableBytes = 256 << 20
	memtableLeast = 1 << 20
)

// memtableBytes returns how many bytes fill a memtable of the index.
func (w *writer) memtableBytes() uint64 {
	return min(memtableBytes, max(w.config.Budget.Limit().Bytes/16, memtableLeast))
}

// sealRoom returns how much memory is held for making a segment in memory of a memtable, which
// takes two and a half times what that has of IDs, less for the rest, and some megabytes. Where
// files are, flushes reserve their own.
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
	// Of an index with files, the other half is there for writing to them.
	if l := w.config.Budget.Limit(); w.folder.durable() && v.Bytes > l.Bytes/2 {
		w.short = &memory.TooLargeError{What: "what was inserted", Need: v.Bytes,
			Limit: memory.Limit{Bytes: l.Bytes / 2, Source: "half of " + l.Source}}
	}
}

// applyEdit makes an edit's version the current one. The caller holds writer.mu, or is the only one
// that has x. The error is one of releasing memory.
func (w *writer) applyEdit(e version.Edit) error {
	next := w.versions.Next(e)
	w.reserve(next)
	return w.versions.Publish(next)
}

// grown reserves what the current version takes, of which a memtable has grown. The caller holds
// writer.mu.
func (w *writer) grown() {
	v := w.versions.Current()
	v.Bytes = v.Memory()
	if w.reserve(v); w.short != nil {
		w.wakeFlusher()
	}
}

// mustFlush reports whether it is time to make a segment of a version's memtables: where one is
// full, or memory is short and that would help. The caller holds writer.mu.
func (w *writer) mustFlush(v *version.Version) bool {
	if w.config.flushDocs == neverFlush {
		return false
	}
	return len(v.Memtables) > 1 || w.short != nil && v.Memtables[0].Bytes() > memtableLeast
}

// unflushedMax is how many times the documents of a memtable may be in some before inserts wait for
// what becomes of those.
const unflushedMax = 8

// A pending insert is decided document by document and committed as one change. The caller holds
// writer.mu throughout.
type pending struct {
	writer *writer
	change
	own    map[string]int // place in docs of the documents of each ID
	prints []uint64       // of docs, which are rows
}

// errRefused is wrapped where a change could not be made.
var errRefused = errors.New("nothing was inserted or deleted")

// commit makes a change: in the log, then in memory. The caller holds writer.mu. After an error
// nothing has changed. The change may be acknowledged when x.sync has returned for its position.
func (w *writer) commit(c *change) (at wal.Position, err error) {
	if len(c.docs) == 0 && len(c.delete) == 0 && !c.gap {
		return 0, nil
	}
	if at, err = w.write(c); err != nil {
		return 0, err
	}
	defer w.publish()
	return at, w.apply(c)
}

// write appends a change to the log, if there is one. The caller holds writer.mu.
func (w *writer) write(c *change) (at wal.Position, err error) {
	if w.log == nil {
		return 0, nil
	}
	w.record = c.append(w.record[:0], &w.config)
	if at, err = w.log.Append(w.record); err != nil {
		return 0, fmt.Errorf("%w: %w", errRefused, err)
	}
	w.logged.Store(uint64(at))
	return at, nil
}

// apply makes a change in memory, which readers see once it is published. The caller holds writer.mu.
func (w *writer) apply(c *change) error {
	if c.gap {
		return w.skipTo(c.first)
	}
	w.add(c.docs, c.expires)
	d := w.nextDeletion()
	for i, doc := range c.delete {
		if i < len(c.by) {
			d = rows.ReplacedBy(c.by[i])
		}
		w.kill(doc, d)
	}
	return nil
}

// nextDeletion is that of the documents that a request deletes. The caller holds writer.mu.
func (w *writer) nextDeletion() rows.Deletion {
	return rows.DeletedBy(w.versions.Deletions.Load() + 1)
}

// publish shows readers all that was changed, at once. A change either replaces documents or only
// deletes some, so that what it does is seen with one of the two stores. The caller holds writer.mu.
func (w *writer) publish() {
	w.versions.Deletions.Add(1)
	w.versions.Committed.Store(uint64(w.versions.Current().End()))
}

// newest is a view of all that was committed. The caller holds writer.mu as long as it is used.
func (w *writer) newest() version.View {
	v := w.versions.Current()
	return version.View{Version: v, Moment: rows.Moment{Clock: v.End(), Deletions: w.versions.Deletions.Load()},
		Now: w.versions.Clock.Now()}
}

// skipTo makes first, which is above all numbers in use, the number of the next document. The
// caller holds writer.mu.
func (w *writer) skipTo(first rows.DocID) error {
	e := version.Edit{AddMemtable: w.newMemtable(first)}
	memtables := w.versions.Current().Memtables
	if last := memtables[len(memtables)-1]; last.Len() == 0 {
		e.RemoveMemtables = []*memtable.Table{last}
	}
	return w.applyEdit(e)
}

// add appends documents to memtables, as many as it takes. The caller holds writer.mu.
func (w *writer) add(docs []rows.Doc, expires []rows.Time) {
	v := w.versions.Current()
	last := v.Newest()
	for {
		before := last.Bytes()
		n := last.Add(docs, expires)
		if docs = docs[n:]; len(docs) == 0 {
			if last.Bytes() != before {
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
		Sketches: c.Sketches, Deferred: w.recovering}
	if c.IDs {
		o.Key = &w.key
	}
	return memtable.New(o)
}

// fill gives an index its first version.
func (w *writer) fill(segments []*version.Segment, next rows.DocID) error {
	for _, s := range segments {
		if s.Expires.First != 0 {
			w.versions.Clock.Expiring.Store(true)
		}
	}
	w.versions.Committed.Store(uint64(next))
	return w.applyEdit(version.Edit{Add: segments, AddMemtable: w.newMemtable(next)})
}

// indexIDs makes the index of a segment's IDs in memory, unless it has one or needs none: when an
// ID is looked up for the first time in a segment that was built, of an index that is not open for
// writing. The caller holds writer.mu.
func (w *writer) indexIDs(s *version.Segment) error {
	list := s.Segment.IDs()
	if list == nil || len(s.IDIndex.Slots) > 0 || !w.config.IDs {
		return nil
	}
	reserved, err := w.config.reserveIDs(s)
	if err != nil {
		return err
	}
	held, err := rows.IndexIDs(&w.key, s.Documents(), list.All())
	if err != nil {
		reserved.Release()
		return err
	}
	free := s.Free
	s.IDIndex, s.Free = held, func() error {
		held.Free()
		reserved.Release()
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

// holder returns the newest document that has an ID. The caller holds writer.mu.
func (w *writer) holder(id string) (doc rows.DocID, ok bool, err error) {
	err = w.holders(id, w.versions.Clock.Now(), func(d rows.DocID) bool {
		doc, ok = d, true
		return false
	})
	return doc, ok, err
}

// appendHolders appends all documents that have an ID and have not expired by now, or at all if now
// is 0: a document of the same ID deletes those, too, lest both be found when the clock is set
// back. The caller holds writer.mu.
func (w *writer) appendHolders(dst []rows.DocID, id string, now rows.Time) ([]rows.DocID, error) {
	err := w.holders(id, now, func(d rows.DocID) bool {
		dst = append(dst, d)
		return true
	})
	return dst, err
}

// holders calls yield with each document that has an ID, newest first but for those of one segment,
// until it returns false. The caller holds writer.mu. The first call for an index that was built
// and is only read makes an index of all IDs in memory, at about 200 ns and 11 bytes a document.
func (w *writer) holders(id string, now rows.Time, yield func(rows.DocID) bool) (err error) {
	if id == "" || !w.config.IDs {
		return nil
	}
	defer store.CatchFault(&err)()
	v := w.versions.Current()
	at, h := w.newest().Moment, w.key.Hash(id)
	for _, m := range slices.Backward(v.Memtables) {
		if doc, ok := m.Lookup(id, h); ok && !m.Hides(doc, at, now) && !yield(doc) {
			return nil
		}
	}
	for _, s := range slices.Backward(v.Segments) {
		if err := w.indexIDs(s); err != nil {
			return err
		}
		going := true
		s.IDIndex.Rows(h, func(row uint64) bool {
			doc := s.Numbers.Doc(row)
			if s.Hides(row, doc, at, now) {
				return true
			}
			var held string
			if held, err = w.ids.Row(v, s, row); err != nil {
				going = false
			} else if held == id {
				going = yield(doc)
			}
			return going
		})
		if !going {
			return err
		}
	}
	return nil
}
