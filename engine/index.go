package engine

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/idlist"
	"ndd/engine/index/table"
	"ndd/engine/index/worker"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// A DocID is the ordinal of a document in an index, from 0 in order of arrival.
type DocID uint64

// An Index answers queries and takes inserts.
type Index struct {
	design  permute.Design
	recipe  *simhash.Recipe
	named   bool
	choice  *Choice
	opening Opening
	files   []*store.File // of the first segments; they are the segments' to close

	versions
	workers  *worker.Set         // of the files' segments; nil without
	reserved *memory.Reservation // of files that are loaded
	scratch  sync.Pool           // of *scratch
	inserter
}

// New is an empty index in memory for documents fingerprinted by recipe (nil
// for any fingerprints), with the tables of a design.
func New(design permute.Design, recipe *simhash.Recipe) (*Index, error) {
	if err := design.Validate(); err != nil {
		return nil, err
	}
	return newIndex(design, recipe, true, nil, nil), nil
}

func newIndex(design permute.Design, recipe *simhash.Recipe, named bool, segments []*placed, files []*store.File) *Index {
	x := &Index{design: design, recipe: recipe, named: named, files: files}
	x.scratch.New = func() any { return &scratch{place: x.place()} }
	next := DocID(0)
	for _, s := range segments {
		next = s.first + DocID(s.Documents())
	}
	x.swap(&version{segments: segments, buffers: []*buffer{newBuffer(next, named)}})
	x.inserter.start(x)
	return x
}

// Design is that of the index's tables.
func (x *Index) Design() *permute.Design { return &x.design }

// Recipe is how the fingerprints were made, nil when the index does not know.
func (x *Index) Recipe() *simhash.Recipe { return x.recipe }

// Choice is why the index has its tables, nil where that was not kept: tables
// that somebody named, a new index.
func (x *Index) Choice() *Choice { return x.choice }

// Stats are an index's sizes.
type Stats struct {
	Documents    uint64
	Fingerprints uint64 // distinct within each segment and buffer
	Segments     int
	Buffered     uint64 // documents in buffers
	TableBytes   uint64
	Layout       table.Layout
}

// Stats counts what the index holds now: nothing once it is closed.
func (x *Index) Stats() (s Stats) {
	place := x.place()
	v, err := x.hold(place)
	if err != nil {
		return s
	}
	defer x.release(v, place)
	s.Segments = len(v.segments)
	for _, g := range v.segments {
		s.Documents += g.Documents()
		s.Fingerprints += g.Fingerprints()
		s.Layout = g.Layout()
		for _, t := range g.Tables() {
			s.TableBytes += table.Bytes(t)
		}
	}
	for _, b := range v.buffers {
		s.Buffered += uint64(b.len())
	}
	s.Documents += s.Buffered
	s.Fingerprints += s.Buffered
	return s
}

// Check reads everything and holds it against itself; see [segment.Segment.Check].
func (x *Index) Check(ctx context.Context) error {
	place := x.place()
	v, err := x.hold(place)
	if err != nil {
		return err
	}
	defer x.release(v, place)
	for i, s := range v.segments {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.Check(); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
	}
	return nil
}

// IDs looks up the IDs of documents. It belongs to one goroutine.
type IDs struct {
	index   *Index
	place   uint32
	version *version // of the cursors
	cursors map[*idlist.List]*idlist.Cursor
}

// IDs returns a new look-up.
func (x *Index) IDs() *IDs {
	return &IDs{index: x, place: x.place(), cursors: make(map[*idlist.List]*idlist.Cursor)}
}

// ID returns the document's ID: its ordinal in decimal when it has none.
func (n *IDs) ID(doc DocID) (_ string, err error) {
	v, err := n.index.hold(n.place)
	if err != nil {
		return "", err
	}
	defer n.index.release(v, n.place)
	if v != n.version { // cursors of segments that are gone keep their blocks
		n.version = v
		clear(n.cursors)
	}
	defer store.CatchFault(&err)()
	for _, s := range v.segments {
		if doc < s.first || doc >= s.first+DocID(s.Documents()) {
			continue
		}
		list := s.Segment.IDs()
		if list == nil {
			return strconv.FormatUint(uint64(doc), 10), nil
		}
		c := n.cursors[list]
		if c == nil {
			c = list.Cursor()
			n.cursors[list] = c
		}
		return c.ID(uint64(doc - s.first))
	}
	for _, b := range v.buffers {
		if doc < b.first || doc >= b.first+DocID(b.len()) {
			continue
		}
		if b.ids == nil {
			return strconv.FormatUint(uint64(doc), 10), nil
		}
		return b.ids[doc-b.first], nil
	}
	return "", fmt.Errorf("document %d: no such document", doc)
}

// Close ends background work and gives the memory back, that of files too.
// Calls that are under way end as if nothing had happened, and the last of them
// gives back what they read; later ones fail with [ErrClosed]. It may be called
// again.
func (x *Index) Close() error {
	x.inserter.stop()
	x.inserter.mu.Lock()
	defer x.inserter.mu.Unlock()
	defer x.reserved.Release()
	return x.swap(nil)
}
