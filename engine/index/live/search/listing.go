package search

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/dustin/go-humanize"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
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

// Documents calls yield with each document of the view, in order of its number, until yield returns
// an error, which it returns. Deleted and expired documents are left out and counted. A document
// without an ID has an empty one, and one without a sketch the zero sketch; TTL and
// OnConflict are not set: when a document expires belongs to its index.
//
// A segment knows the documents of a fingerprint, not the fingerprint of a document. So Documents
// reads all of one table for some documents at a time (see [segment.Segment.Prints]) and reserves 9
// bytes for each of them from the budget: at most half of what is left, or of the largest segment's
// documents, and at least 9 MiB of a segment of a million. With a gigabyte left, each pass over a
// segment lists some 60 million documents. A document takes some tenths of a microsecond, and each
// pass 10 ns for each document of the segment.
//
// The error may wrap [ErrNoDocs], [memory.ErrTooLarge] or [store.ErrCorrupt], or be that of ctx.
func Documents(ctx context.Context, w version.View, budget *memory.Budget, maxRows uint64,
	yield func(doc rows.DocID, d rows.Doc) error) (Listed, error) {
	if maxRows == 0 {
		maxRows = max(budget.Left()/2/listedBytes, listedRows)
	}
	return (&listing{ctx: ctx, view: w, budget: budget, maxRows: maxRows, yield: yield}).run()
}

// List calls yield with the number and the ID of each document of the view, from number first on
// and in order, until yield returns false. A document without an ID has an empty one. It reads
// nothing but IDs, at some 50 ns each. The error is that of ctx, or wraps [store.ErrCorrupt].
func List(ctx context.Context, w version.View, first rows.DocID, yield func(doc rows.DocID, id string) bool) error {
	enough := errors.New("enough")
	_, err := (&listing{ctx: ctx, view: w, first: first, idsOnly: true, yield: func(doc rows.DocID, d rows.Doc) error {
		if !yield(doc, d.ID) {
			return enough
		}
		return nil
	}}).run()
	if errors.Is(err, enough) {
		return nil
	}
	return err
}

// A listing is a call of [Documents] or [List].
type listing struct {
	Listed
	ctx     context.Context
	view    version.View
	first   rows.DocID // those before it are left out
	idsOnly bool
	budget  *memory.Budget
	maxRows uint64 // of a segment that are listed at a time
	yield   func(doc rows.DocID, d rows.Doc) error
	seen    uint64
}

func (l *listing) run() (Listed, error) {
	for i, s := range l.view.Version.Segments {
		if err := l.segment(s); err != nil {
			return l.Listed, fmt.Errorf("segment %d: %w", i, err)
		}
	}
	for _, m := range l.view.Version.Memtables {
		if err := l.memtable(m); err != nil {
			return l.Listed, err
		}
	}
	return l.Listed, l.ctx.Err()
}

// row lists a document, whose ID id returns, unless it is deleted or has expired.
func (l *listing) row(doc rows.DocID, d rows.Doc, deleted bool, expires rows.Time,
	id func() (string, error)) (err error) {
	const often = 1 << 12
	if l.seen++; l.seen%often == 0 && l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	switch {
	case deleted:
		l.Deleted++
		return nil
	case expires.Expired(l.view.Now):
		l.Expired++
		return nil
	case expires != 0:
		l.Expiring++
	}
	if d.ID, err = id(); err != nil {
		return err
	}
	l.Documents++
	return l.yield(doc, d)
}

// segment lists the documents of a segment.
func (l *listing) segment(s *version.Segment) (err error) {
	defer store.CatchFault(&err)()
	n := s.Documents()
	from := uint64(sort.Search(int(n), func(row int) bool { return s.Numbers.Doc(uint64(row)) >= l.first }))
	if from == n || l.idsOnly {
		return l.rows(s, from, n, nil)
	}
	size := min(n, l.maxRows)
	reserved, err := l.budget.Reserve("listing "+humanize.Comma(int64(n))+" documents", size*listedBytes)
	if err != nil {
		return err
	}
	defer reserved.Release()
	buffer, err := memory.Make[uint64](int(size))
	if err != nil {
		return err
	}
	defer buffer.Free()
	for ; from < n; from += size {
		prints := buffer.Data[:min(size, n-from)]
		if err := s.Prints(l.ctx, prints, from); err != nil {
			return err
		}
		if err := l.rows(s, from, from+uint64(len(prints)), prints); err != nil {
			return err
		}
	}
	return nil
}

// rows lists the documents of rows [from, to) of a segment, which have these fingerprints unless
// prints is nil.
func (l *listing) rows(s *version.Segment, from, to uint64, prints []uint64) error {
	id := func(uint64) (string, error) { return "", nil }
	if list := s.IDs(); list != nil {
		id = list.Cursor().ID
	}
	for row := from; row < to; row++ {
		var d rows.Doc
		if prints != nil {
			d.Fingerprint = simhash.Fingerprint(prints[row-from])
		}
		if s.Sketches != nil {
			d.Sketch = s.Sketches[row]
		}
		doc := s.Numbers.Doc(row)
		if err := l.row(doc, d, s.Dead.Has(doc, l.view.Moment), s.Expires.At(row),
			func() (string, error) { return id(row) }); err != nil {
			return err
		}
	}
	return nil
}

// memtable lists the documents of a memtable.
func (l *listing) memtable(m *memtable.Table) error {
	for row := m.Before(l.first); row < m.Before(l.view.Clock); row++ {
		doc := m.First + rows.DocID(row)
		d := rows.Doc{Fingerprint: simhash.Fingerprint(m.Fingerprint(row))}
		if s := m.Sketch(row); s != nil {
			d.Sketch = *s
		}
		if err := l.row(doc, d, m.Dead.Has(doc, l.view.Moment), m.Expiry(row),
			func() (string, error) { return m.ID(row), nil }); err != nil {
			return err
		}
	}
	return nil
}
