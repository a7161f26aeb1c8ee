package live

import (
	"fmt"

	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/storage/wal"
)

// commit makes a change: in the log, then in memory. The caller holds writer.mu. After an error
// nothing has changed. The change may be acknowledged when x.sync has returned for its position.
func (w *writer) commit(c *change) (at wal.Position, err error) {
	if len(c.docs) == 0 && len(c.delete) == 0 && !c.gap {
		return 0, nil
	}
	if w.log != nil {
		w.record = c.append(w.record[:0], &w.config)
		if at, err = w.log.Append(w.record); err != nil {
			return 0, fmt.Errorf("%w: %w", errRefused, err)
		}
		w.logged.Store(uint64(at))
	}
	return at, w.apply(c)
}

// apply makes a change in memory. The caller holds writer.mu.
func (w *writer) apply(c *change) error {
	if c.gap {
		err := w.skipTo(c.first)
		w.versions.Committed.Store(uint64(c.first))
		return err
	}
	for i, doc := range c.delete {
		if doc < c.first || len(c.docs) == 0 {
			w.kill(doc, c.clock(i, w.versions.Current().End()))
		}
	}
	w.add(c.docs, c.expires)
	for i, doc := range c.delete {
		if doc >= c.first && len(c.docs) > 0 {
			w.kill(doc, c.clock(i, w.versions.Current().End()))
		}
	}
	w.versions.Committed.Store(uint64(w.versions.Current().End())) // and now all of it is seen, at once
	return nil
}

// skipTo makes first, which is above all numbers in use, the number of the next document. The
// caller holds writer.mu.
func (w *writer) skipTo(first rows.DocID) error {
	e := version.Edit{AddMemtable: w.newMemtable(first)}
	memtables := w.versions.Current().Memtables
	if last := memtables[len(memtables)-1]; last.Len() == 0 {
		e.RemoveMemtables = []*memtable.Table{last}
	}
	return w.applyEdit(e)
}

// add appends documents to memtables, as many as it takes. The caller holds writer.mu.
func (w *writer) add(docs []rows.Doc, expires []rows.Time) {
	v := w.versions.Current()
	last := v.Newest()
	for {
		before := last.Bytes()
		n := last.Add(docs, expires)
		if docs = docs[n:]; len(docs) == 0 {
			if last.Bytes() != before {
				w.grown()
			}
			return
		}
		expires = expires[min(n, len(expires)):]
		last = w.newMemtable(last.End())
		w.applyEdit(version.Edit{AddMemtable: last})
		w.wakeFlusher()
	}
}

// newMemtable returns an empty memtable for documents from number first on.
func (w *writer) newMemtable(first rows.DocID) *memtable.Table {
	c := &w.config
	o := memtable.Options{First: first, MaxDocs: int(c.memtableDocs()), MaxBytes: w.memtableBytes(), K: c.Design.K,
		Lengths: c.Lengths, Deferred: w.recovering}
	if c.IDs {
		o.Key = &w.key
	}
	return memtable.New(o)
}

// fill gives an index its first version.
func (w *writer) fill(segments []*version.Segment, next rows.DocID) error {
	for _, s := range segments {
		if s.Expires.First != 0 {
			w.versions.Clock.Expiring.Store(true)
		}
	}
	w.versions.Committed.Store(uint64(next))
	return w.applyEdit(version.Edit{Add: segments, AddMemtable: w.newMemtable(next)})
}
