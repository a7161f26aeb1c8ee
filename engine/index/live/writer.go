package live

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/memory"
	"ndd/engine/storage/wal"
)

// A writer makes the changes of an index: in the log, then in memory. mu guards all its fields that
// are not atomic, the edits of versions, and the Busy marks of segments. The locks of a version, of
// tombstones and of the log are taken under it, never the other way round. Readers take none.
type writer struct {
	*shared
	mu     sync.Mutex
	queued atomic.Int32  // callers that wait in acquire
	room   chan struct{} // closed when there may be room; nil when nobody waits
	closed bool

	short        error // why there is no memory for inserts; nil when there is
	flushFailed  error // of the last flush
	flushesShort int   // flushes in a row that lacked memory
	inserted     *memory.Reservation

	log        *wal.Log // nil where nothing is durable
	record     []byte   // the memory of the next record
	pending    pending
	logged     atomic.Uint64 // position of the last record
	recovering bool          // the log is being read

	counters
	deleted  []rows.DocID     // of segments in files, since the last flush began
	incoming *version.Segment // its IDs are taken, and no version has it yet; see announce
	ids      version.IDReader
}

// counters are read by each check-and-insert and seldom written, and have cache lines of their own.
type counters struct {
	_       [version.CacheLine]byte
	added   atomic.Uint64 // segments that did not come through memtables
	refused atomic.Uint64 // times that changes were undone
	_       [version.CacheLine]byte
}

// wakeWaiting wakes the callers that wait for room. The caller holds writer.mu.
func (w *writer) wakeWaiting() {
	if w.room != nil {
		close(w.room)
		w.room = nil
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
	if most := w.memoryMost(); v.Bytes > most {
		w.short = &memory.TooLargeError{What: "what was inserted", Need: v.Bytes,
			Limit: memory.Limit{Bytes: most, Source: "half of " + w.config.Budget.Limit().Source}}
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

// memoryMost returns what may be in memory of an index with files: half of the budget, so that the
// other half is there for writing it to files. An index in memory may take all.
func (w *writer) memoryMost() uint64 {
	limit := w.config.Budget.Limit().Bytes
	if !w.folder.durable() {
		return limit
	}
	return limit / 2
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
