package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"ndd/engine/names"
	"ndd/engine/segment"
	"ndd/engine/simhash"
	"ndd/engine/store"
	"ndd/engine/table"
	"ndd/permute"
)

// A DocID is the ordinal of a document in an index, from 0 in order of arrival.
type DocID uint64

// An Index answers queries and takes inserts.
type Index struct {
	design permute.Design
	recipe *simhash.Recipe
	named  bool
	files  []*store.File

	current atomic.Pointer[version]
	scratch sync.Pool // of *scratch
	inserter
}

// A version is what a reader sees: immutable, but for the last buffer, which
// grows.
type version struct {
	segments []placed
	buffers  []*buffer
}

// placed is a segment whose document of row 0 is number first.
type placed struct {
	*segment.Segment
	first DocID
}

// New is an empty index in memory for documents fingerprinted by recipe (nil
// for any fingerprints), with the tables of a design.
func New(design permute.Design, recipe *simhash.Recipe) (*Index, error) {
	if err := design.Validate(); err != nil {
		return nil, err
	}
	return newIndex(design, recipe, true, nil, nil), nil
}

func newIndex(design permute.Design, recipe *simhash.Recipe, named bool, segments []placed, files []*store.File) *Index {
	x := &Index{design: design, recipe: recipe, named: named, files: files}
	x.scratch.New = func() any { return new(scratch) }
	next := DocID(0)
	for _, s := range segments {
		next = s.first + DocID(s.Documents())
	}
	x.current.Store(&version{segments: segments, buffers: []*buffer{newBuffer(next, named)}})
	x.inserter.start(x)
	return x
}

// Design is that of the index's tables.
func (x *Index) Design() *permute.Design { return &x.design }

// Recipe is how the fingerprints were made, nil when the index does not know.
func (x *Index) Recipe() *simhash.Recipe { return x.recipe }

// Stats are an index's sizes.
type Stats struct {
	Documents    uint64
	Fingerprints uint64 // distinct within each segment and buffer
	Segments     int
	Buffered     uint64 // documents in buffers
	TableBytes   uint64
	Layout       table.Layout
}

// Stats counts what the index holds now.
func (x *Index) Stats() (s Stats) {
	v := x.current.Load()
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
	for i, s := range x.current.Load().segments {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.Check(); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
	}
	return nil
}

// Names looks documents' names up. It belongs to one goroutine.
type Names struct {
	index   *Index
	version *version
	cursors map[*names.Names]*names.Cursor
}

// Names is a new look-up, which knows the documents that are in the index now.
func (x *Index) Names() *Names {
	return &Names{index: x, version: x.current.Load(), cursors: make(map[*names.Names]*names.Cursor)}
}

// Name is the document's name: its ordinal in decimal when it has none.
func (n *Names) Name(doc DocID) (string, error) {
	for {
		name, err := n.name(doc)
		if !errors.Is(err, errUnknown) {
			return name, err
		}
		v := n.index.current.Load() // the document may be newer than our version
		if v == n.version {
			return "", err
		}
		n.version = v
	}
}

var errUnknown = errors.New("no such document")

func (n *Names) name(doc DocID) (_ string, err error) {
	defer store.CatchFault(&err)()
	for _, s := range n.version.segments {
		if doc < s.first || doc >= s.first+DocID(s.Documents()) {
			continue
		}
		list := s.Segment.Names()
		if list == nil {
			return strconv.FormatUint(uint64(doc), 10), nil
		}
		c := n.cursors[list]
		if c == nil {
			c = list.Cursor()
			n.cursors[list] = c
		}
		return c.Name(uint64(doc - s.first))
	}
	for _, b := range n.version.buffers {
		if doc < b.first || doc >= b.first+DocID(b.len()) {
			continue
		}
		if b.names == nil {
			return strconv.FormatUint(uint64(doc), 10), nil
		}
		return b.names[doc-b.first], nil
	}
	return "", fmt.Errorf("document %d: %w", doc, errUnknown)
}

// Close ends background work and releases the files. No call may be under way.
func (x *Index) Close() error {
	x.inserter.stop()
	for _, s := range x.current.Load().segments {
		s.Close()
	}
	var err error
	for _, f := range x.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
