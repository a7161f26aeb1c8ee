package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"

	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/wal"
)

// An Index is a set of documents that changes while it is searched.
type Index struct {
	*indexState
	writer *writer // inserts and deletes documents
	upkeep *upkeep // flushes and merges

	OpenReport OpenReport // how the index was opened; zero for a new one
	Recovery   Recovery   // the contents of the log at opening; zero if no log was read
	searchers  *search.Pool
	checkers   sync.Pool           // values are *checker
	loaded     *memory.Reservation // memory of loaded files
}

// New returns an index in memory with these segments. Their documents are numbered through the segments in order. The
// index closes the segments.
func New(c Config, segments ...*segment.Segment) (*Index, error) {
	if err := c.Design.Validate(); err != nil {
		return nil, err
	}
	list := make([]*version.Segment, len(segments))
	next := rows.DocID(0)
	for i, s := range segments {
		list[i] = &version.Segment{Segment: s}
		number(list[i], next, nil)
		next = list[i].End()
	}
	x := newIndex(c)
	if err := x.writer.state.fill(list, next); err != nil {
		return nil, err
	}
	x.upkeep.start()
	return x, nil
}

// newIndex returns an index without a version, whose background work has not started.
func newIndex(c Config) *Index {
	s := &indexState{config: c, flushes: make(chan struct{}, 1), merges: make(chan struct{}, 1)}
	s.config.flushDocs = min(cmp.Or(c.flushDocs, memtable.MaxDocs), memtable.MaxDocs)
	s.ctx, s.stop = context.WithCancel(context.Background())
	w := &writer{indexState: s, state: docState{indexState: s, space: admission{indexState: s}}, ids: idLookup{indexState: s}}
	x := &Index{indexState: s, writer: w, upkeep: &upkeep{indexState: s, writer: w}}
	s.config.Budget, s.folder = c.Budget.OrMachine(), inMemory()
	x.versions.Clock.System, x.versions.Clock.Monotonic = c.now, c.monotonic
	x.searchers = search.NewPool(&x.versions)
	x.checkers.New = func() any {
		return &checker{writer: x.writer, search: x.searchers.Get(), positions: make([]uint32, 1024)}
	}
	rand.Read(x.key[:]) // never fails
	return x
}

// Searcher returns a searcher of the index. The caller calls [search.Searcher.Done].
func (x *Index) Searcher() *search.Searcher { return x.searchers.Get() }

// View returns a view of the index. It fails with [version.ErrClosed].
func (x *Index) View() (version.View, error) { return x.versions.View(x.versions.Slot()) }

// IDs returns a new look-up of the documents' IDs.
func (x *Index) IDs() *version.IDs { return x.versions.IDs() }

// Config returns the description of the index.
func (x *Index) Config() *Config { return &x.config }

// HeldVersions returns the number of old versions that readers still hold. Their memory is freed when they are
// released. It may be called after Close.
func (x *Index) HeldVersions() int { return x.versions.HeldVersions() }

// Unwrap returns the implementation of an engine.Index, for programs that need its parts.
func Unwrap(x interface{ Implementation() any }) *Index { return x.Implementation().(*Index) }

// Stats are the sizes of an index.
type Stats struct {
	Documents    uint64
	Fingerprints uint64 // distinct within each segment and memtable
	Segments     int
	Buffered     uint64 // documents in memtables
	Unflushed    uint64 // documents that are in no file
	Deleted      uint64 // deleted documents that no merge has dropped yet
	Expired      uint64 // expired documents that no merge has dropped yet
	TableBytes   uint64
	Layout       table.Layout
}

// Stats counts the contents of the index. The counts of a closed index are 0.
func (x *Index) Stats() (s Stats) {
	w, err := x.View()
	if err != nil {
		return s
	}
	defer w.Release()
	s.Segments = len(w.Version.Segments)
	for _, g := range w.Version.Segments {
		s.Documents += g.Live(w.Now)
		s.Deleted += g.Tombstones.Len()
		s.Expired += g.Expires.Count(w.Now)
		s.Fingerprints += g.Fingerprints()
		s.Layout = g.Layout()
		for _, t := range g.Tables() {
			s.TableBytes += table.Bytes(t)
		}
	}
	for _, m := range w.Version.Memtables {
		visible, expired := m.Count(w.Moment, w.Now)
		s.Documents += visible
		s.Buffered += uint64(m.Len())
		s.Deleted += m.Tombstones.Len()
		s.Expired += expired
	}
	s.Fingerprints += s.Buffered
	s.Unflushed = w.Version.InMemory()
	return s
}

// Check reads everything and checks that it is consistent; see [segment.Segment.Check]. It also looks up each document
// by its ID.
func (x *Index) Check(ctx context.Context) error {
	w, err := x.View()
	if err != nil {
		return err
	}
	defer w.Release()
	for i, s := range w.Version.Segments {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.Check()
		if err == nil {
			err = s.CheckIDs(ctx, &x.key)
		}
		if err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
	}
	return nil
}

