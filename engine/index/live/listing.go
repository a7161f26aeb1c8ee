package live

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

// Listed counts the documents of a view that was listed.
type Listed struct {
	Documents uint64 // that the view has
	Expiring  uint64 // those of them that expire at some time
	Deleted   uint64 // documents that are in segments or memtables still, and deleted or replaced,
	Expired   uint64 // or expired, and not deleted
}

const (
	// listedRows of a segment are listed at a time at least, whatever memory is left.
	listedRows = 1 << 20
	// listedBytes is what a row takes meanwhile: its fingerprint, and a bit.
	listedBytes = 9
)

// Documents calls yield with each document of the view, in order of its number, until it returns an error, which is returned. Deleted and expired
// ones are left out and counted. A document without an ID has an empty one, and one whose length is not known TextBytes of 0; TTL and OnConflict
// are not set: when a document expires belongs to the index that has it.
//
// A segment knows the documents of a fingerprint, not the fingerprint of a document. So for some documents at a time the whole of one table is
// read (see [segment.Segment.Prints]) and 9 bytes for each of them are reserved of the index's budget: at most half of what that has left, or
// of the largest segment's documents, and no less than 9 MiB of a segment of a million. With a gigabyte left, each pass over a segment lists some 60
// million documents. Nothing else grows with the index. A document takes some tenths of a microsecond, and each pass 10 ns for each of the segment.
//
// The error wraps [ErrNoDocs], [memory.ErrTooLarge] or [store.ErrCorrupt], or is that of ctx. The view may be read by others meanwhile.
func (w View) Documents(ctx context.Context, yield func(doc DocID, d Doc) error) (Listed, error) {
	half := w.index.config.Budget.Left() / 2 / listedBytes
	return w.documents(ctx, max(half&^1, listedRows), yield) // even, as a document may have two rows
}

// documents is [View.Documents] with so many rows of a segment at a time at most.
func (w View) documents(ctx context.Context, most uint64, yield func(doc DocID, d Doc) error) (Listed, error) {
	l := listing{ctx: ctx, view: w, most: most, yield: yield}
	for i, s := range w.version.segments {
		if err := l.segment(s); err != nil {
			return l.Listed, fmt.Errorf("segment %d: %w", i, err)
		}
	}
	for _, m := range w.version.memtables {
		if err := l.memtable(m); err != nil {
			return l.Listed, err
		}
	}
	return l.Listed, nil
}

// A listing is a call of [View.Documents].
type listing struct {
	Listed
	ctx   context.Context
	view  View
	most  uint64
	yield func(doc DocID, d Doc) error
	seen  uint64
}

// A listedRow is what tells of a document, of whose rows it is the first, what its fingerprints do not.
type listedRow struct {
	number  DocID
	deleted bool
	expires moment
	rest    func() (id string, textBytes uint32, err error)
}

// row lists the document of a row and the one behind it, if that is its second.
func (l *listing) row(r listedRow, prints []uint64) error {
	const often = 1 << 12
	if l.seen++; l.seen%often == 0 && l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	switch {
	case r.deleted:
		l.Deleted++
		return nil
	case r.expires.expired(l.view.now):
		l.Expired++
		return nil
	case r.expires != 0:
		l.Expiring++
	}
	id, textBytes, err := r.rest()
	if err != nil {
		return err
	}
	d := Doc{ID: id, TextBytes: textBytes, Fingerprint: simhash.Fingerprint(prints[0])}
	if len(prints) > 1 {
		d.Second = simhash.Fingerprint(prints[1])
	}
	l.Documents++
	return l.yield(l.view.index.config.document(r.number), d)
}

// segment lists the documents of a segment.
func (l *listing) segment(s *Segment) (err error) {
	defer store.CatchFault(&err)()
	n := s.Documents()
	if n == 0 {
		return nil
	}
	rows := min(n, l.most)
	reserved, err := l.view.index.config.Budget.Reserve("listing "+humanize.Comma(int64(n))+" documents", rows*listedBytes)
	if err != nil {
		return err
	}
	defer reserved.Release()
	buffer, err := memory.Make[uint64](int(rows))
	if err != nil {
		return err
	}
	defer buffer.Free()
	rest := restOf(s.Segment)
	for from := uint64(0); from < n; from += rows {
		prints := buffer.Data[:min(rows, n-from)]
		if err := s.Prints(l.ctx, prints, from); err != nil {
			return err
		}
		if err := l.rows(s, from, prints, rest); err != nil {
			return err
		}
	}
	return l.ctx.Err()
}

// rows lists the documents of some rows of a segment.
func (l *listing) rows(s *Segment, from uint64, prints []uint64, rest func(row uint64) (string, uint32, error)) error {
	each := l.view.index.config.each()
	for at := 0; at < len(prints); at += each {
		row := from + uint64(at)
		r := listedRow{number: s.numbers.doc(row), expires: s.expires.of(row)}
		r.deleted = s.dead.has(r.number, l.view.clock)
		r.rest = func() (string, uint32, error) { return rest(row) }
		if err := l.row(r, prints[at:at+each]); err != nil {
			return err
		}
	}
	return nil
}

// restOf returns a function that returns the ID, empty for none, and the length of the text of a row, 0 where it is not known.
func restOf(s *segment.Segment) func(row uint64) (string, uint32, error) {
	id := func(uint64) (string, error) { return "", nil }
	if list := s.IDs(); list != nil {
		id = list.Cursor().ID
	}
	lengths := s.Lengths()
	return func(row uint64) (_ string, textBytes uint32, err error) {
		if lengths != nil {
			textBytes = lengths[row]
		}
		said, err := id(row)
		return said, textBytes, err
	}
}

// memtable lists the documents of a memtable.
func (l *listing) memtable(m *memtable) error {
	each := l.view.index.config.each()
	prints := make([]uint64, 0, 2)
	for row := 0; row < m.before(l.view.clock); row += each {
		prints = prints[:0]
		for i := range each {
			prints = append(prints, m.fingerprint(row+i))
		}
		r := listedRow{number: m.first + DocID(row), expires: m.expiry(row)}
		r.deleted = m.dead.has(r.number, l.view.clock)
		r.rest = func() (string, uint32, error) { return m.id(row), m.textBytes(row), nil }
		if err := l.row(r, prints); err != nil {
			return err
		}
	}
	return l.ctx.Err()
}
