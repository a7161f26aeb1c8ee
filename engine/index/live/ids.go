package live

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"ndd/engine/index/idlist"
	"ndd/engine/parallel"
	"ndd/engine/storage/store"
)

// IDs looks up the IDs of documents. It belongs to one goroutine.
type IDs struct {
	index   *Index
	slot    uint32
	view    *version // that it looks in; nil: what is current
	version *version // of the cursors
	cursors map[*idlist.List]*idlist.Cursor
}

// IDs returns a new look-up.
func (x *Index) IDs() *IDs {
	return &IDs{index: x, slot: x.slot(), cursors: make(map[*idlist.List]*idlist.Cursor)}
}

// IDs returns a new look-up of the documents of the view, those that were deleted since among them, to be
// used until the view is released.
func (w View) IDs() *IDs {
	n := w.index.IDs()
	n.view = w.version
	return n
}

// hold returns the version to look in, and how to release it.
func (n *IDs) hold() (_ *version, release func(), err error) {
	if n.view != nil {
		return n.view, func() {}, nil
	}
	v, err := n.index.hold(n.slot)
	return v, func() { n.index.release(v, n.slot) }, err
}

// ID returns the document's ID: its ordinal number in decimal when it has none, and nothing for [NoDoc]. It costs about 10
// microseconds, less for the next document of the same 256.
func (n *IDs) ID(doc DocID) (string, error) {
	if doc == NoDoc {
		return "", nil
	}
	id, err := n.ofRow(doc * DocID(n.index.config.each()))
	switch {
	case errors.Is(err, ErrNoDocument):
		return "", fmt.Errorf("document %d: %w", doc, err)
	case err != nil:
		return "", err
	}
	return cmp.Or(id, strconv.FormatUint(uint64(doc), 10)), nil
}

// ofRow returns the ID of a row, empty where it has none.
func (n *IDs) ofRow(doc DocID) (_ string, err error) {
	v, release, err := n.hold()
	if err != nil {
		return "", err
	}
	defer release()
	if v != n.version { // cursors of segments that are gone keep their blocks
		n.version = v
		clear(n.cursors)
	}
	defer store.CatchFault(&err)()
	defer parallel.EndStage()
	parallel.StageNames.Begin()
	if s := v.segmentOf(doc); s != nil {
		row, ok := s.numbers.row(doc)
		if !ok {
			return "", ErrNoDocument
		}
		list := s.Segment.IDs()
		if list == nil {
			return "", nil
		}
		c := n.cursors[list]
		if c == nil {
			c = list.Cursor()
			n.cursors[list] = c
		}
		return c.ID(row)
	}
	if m := v.memtableOf(doc); m != nil {
		return m.id(int(doc - m.first)), nil
	}
	return "", ErrNoDocument
}

// ErrNoDocument is wrapped where a document was deleted, or replaced, and is gone: after a query found it,
// for example, and before its ID was looked up.
var ErrNoDocument = errors.New("no such document")
