package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/index/worker"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
	"ndd/engine/storage/wal"
	"ndd/permute"
)

// A Config says what an index is.
type Config struct {
	Design permute.Design
	Table  table.Options   // of the segments that are made here
	Recipe *simhash.Recipe // of the fingerprints; nil for any
	IDs    bool            // documents have IDs

	// Lengths says that the lengths of the documents' texts are kept, 4 bytes a document. MaxLengthRatio, unless it is 0, leaves
	// out of every answer, and of what keeps a document from being inserted, documents whose text is more than that
	// many times as long as the query's, or as many times shorter, where both lengths are known.
	Lengths        bool
	MaxLengthRatio float64

	Choice *Choice // why it has its tables; nil where that was not kept

	OnConflict OnConflict                // what becomes of a document whose ID is taken; 0 is Replace
	TTL        time.Duration             // how long documents are kept that say nothing else; 0 is forever
	Budget     *memory.Budget            // of what is in memory and of merges; nil is what this machine has left when the index is opened
	planned    func(docs, memory uint64) // see OpenOptions
	flushDocs  uint64                    // of a memtable, for tests: 0 is the package's own; with neverFlush only calls flush
	now        func() time.Time          // for tests; nil is time.Now
}

// neverFlush has nothing flushed by itself.
const neverFlush = 1 << 40

// memtableDocs returns how many documents fill a memtable: fewer where it is scanned.
func (c *Config) memtableDocs() uint64 {
	most := uint64(memtableDocs)
	if c.Design.K > blocksMax {
		most = scannedDocs
	}
	return min(cmp.Or(c.flushDocs, most), most)
}

// An Index is a set of segments and memtables that changes by edits.
type Index struct {
	config   Config
	opening  Opening
	key      idKey
	folder   *folder // nil where nothing is durable
	recovery Recovery
	wall     wallClock

	versions
	_         [lineBytes]byte
	committed atomic.Uint64 // readers' clock: the number of the first document that they do not see
	_         [lineBytes]byte
	searchers sync.Pool // of *Searcher
	workers   *worker.Set
	reserved  *memory.Reservation // of files that are loaded
	inserted  *memory.Reservation // of what was inserted and is in memory
	writer
}

// New returns an index in memory of these segments, whose documents are numbered through them in
// order, and which are the index's to close.
func New(c Config, segments ...*segment.Segment) (*Index, error) {
	if err := c.Design.Validate(); err != nil {
		return nil, err
	}
	list := make([]*Segment, len(segments))
	next := DocID(0)
	for i, s := range segments {
		list[i] = openNumbered(s, next, nil)
		next = list[i].end()
	}
	x := newIndex(c)
	if err := x.fill(list, next); err != nil {
		return nil, err
	}
	x.background.start(x)
	return x, nil
}

// newIndex returns an index of nothing, not even a version, whose background work is not started.
func newIndex(c Config) *Index {
	x := &Index{config: c}
	x.config.Budget = c.Budget.Here()
	x.wall.system = c.now
	x.searchers.New = func() any {
		return &Searcher{index: x, ctx: context.Background(), limits: defaultLimits(), slot: x.slot(), positions: make([]uint32, 1024)}
	}
	rand.Read(x.key[:]) // never fails
	return x
}

// fill gives an index its first version.
func (x *Index) fill(segments []*Segment, next DocID) error {
	for _, s := range segments {
		if s.expires.first != 0 {
			x.wall.expiring.Store(true)
		}
	}
	x.committed.Store(uint64(next))
	return x.Apply(Edit{Add: segments, addMemtable: x.newMemtable(next)})
}

// indexIDs makes the index of a segment's IDs in memory, unless it has one or needs none: when an ID
// is looked up for the first time in a segment that was built, of an index that is not open for
// writing. It needs x.mu.
func (x *Index) indexIDs(s *Segment) error {
	list := s.Segment.IDs()
	if list == nil || len(s.ids.slots) > 0 || !x.config.IDs {
		return nil
	}
	reserved, err := x.reserveIDs(s)
	if err != nil {
		return err
	}
	held, err := indexIDs(&x.key, s.Documents(), list.All())
	if err != nil {
		reserved.Release()
		return err
	}
	free := s.free
	s.ids, s.free = held.idIndex, func() error {
		held.free()
		reserved.Release()
		if free == nil {
			return nil
		}
		return free()
	}
	return nil
}

