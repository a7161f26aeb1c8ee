package live

import (
	"fmt"
	"strconv"

	"ndd/engine/index/idlist"
	"ndd/engine/storage/store"
)

// IDs looks up the IDs of documents. It belongs to one goroutine.
type IDs struct {
	index   *Index
	slot    uint32
	version *version // of the cursors
	cursors map[*idlist.List]*idlist.Cursor
}

// IDs returns a new look-up.
func (x *Index) IDs() *IDs {
	return &IDs{index: x, slot: x.slot(), cursors: make(map[*idlist.List]*idlist.Cursor)}
}

// ID returns the document's ID: its ordinal number in decimal when it has none. It costs about 10
// microseconds, less for the next document of the same 256.
func (n *IDs) ID(doc DocID) (_ string, err error) {
	v, err := n.index.hold(n.slot)
	if err != nil {
		return "", err
	}
	defer n.index.release(v, n.slot)
	if v != n.version { // cursors of segments that are gone keep their blocks
		n.version = v
		clear(n.cursors)
	}
	defer store.CatchFault(&err)()
	for _, s := range v.segments {
		if doc < s.first || doc >= s.end() {
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
	for _, m := range v.memtables {
		if doc < m.first || doc >= m.end() {
			continue
		}
		if m.ids == nil {
			return strconv.FormatUint(uint64(doc), 10), nil
		}
		return m.ids[doc-m.first], nil
	}
	return "", fmt.Errorf("document %d: no such document", doc)
}
