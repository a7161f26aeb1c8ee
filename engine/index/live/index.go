package live

import (
	"context"
	"fmt"
	"sync"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/index/worker"
	"ndd/engine/memory"
	"ndd/permute"
)

// A Config says what an index is.
type Config struct {
	Design permute.Design
	Table  table.Options   // of the segments that are made here
	Recipe *simhash.Recipe // of the fingerprints; nil for any
	IDs    bool            // documents have IDs
	Choice *Choice         // why it has its tables; nil where that was not kept
}

// An Index is a set of segments and memtables that changes by edits.
type Index struct {
	config  Config
	opening Opening

	versions
	searchers sync.Pool // of *Searcher
	workers   *worker.Set
	reserved  *memory.Reservation // of files that are loaded
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
		list[i] = &Segment{Segment: s, first: next}
		next = list[i].end()
	}
	return newIndex(c, list)
}

// newIndex returns an index of segments, in order of their documents, and starts its background work.
func newIndex(c Config, segments []*Segment) (*Index, error) {
	x := &Index{config: c}
	x.searchers.New = func() any { return &Searcher{index: x, slot: x.slot(), positions: make([]uint32, 1024)} }
	next := DocID(0)
	if len(segments) > 0 {
		next = segments[len(segments)-1].end()
	}
	if err := x.Apply(Edit{Add: segments, addMemtable: newMemtable(next, c.IDs)}); err != nil {
		return nil, err
	}
	x.writer.start(x)
	return x, nil
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
		s.Documents += g.Documents()
		s.Fingerprints += g.Fingerprints()
		s.Layout = g.Layout()
		for _, t := range g.Tables() {
			s.TableBytes += table.Bytes(t)
		}
	}
	for _, m := range w.version.memtables {
		s.Buffered += uint64(m.len())
	}
	s.Documents += s.Buffered
	s.Fingerprints += s.Buffered
	return s
}

// Check reads everything and holds it against itself; see [segment.Segment.Check].
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
		if err := s.Check(); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
	}
	return nil
}

// Close ends background work and gives the memory back, that of files too. Calls that are under
// way end as if nothing had happened, and the last of them gives back what they read; later ones
// fail with [ErrClosed]. It may be called again.
func (x *Index) Close() error {
	x.writer.stop()
	x.writer.mu.Lock()
	defer x.writer.mu.Unlock()
	defer x.reserved.Release()
	return x.publish(nil)
}
