package live

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/storage/wal"
)

// A writer makes the changes of an index, one at a time: in the log, then in memory. mu guards its fields that are not
// atomic, its parts, the edits of versions, and the Busy marks of segments. The locks of versions, of tombstones and of
// the log are taken under it, never the other way round. Readers take none of these.
type writer struct {
	*indexState
	mu     sync.Mutex
	queued atomic.Int32 // callers that wait in acquire
	closed bool
	state  docState
	ids    idLookup

	log     *wal.Log // nil if nothing is durable
	record  []byte   // memory of the next record
	pending pendingInsert
	logged  atomic.Uint64 // position of the last record
	counters
}

// counters are read by each check-and-insert and rarely written, so they have their own cache lines.
type counters struct {
	_       [memtable.CacheLine]byte
	added   atomic.Uint64 // number of segments that did not come from memtables
	refused atomic.Uint64 // number of times that changes were undone
	_       [memtable.CacheLine]byte
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
	defer w.versions.Commit()
	return position, w.state.apply(c)
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

// nameLog publishes a manifest, changed by edit, with the current file and position of the log.
func (w *writer) nameLog(edit func(*Manifest)) error {
	if !w.folder.durable() {
		return nil
	}
	holds, err := w.log.Begin()
	if err != nil {
		return err
	}
	w.folder.mu.Lock()
	defer w.folder.mu.Unlock()
	return w.folder.publish(func(m *Manifest) {
		m.Live.File, m.Live.Held = holds.File, uint64(holds.Last)
		edit(m)
	})
}