// Close ends background work and frees the memory, including files in memory. An index that is open for writing is
// flushed first. If that fails, its documents are in the log, and the error says so. Current calls end normally, and
// the last one frees what it reads. Later calls fail with [version.ErrClosed]. Close may be called again.
func (x *Index) Close() error {
	var err error
	if x.folder.durable() && x.versions.Current() != nil {
		if err = x.upkeep.flush(context.Background()); errors.Is(err, version.ErrClosed) {
			err = nil
		}
	}
	return errors.Join(err, x.end())
}

// end stops the upkeep and closes all files without a flush.
func (x *Index) end() (err error) {
	x.writer.mu.Lock()
	x.writer.closed = true
	x.stop()
	x.writer.state.space.wakeWaiting()
	x.writer.mu.Unlock()
	x.upkeep.group.Wait()
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	if x.writer.log != nil {
		if err = x.writer.log.Close(); errors.Is(err, wal.ErrClosed) {
			err = nil
		}
	}
	defer x.loaded.Release()
	defer x.writer.state.space.inserted.Release()
	err = errors.Join(err, x.versions.Publish(nil))
	if x.folder.lock != nil {
		x.folder.lock.Close()
	}
	return err
}

// SegmentStats are the sizes of one segment.
type SegmentStats struct {
	Documents    uint64 // includes deleted documents
	Fingerprints uint64 // distinct fingerprints
	TableBytes   uint64
	Tables       []uint64 // part of each table
	FileBytes    uint64   // 0 if it is in no file
}

// Segments returns the sizes of the segments, in the order of their documents. A closed index has none. It is safe for
// concurrent use.
func (x *Index) Segments() []SegmentStats {
	w, err := x.View()
	if err != nil {
		return nil
	}
	defer w.Release()
	list := make([]SegmentStats, 0, len(w.Version.Segments))
	for _, s := range w.Version.Segments {
		stats := SegmentStats{Documents: s.Documents(), Fingerprints: s.Fingerprints()}
		for _, t := range s.Tables() {
			stats.TableBytes += table.Bytes(t)
			stats.Tables = append(stats.Tables, table.Bytes(t))
		}
		if s.File != nil {
			stats.FileBytes = s.File.Bytes()
		}
		list = append(list, stats)
	}
	return list
}

// Merging reports whether a merge of files is running or waits to begin.
func (x *Index) Merging() bool {
	if x.upkeep.merging.TryLock() {
		x.upkeep.merging.Unlock()
		return false
	}
	return true
}

// Spread reports how the tables are spread over memory nodes, and the work of the workers. ok is false if they are not
// spread.
func (x *Index) Spread() (r worker.Report, ok bool) {
	if x.workers == nil {
		return r, false
	}
	return x.workers.Report(), true
}

// Goroutines returns the number of goroutines of a batch that keep the given number of threads busy. With workers there
// are twice as many, so that each worker finds its next task ready.
func (x *Index) Goroutines(threads int) int {
	if x.workers == nil {
		return threads
	}
	return max(threads, 2*x.workers.Workers())
}

// Find returns the document with an ID. ok is false if there is none.
func (x *Index) Find(id string) (doc rows.DocID, ok bool, err error) {
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	if x.versions.Current() == nil {
		return 0, false, version.ErrClosed
	}
	return x.writer.ids.newest(id)
}

// Flush writes the memtables to a file, so that the log has no change from before the call. An index in memory has
// nothing to flush.
func (x *Index) Flush(ctx context.Context) error {
	if !x.folder.durable() {
		return nil
	}
	return x.upkeep.flush(ctx)
}

// Merge makes one segment of all documents, without deleted ones. It waits for a merge in the background.
func (x *Index) Merge(ctx context.Context, threads int) error {
	if !x.folder.durable() {
		return errors.New("an index in memory merges by itself")
	}
	if err := x.upkeep.flush(ctx); err != nil {
		return err
	}
	_, err := x.upkeep.merge(ctx, threads, func(segments []*version.Segment, now rows.Time) []*version.Segment {
		if len(segments) == 1 && !segments[0].MayHide(now) &&
			slices.Equal(segments[0].Design().Tables, x.config.Design.Tables) {
			return nil
		}
		return segments
	})
	return err
}

// CheckAndInsert inserts each document unless a document within distance k exists, including earlier ones of docs, that
// the sketches confirm. It returns an outcome for each, in order. A document that was not inserted has the hits that
// prevented it, each with its first maxDocs documents. If two near-duplicates arrive together, in one call or in two,
// exactly one is inserted. Every document that prevents an insert is durable. CheckAndInsert waits as [Index.Insert]
// does. A document whose ID and content are stored is not inserted again, even if others are near: its outcome is the
// first one again, with Repeated set. With an error it returns the outcomes of the first documents, which are decided
// and durable.
func (x *Index) CheckAndInsert(ctx context.Context, docs []rows.Doc, k, maxDocs int) ([]Outcome, error) {
	c := x.checkers.Get().(*checker)
	defer x.checkers.Put(c)
	return c.run(ctx, docs, k, maxDocs)
}