// reserveIDs reserves the memory of an index of a segment's IDs.
func (x *Index) reserveIDs(s *Segment) (*memory.Reservation, error) {
	return x.config.Budget.Here().Reserve(fmt.Sprintf("an index of %s IDs", humanize.Comma(int64(s.Documents()))), 8*idIndexLen(s.Documents()))
}

// Config returns what the index is.
func (x *Index) Config() *Config { return &x.config }

// Opening reports how the index was opened; it is zero for a new one.
func (x *Index) Opening() Opening { return x.opening }

// Held returns how many versions, that are not current any more, readers still hold: their memory
// is given back when they are released. It may be called after Close.
func (x *Index) Held() int { return x.held() }

// Stats are an index's sizes.
type Stats struct {
	Documents    uint64
	Fingerprints uint64 // distinct within each segment and memtable
	Segments     int
	Buffered     uint64 // documents in memtables
	Unflushed    uint64 // documents that are in no file
	Deleted      uint64 // documents that were deleted and take room until a merge drops them
	Expired      uint64 // documents whose time is over and that take room likewise
	TableBytes   uint64
	Layout       table.Layout
}

// Stats counts what the index holds now: nothing once it is closed.
func (x *Index) Stats() (s Stats) {
	w, err := x.View()
	if err != nil {
		return s
	}
	defer w.Release()
	s.Segments = len(w.version.segments)
	for _, g := range w.version.segments {
		s.Documents += g.live(w.now)
		s.Deleted += g.dead.len()
		s.Expired += g.expires.count(w.now)
		s.Fingerprints += g.Fingerprints()
		s.Layout = g.Layout()
		for _, t := range g.Tables() {
			s.TableBytes += table.Bytes(t)
		}
	}
	for _, m := range w.version.memtables {
		seen, expired := m.count(w)
		s.Documents += seen
		s.Buffered += uint64(m.len())
		s.Deleted += m.dead.len()
		s.Expired += expired
	}
	s.Fingerprints += s.Buffered
	s.Unflushed = w.version.inMemory()
	for _, rows := range []*uint64{&s.Documents, &s.Buffered, &s.Unflushed, &s.Deleted, &s.Expired} {
		*rows = x.config.documents(*rows)
	}
	return s
}

// Check reads everything and holds it against itself; see [segment.Segment.Check]. It finds each
// document by its ID, too.
func (x *Index) Check(ctx context.Context) error {
	w, err := x.View()
	if err != nil {
		return err
	}
	defer w.Release()
	for i, s := range w.version.segments {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.Check()
		if err == nil {
			err = x.checkIDs(ctx, s)
		}
		if err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
	}
	return nil
}

// checkIDs looks up the ID of each document in the index of IDs beside a segment.
func (x *Index) checkIDs(ctx context.Context, s *Segment) (err error) {
	if s.beside == nil || s.Segment.IDs() == nil {
		return nil
	}
	defer store.CatchFault(&err)()
	row := uint64(0)
	for id, err := range s.Segment.IDs().All() {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		found := id == ""
		s.beside.ids.rows(x.key.hash(id), func(r uint64) bool {
			found = found || r == row
			return !found
		})
		if !found {
			return s.beside.file.Corrupt("document %d has the ID %.200q, and the index of IDs has not", s.numbers.doc(row), id)
		}
		row++
	}
	return nil
}

// Close ends background work and gives the memory back, that of files too. What is in memory of an
// index that is written to is flushed before; where that fails, it is in the log, and the error says
// so. Calls that are under way end as if nothing had happened, and the last of them gives back what
// they read; later ones fail with [ErrClosed]. It may be called again.
func (x *Index) Close() error {
	var err error
	if x.folder != nil && x.current.Load() != nil {
		if err = x.flush(context.Background()); errors.Is(err, ErrClosed) {
			err = nil
		}
	}
	return errors.Join(err, x.end())
}

// end ends background work and closes all files. What is in memory is in the log only.
func (x *Index) end() (err error) {
	x.writer.close()
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	if x.log != nil {
		if err = x.log.Close(); errors.Is(err, wal.ErrClosed) {
			err = nil
		}
	}
	defer x.reserved.Release()
	defer x.inserted.Release()
	err = errors.Join(err, x.publish(nil))
	if x.folder != nil {
		x.folder.unlock()
	}
	return err
}
