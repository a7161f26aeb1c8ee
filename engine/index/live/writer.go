package live

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"ndd/engine/index/idlist"
	"ndd/engine/storage/wal"
)

// writer is the writing side of an Index. Its lock is the outer one: those of a version, of
// tombstones and of the log are taken under it, never the other way round. A reader takes none.
type writer struct {
	mu     sync.Mutex    // held by the one writer at a time
	queued atomic.Int32  // who waits in acquire
	room   chan struct{} // closed when there may be room, and made anew by who waits
	closed bool
	failed error // of background work, where inserts cannot go on without it
	short  error // why there is no memory for inserts; nil when there is

	flushing     sync.Mutex // held while memtables become a segment; taken before all others
	merging      sync.Mutex // held by the one merge at a time; likewise, and never with flushing
	flushFailed  error      // of the last flush; guarded by mu
	flushesShort int        // that lacked memory, one after the other; likewise

	log     *wal.Log // nil where nothing is durable
	record  []byte   // room for one
	pending pending
	logged  atomic.Uint64 // position of the last record

	_       [lineBytes]byte // each search reads what follows, and few writers write it
	added   atomic.Uint64   // segments that did not come through memtables
	refused atomic.Uint64   // how often changes were taken back
	_       [lineBytes]byte

	recovering bool // the log is being read

	deleted  []DocID  // of segments in files, since the last flush began
	incoming *Segment // whose IDs are taken already, though no version has it; see announce
	lookup   lookup

	background
}

// background is the work that goes on beside inserts: a goroutine each for memtables, for segments and
// for what expires. Those are woken by their channels.
type background struct {
	stop            chan struct{}
	group           sync.WaitGroup
	flushes, merges chan struct{}
}

func (b *background) start(x *Index) {
	b.stop = make(chan struct{})
	b.flushes, b.merges = make(chan struct{}, 1), make(chan struct{}, 1)
	b.group.Go(func() { x.tendMemory() })
	b.group.Go(func() { x.tendSegments() })
	b.group.Go(func() { x.expire() })
}

// wake lets a goroutine look for work, now or when it has done what it does.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (b *background) wakeFlusher() { wake(b.flushes) }
func (b *background) wakeMerger()  { wake(b.merges) }

// close ends background work and inserts.
func (w *writer) close() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.stop)
	}
	w.wakeWaiting()
	w.mu.Unlock()
	w.group.Wait()
}

// wakeWaiting lets those who wait for room look again. It needs w.mu.
func (w *writer) wakeWaiting() {
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
}

// lockSpin is how long one who waits alone for w.mu spins before it sleeps. w.mu is held for half a microsecond as a rule, but in one
// call of some hundred for 20: where that is the first to write to a page of memory, of which the other processors are to be told.
// A sleeper is woken in 100, and more on a busy machine.
const lockSpin = 50 * time.Microsecond

// acquire takes w.mu. Only who waits alone spins: of many, each leaves the processor to others.
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

// lockToInsert is lock, and refuses with [ErrNoRoom] when there is no memory.
func (x *Index) lockToInsert(ctx context.Context) error {
	if err := x.lock(ctx); err != nil {
		return err
	}
	if x.short == nil {
		return nil
	}
	if x.reserve(x.current.Load()); x.short == nil { // somebody gave memory back
		return nil
	}
	defer x.writer.mu.Unlock()
	return fmt.Errorf("%w: %w", ErrNoRoom, x.short)
}

// lock takes w.mu once the index may be written to and has room. It waits while too much
// is in memtables, as long as ctx lasts. Without an error the caller
// unlocks.
func (x *Index) lock(ctx context.Context) error {
	x.writer.acquire()
	for {
		var err error
		switch {
		case x.closed:
			err = ErrClosed
		case x.failed != nil:
			err = x.failed
		case x.log != nil && x.log.Failing():
			if err = x.resume(); err == nil {
				continue
			}
		case x.hasRoom():
			return nil
		case x.flushFailed != nil:
			err = fmt.Errorf("%w, and those that are there cannot be written to files: %w", ErrNoRoom, x.flushFailed)
		}
		if err != nil {
			x.writer.mu.Unlock()
			return err
		}
		if x.room == nil {
			x.room = make(chan struct{})
		}
		room := x.room
		x.writer.mu.Unlock()
		x.wakeFlusher()
		select {
		case <-room:
		case <-ctx.Done():
			return fmt.Errorf("waiting for room to insert: %w", ctx.Err())
		}
		x.writer.mu.Lock()
	}
}

// hasRoom reports whether documents may be inserted now. It needs w.mu.
func (x *Index) hasRoom() bool {
	v := x.current.Load()
	return (v.buffered() <= unflushedMax*x.config.memtableDocs() || x.config.flushDocs == neverFlush) && (x.folder == nil || x.short == nil || !x.mustFlush(v))
}

// inMemory returns how many documents of the version are in no file.
func (v *version) inMemory() (docs uint64) {
	for _, s := range v.segments {
		if s.file == nil {
			docs += s.Documents()
		}
	}
	return docs + v.buffered()
}

// buffered returns how many documents of the version are in memtables.
func (v *version) buffered() (docs uint64) {
	for _, m := range v.memtables {
		docs += uint64(m.len())
	}
	return docs
}

// A lookup reads IDs for the writer. It keeps a cursor for each segment of one version.
type lookup struct {
	version *version
	cursors map[*Segment]*idlist.Cursor
}

// of returns the ID of a row of a segment.
func (l *lookup) of(v *version, s *Segment, row uint64) (string, error) {
	if l.version != v {
		l.version, l.cursors = v, make(map[*Segment]*idlist.Cursor)
	}
	c := l.cursors[s]
	if c == nil {
		c = s.Segment.IDs().Cursor()
		l.cursors[s] = c
	}
	return c.ID(row)
}
