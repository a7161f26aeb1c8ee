package live

import (
	"errors"

	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/memory"
)

// An admission reserves the memory of an index from its budget, and decides whether there is space for more documents.
// writer.mu guards it.
type admission struct {
	*indexState
	room         chan struct{}       // closed when there may be space; nil if nobody waits
	inserted     *memory.Reservation // memory of the current version
	short        error               // why there is no memory for inserts; nil if there is
	flushFailed  error               // error of the last flush
	flushesShort int                 // number of flushes in a row that lacked memory
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

// unflushedMax is the maximum number of unflushed memtables before inserts wait.
const unflushedMax = 8

// hasRoom reports whether documents may be inserted now.
func (a *admission) hasRoom() bool {
	v := a.versions.Current()
	return v.Buffered() <= unflushedMax*a.config.flushDocs && (a.short == nil || !a.mustFlush(v))
}

// mustFlush reports whether a flush of a version's memtables is due: one is full, or memory is short and a flush would
// help.
func (a *admission) mustFlush(v *version.Version) bool {
	return len(v.Memtables) > 1 || a.short != nil && v.Memtables[0].Bytes() > memtableMin
}

// memtableBytes returns the capacity of a memtable of the index in bytes.
func (a *admission) memtableBytes() uint64 {
	return min(memtableBytes, max(a.config.Budget.Limit().Bytes/16, memtableMin))
}

// sealRoom returns the memory that is reserved for making a segment in memory of a memtable: two and a half times its
// IDs, less for its other data, and some megabytes. With files, flushes reserve their own memory.
func (a *admission) sealRoom() uint64 {
	if a.folder.durable() {
		return 0
	}
	return a.memtableBytes()*5/2 + 8<<20
}

// reserve reserves the memory of a version. If the budget does not have it, inserts wait for a
// flush or are refused.
func (a *admission) reserve(v *version.Version) {
	if a.inserted == nil {
		a.inserted, _ = a.config.Budget.Reserve("", 0) // nothing always fits
	}
	if a.short = a.inserted.Resize("what was inserted", v.Bytes+a.sealRoom()); a.short != nil {
		return
	}
	// With files, the other half of the budget is for writing them.
	if l := a.config.Budget.Limit(); a.folder.durable() && v.Bytes > l.Bytes/2 {
		a.short = &memory.TooLargeError{Task: "what was inserted", Need: v.Bytes,
			Limit: memory.Limit{Bytes: l.Bytes / 2, Source: "half of " + l.Source}}
	}
}

// grown reserves the memory of the current version after a memtable has grown.
func (a *admission) grown() {
	v := a.versions.Current()
	v.Bytes = v.Memory()
	if a.reserve(v); a.short != nil {
		a.wakeFlusher()
	}
}

// flushTries is the number of flushes in a row, some seconds, that may lack memory before waiting inserts are refused.
// Merges free memory when they end.
const flushTries = 100

// noteFlush records the result of a flush and wakes waiting inserts.
func (a *admission) noteFlush(err error) {
	if !errors.Is(err, memory.ErrTooLarge) {
		a.flushesShort = 0
	} else if a.flushesShort++; a.flushesShort < flushTries {
		return
	}
	a.flushFailed = err
	a.wakeWaiting()
}

// wakeWaiting wakes the callers that wait for space.
func (a *admission) wakeWaiting() {
	if a.room != nil {
		close(a.room)
		a.room = nil
	}
}
