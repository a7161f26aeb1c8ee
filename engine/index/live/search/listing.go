package search

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/store"
)

// ListCounts counts the documents of a listed view.
type ListCounts struct {
	Documents uint64 // visible documents
	Expiring  uint64 // visible documents that will expire
	Deleted   uint64 // deleted or replaced documents that no merge has dropped yet
	Expired   uint64 // expired documents that are not deleted
}

const (
	// listedRows is the minimum number of rows of a segment that are listed at a time, however little memory is free.
	listedRows = 1 << 20
	// listedBytes is the memory per row: its fingerprint and a bit.
	listedBytes = 9
)

// Documents calls yield with each document of the view, in the order of the numbers. It returns an error of yield at
// once. It omits and counts deleted and expired documents. A document without an ID has an empty one, and a document
// without a sketch the zero sketch. TTL and OnConflict are not set.
//
// A segment finds the documents of a fingerprint, but not the fingerprint of a document. So Documents reads all of one
// table for some documents at a time (see [segment.Segment.ReadFingerprints]). For these it reserves 9 bytes each from
// the budget: at most half of the free memory, and at least 9 MiB for a segment of a million documents. With a gigabyte
// free, each pass lists about 60 million documents. A document takes some tenths of a microsecond, and each pass 10 ns
// per document of the segment.
//
// It returns the error of ctx, or an error that may wrap [ErrNoDocs], [memory.ErrTooLarge] or [store.ErrCorrupt].
func Documents(ctx context.Context, w version.View, budget *memory.Budget, maxRows uint64,
	yield func(doc rows.DocID, d rows.Doc) error) (ListCounts, error) {
	if maxRows == 0 {
		maxRows = max(budget.Free()/2/listedBytes, listedRows)
	}
	return (&lister{ctx: ctx, view: w, budget: budget, maxRows: maxRows, yield: yield}).run()
}

// List calls yield with the number and the ID of each document of the view, from number first on and in order, until
// yield returns false. A document without an ID has an empty one. It reads only IDs, about 50 ns each. It returns the
// error of ctx, or an error that wraps [store.ErrCorrupt].
func List(ctx context.Context, w version.View, first rows.DocID, yield func(doc rows.DocID, id string) bool) error {
	errLimit := errors.New("enough")
	_, err := (&lister{ctx: ctx, view: w, first: first, idsOnly: true, yield: func(doc rows.DocID, d rows.Doc) error {
		if !yield(doc, d.ID) {
			return errLimit
		}
		return nil
	}}).run()
	if errors.Is(err, errLimit) {
		return nil
	}
	return err
}

// A lister is the state of a call of [Documents] or [List].
type lister struct {
	ListCounts
	ctx     context.Context
	view    version.View
	first   rows.DocID // number of the first document to list
	idsOnly bool
	budget  *memory.Budget
	maxRows uint64 // maximum number of rows of a segment that are listed at a time
	yield   func(doc rows.DocID, d rows.Doc) error
	visited uint64
}

func (l *lister) run() (ListCounts, error) {
	for i, s := range l.view.Version.Segments {
		if err := l.segment(s); err != nil {
			return l.ListCounts, fmt.Errorf("segment %d: %w", i, err)
		}
	}
	for _, m := range l.view.Version.Memtables {
		if err := l.memtable(m); err != nil {
			return l.ListCounts, err
		}
	}
	return l.ListCounts, l.ctx.Err()
}

// row lists a document unless it is deleted or has expired. id returns its ID.
func (l *lister) row(doc rows.DocID, d rows.Doc, deleted bool, expires rows.Time,
	id func() (string, error)) (err error) {
	const often = 1 << 12
	if l.visited++; l.visited%often == 0 && l.ctx.Err() != nil {
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
func (l *lister) segment(s *version.Segment) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	n := s.Documents()
	first := uint64(sort.Search(int(n), func(row int) bool { return s.Numbers.Doc(uint64(row)) >= l.first }))
	if first == n || l.idsOnly {
		return l.rows(s, first, n, nil)
	}
	size := min(n, l.maxRows)
	reservation, err := l.budget.Reserve("listing "+humanize.Comma(int64(n))+" documents", size*listedBytes)
	if err != nil {
		return err
	}
	defer reservation.Release()
	buffer, err := memory.Make[uint64](int(size))
	if err != nil {
		return err
	}
	defer buffer.Free()
	for ; first < n; first += size {
		fingerprints := buffer.Data[:min(size, n-first)]
		if err := s.ReadFingerprints(l.ctx, fingerprints, first); err != nil {
			return err
		}
		if err := l.rows(s, first, first+uint64(len(fingerprints)), fingerprints); err != nil {
			return err
		}
	}
	return nil
}

// rows lists the documents of rows [first, end) of a segment. fingerprints may be nil.
func (l *lister) rows(s *version.Segment, first, end uint64, fingerprints []uint64) error {
	id := func(uint64) (string, error) { return "", nil }
	if list := s.IDs(); list != nil {
		id = list.Cursor().ID
	}
	for row := first; row < end; row++ {
		var d rows.Doc
		if fingerprints != nil {
			d.Fingerprint = simhash.Fingerprint(fingerprints[row-first])
		}
		if s.Sketches != nil {
			d.Sketch = s.Sketches[row]
		}
		doc := s.Numbers.Doc(row)
		if err := l.row(doc, d, s.Tombstones.Has(doc, l.view.Moment), s.Expires.At(row),
			func() (string, error) { return id(row) }); err != nil {
			return err
		}
	}
	return nil
}

// memtable lists the documents of a memtable.
func (l *lister) memtable(m *memtable.Table) error {
	for row := m.Before(l.first); row < m.Before(l.view.Clock); row++ {
		doc := m.First + rows.DocID(row)
		d := rows.Doc{Fingerprint: simhash.Fingerprint(m.Fingerprint(row))}
		if s := m.Sketch(row); s != nil {
			d.Sketch = *s
		}
		if err := l.row(doc, d, m.Tombstones.Has(doc, l.view.Moment), m.Expiry(row),
			func() (string, error) { return m.ID(row), nil }); err != nil {
			return err
		}
	}
	return nil
}
